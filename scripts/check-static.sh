#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# All checks that read the sources and run nothing of them: warnings of gcc and
# sparse, the kernel's own checkpatch and kernel-doc, shellcheck, Sphinx, and rules
# of this project. Every one of them has to be silent.
set -eu

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/results.sh
. "$here/results.sh"
cd "$here/.."

source=$("$here/kernel-cache.sh" source)
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad
export CCACHE_DIR="$cache/ccache"
mkdir -p "$cache/static"
# One at a time: they build in the same place.
exec 9>"$cache/static/lock"
flock 9
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What is kept below was said by these, at most 30 days ago.
tools=$({
	cat "$here/check-static.sh" .checkpatch.conf 2>/dev/null || :
	echo "$source"
	sparse --version
} | sha256sum | cut -c1-12)
find "$cache/static" -maxdepth 1 -name 'silent-*' -mtime +30 -delete

# What is ours: all files but git's own and the outcome of a build.
files()
{
	find . -name .git -prune -o -name __pycache__ -prune -o \
		-path ./tools/testing/fuzz/corpus -prune -o -type f \
		! -name '*.o' ! -name '*.ko' ! -name '*.mod' \
		! -name '*.mod.c' ! -name '.*.cmd' ! -name modules.order \
		! -name Module.symvers -print | sed 's|^\./||' | sort
}

c_files()
{
	files | grep '\.[ch]$'
}

shell_files()
{
	files | while read -r file; do
		case $file in
		*.sh) echo "$file" ;;
		*.[ch] | *.py | *.rst | *.md) ;;
		*) head -n 1 "$file" | grep -q '^#!.*sh$' && echo "$file" ;;
		esac
	done || :
}

# silent NAME COMMAND...: COMMAND is to have nothing to say of the files on standard
# input; of those of which it had nothing to say before, as they are now, it is not
# asked again.
silent()
{
	silent_kept=$cache/static/silent-$1-$tools
	shift
	touch "$silent_kept"
	xargs sha256sum >"$work/sums"
	{
		grep -vxFf "$silent_kept" "$work/sums" || :
	} | sed 's/^[^ ]*  //' | "$@" >"$work/said" 2>&1 || return
	cat "$work/said"
	[ -s "$work/said" ] || cat "$work/sums" >>"$silent_kept"
}

# build KDIR NAME VARIABLE...: silent when make has nothing to say. From a fresh
# copy, which is where that of another checkout was, so that ccache knows what
# it has seen: it says again what the compiler said. But nothing, if it was silent
# about the very same files before.
build()
{
	build_kdir=$1
	build_copy=$cache/static/$2
	shift 2
	build_cc=$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' \
		"$build_kdir/.config")
	rm -rf "$build_copy"
	mkdir -p "$build_copy"
	"$here/module-copy.sh" "$build_copy" tools/testing/kunit \
		drivers/infiniband/sw/ib_hwsim include/uapi/rdma/ib_hwsim.h \
		tools/testing/rmpp_peer tools/testing/race_mod
	build_key=$(cd "$build_copy" && find . -type f | sort |
		xargs sha256sum | sha256sum)
	build_kept=$cache/static/silent-build-$tools
	build_key="$build_kdir $* $build_key"
	if [ -e "$build_kept" ] && grep -qxF "$build_key" "$build_kept"; then
		return
	fi
	make_modules "$@" >"$work/said" 2>&1 || {
		cat "$work/said"
		return 1
	}
	cat "$work/said"
	[ -s "$work/said" ] || echo "$build_key" >>"$build_kept"
}

# For build(), whose variables it has.
make_modules()
{
	for build_from in "$build_copy" \
		"$build_copy/drivers/infiniband/sw/ib_hwsim" \
		"$build_copy/tools/testing/rmpp_peer" \
		"$build_copy/tools/testing/race_mod"; do
		# Headers without vmlinux: no BTF, and no message about that.
		make -s -j"$(nproc)" -C "$build_kdir" M="$build_from" \
			CC="ccache $build_cc" CONFIG_DEBUG_INFO_BTF_MODULES= \
			"$@" modules || return
	done
}

# In a copy: checkpatch keeps a cache in the git repository it is run in.
checkpatch()
{
	(cd "$work/checkpatch" && xargs -r -n 25 -P "$(nproc)" \
		"$source/scripts/checkpatch.pl" \
		--strict --no-tree -q --no-summary --terse --show-types \
		--root="$source" "$@" -f) || :
}

