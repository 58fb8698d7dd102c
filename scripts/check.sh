#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "check.sh STAGE...": runs stages of the checks in this order, shows what they
# say and how long each took, and adds up their summary lines. A stage that
# ends badly, or without a summary line, counts as a failure. Stages joined by
# "+" run at the same time: guests that wait, compilers that do not.
set -eu

here=$(dirname "$(readlink -f "$0")")
cd "$here/.."
qemu=tools/testing/qemu
log=$(mktemp)
trap 'rm -f "$log" "$log".*' EXIT
passed=0
failed=0
skipped=0
times=
newer='stock-6.12 stock-7'

# These two only prepare: nothing to count, but they can fail.
run_deps()
{
	scripts/install-deps.sh check
	echo "0 passed, 0 failed, 0 skipped"
}

run_kernels()
{
	missing=0
	for profile in source stock-6.1 debug-6.1; do
		echo "$profile: $(scripts/kernel-cache.sh $profile)"
	done
	# What other suites have today is not in our hands: that is no failure of a change.
	for profile in $newer; do
		if dir=$(scripts/kernel-cache.sh "$profile"); then
			echo "$profile: $dir"
		else
			echo "skip $profile: it could not be fetched; its plans are not run"
			printf -- ' --without %s' "$profile" >>"$log.without"
			missing=$((missing + 1))
		fi
	done
	echo "0 passed, 0 failed, $missing skipped"
}

run_static()
{
	scripts/check-static.sh
}

run_dkms()
{
	scripts/check-dkms.sh
}

run_dist()
{
	scripts/check-dist.sh
}

# What libFuzzer finds in some seconds: a corpus is run again, and then more.
run_fuzz()
{
	nice tools/testing/fuzz/fuzz.py --seconds "${FUZZ_SECONDS:-2}"
}

run_harness()
{
	python3 $qemu/test_harness.py --changed
}

run_kunit()
{
	python3 $qemu/run.py kunit
}

# All that is about ib_hwsim.
run_hwsim()
{
	python3 $qemu/run.py hwsim-kunit hwsim intree-hwsim fabric-sa
}

run_plans()
{
	# shellcheck disable=SC2046 # options
	python3 $qemu/run.py --jobs 3 --changed \
		$(cat "$log.without" 2>/dev/null) all
}

run_builds()
{
	scripts/check-builds.sh
}

# Each plan that is on Debian 12's kernel, on the newer ones; and that is on the debug
# kernel, on the newest.
run_newer()
{
	python3 $qemu/run.py --jobs 3 --changed --kernel stock-6.12 \
		--kernel stock-7 --kernel debug-7 all
}

# The oldest kernel, and other architectures.
run_others()
{
	python3 $qemu/run.py core-oldest kunit-arm64 kunit-s390x
}

for stage in $(echo "$@" | tr + ' '); do
	case $stage in
	deps | kernels | static | dkms | dist | fuzz | harness | kunit | hwsim) ;;
	plans | builds | newer | others) ;;
	*)
		echo "check.sh: no stage '$stage'" >&2
		exit 2
		;;
	esac
done

# run STAGE: what it says, then its exit status in a file, and how long it took.
run()
{
	begun=$(date +%s)
	set +e
	(
		# In a subshell of its own: set -e must hold in it.
		set -e
		"run_$1"
	)
	echo $? >"$log.$1.status"
	echo $(($(date +%s) - begun)) >"$log.$1.seconds"
}

# count STAGE: add up what is in its log; tell what is missing there.
count()
{
	status=$(cat "$log.$1.status")
	sums=$(tail -n 1 "$log.$1" | sed -n \
		's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	stage=$1
	# shellcheck disable=SC2086 # three numbers
	set -- ${sums:-0 0 0}
	passed=$((passed + $1))
	failed=$((failed + $2))
	skipped=$((skipped + $3))
	if [ -z "$sums" ]; then
		echo "not ok stage $stage: no summary (exit status $status)"
		failed=$((failed + 1))
	elif [ "$status" -ne 0 ] && [ "$2" -eq 0 ]; then
		echo "not ok stage $stage: exit status $status"
		failed=$((failed + 1))
	fi
}

for group; do
	start=$(date +%s)
	case $group in
	*+*)
		for stage in $(echo "$group" | tr + ' '); do
			run "$stage" >"$log.$stage" 2>&1 &
		done
		wait
		for stage in $(echo "$group" | tr + ' '); do
			echo "=== $stage, $(cat "$log.$stage.seconds") s beside the others"
			cat "$log.$stage"
		done
		;;
	*)
		echo "=== $group"
		run "$group" 2>&1 | tee "$log.$group"
		;;
	esac
	seconds=$(($(date +%s) - start))
	times="$times $group $seconds s,"
	echo "=== $group took $seconds s"
	for stage in $(echo "$group" | tr + ' '); do
		count "$stage"
	done
	# Nothing works without these two.
	case $group$status in
	deps0 | kernels0) ;;
	deps* | kernels*) break ;;
	esac
done

echo "=== times:${times%,}"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