# All but what does not apply: the macros of tracepoint headers are not written
# as checkpatch wants calls; user space has no BIT() nor __aligned(), and
# "FIXTURE_DATA(x) *self" is no multiplication; and a macro that makes tests of
# a table's rows names its arguments more than once, or returns.
selftest_types=PREFER_DEFINED_ATTRIBUTE_MACRO,BIT_MACRO,MACRO_ARG_REUSE
selftest_types=$selftest_types,MACRO_WITH_FLOW_CONTROL,CAMELCASE
checkpatch_user_space()
{
	checkpatch --ignore="$selftest_types" |
		grep -v "SPACING: spaces preferred around that '\*' (ctx:WxV)" || :
}

user_space='^tools/testing/(selftests/|race_mod/tests/|fuzz/|ib_hwsim/|profile/)'
run_checkpatch()
{
	mkdir "$work/checkpatch"
	[ ! -e .checkpatch.conf ] || cp .checkpatch.conf "$work/checkpatch"
	c_files | xargs cp -t "$work/checkpatch" --parents
	c_files | grep -Ev -e '/trace\.h$' -e "$user_space" |
		silent checkpatch checkpatch
	c_files | grep '/trace\.h$' |
		silent checkpatch-trace checkpatch \
			--ignore=OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT
	c_files | grep -E "$user_space" |
		silent checkpatch-user-space checkpatch_user_space
}

kernel_doc()
{
	xargs -r "$source/scripts/kernel-doc" -none "$all" 2>&1 |
		grep -v ': info: Scanning doc for ' || :
}

# "-Wall" came to kernel-doc after 6.1; there -v turns those warnings on, and
# tells which comments it reads.
run_kernel_doc()
{
	if "$source/scripts/kernel-doc" -h 2>&1 | grep -q -- -Wall; then
		all=-Wall
	else
		all=-v
	fi
	c_files | grep -E '^(drivers|include)/' | silent kernel-doc kernel_doc
}

run_shellcheck()
{
	shell_files | xargs shellcheck -x -s sh
}

# Python that does not even compile, without leaving .pyc files behind.
run_python()
{
	files | grep '\.py$' | xargs python3 -W error -c 'import pathlib, sys
for name in sys.argv[1:]:
    compile(pathlib.Path(name).read_text(encoding="utf-8"), name, "exec")'
}

version_tests()
{
	c_files | grep -v '^drivers/infiniband/umad/compat/' |
		xargs grep -nE '\b(LINUX_VERSION_CODE|KERNEL_VERSION)\b' || :
}

long_files()
{
	files | grep -v '^LICENSES/' | xargs wc -l |
		awk '$2 != "total" && $1 > 600 { print $2 ": " $1 " lines" }'
}

without_license()
{
	files | grep -Ev '^(LICENSES/|VERSION$)|\.md$' | while read -r file; do
		[ ! -s "$file" ] || head -n 2 "$file" |
			grep -q 'SPDX-License-Identifier: GPL-2.0 .*OR Linux-OpenIB' ||
			echo "$file"
	done
}

other_versions()
{
	grep -qx "PACKAGE_VERSION=\"$(cat VERSION)\"" dkms.conf ||
		echo "dkms.conf and VERSION differ"
}

kdir=$(readlink -f "$("$here/kernel-cache.sh" stock-6.1)/kdir")
# All files are in the other build: sparse, which ccache does not help, reads them there.
check "static: gcc W=1" build "$kdir" stock W=1 || :
kdir=$("$here/kernel-cache.sh" debug-6.1)/kdir
check "static: gcc W=1, sparse, with KUnit" build "$kdir" debug UMAD_KUNIT=m \
	CONFIG_IB_HWSIM_KUNIT_TEST=m W=1 C=2 CF=-D__CHECK_ENDIAN__ || :
check "static: checkpatch --strict" run_checkpatch || :
check "static: kernel-doc -Wall" run_kernel_doc || :
check "static: Documentation builds, sphinx -W" scripts/htmldocs.sh -q || :
check "static: shellcheck" run_shellcheck || :
check "static: python compiles" run_python || :
check "static: no version tests outside of compat" version_tests || :
check "static: no file above 600 lines" long_files || :
check "static: licences" without_license || :
check "static: every selftest is in a plan" scripts/check-plans.py tests || :
check "static: every plan can be read" scripts/check-plans.py plans || :
check "static: one version" other_versions || :
check "static: calls go downward" scripts/check-layers.py \
	drivers/infiniband/umad drivers/infiniband/sw/ib_hwsim \
	tools/testing/ib_hwsim/fabric || :
check "static: the words of the glossary" scripts/check-words.sh || :
check "static: every mutant can be made" \
	tools/testing/mutants/mutants.py --check || :
summary
