#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Everything at once, in a guest, for SOAK_SECONDS, and until OpenSM has been
# killed by SIGKILL SOAK_KILLS times while it sweeps a fabric, and has left no IsSM
# behind; each SOAK_UP_EACH-th time it may bring up the subnet. Beside that, SA
# queries; requests and messages both ways over a wire that loses, repeats and
# delays; a device that goes and comes; both fuzzers. SOAK_PARTS names the parts to
# be run. Prints what came of each, and its status says whether all were as they
# should be.

# shellcheck disable=SC2317 # "part" calls the functions
# shellcheck disable=SC2086 # what is not quoted has no blanks

# shellcheck source=tools/testing/ib_hwsim/fabric/checks.sh
. /xt/checks.sh

seconds=${SOAK_SECONDS:-1800}
kills=${SOAK_KILLS:-50}
up_each=${SOAK_UP_EACH:-16}
wanted=${SOAK_PARTS:-opensm sa ledger cycles calls packets}
soak=/tmp/soak
mkdir -p $soak
cd /opt/umad || exit

now()
{
	cut -d . -f 1 /proc/uptime
}

begun=$(now)
time_left()
{
	[ $(($(now) - begun)) -lt "$seconds" ]
}

# Until the time is over, and OpenSM has been killed often enough.
running()
{
	[ ! -e $soak/over ]
}

# Bit 1 of the port's capabilities.
has_issm()
{
	[ $(($(cat "/sys/class/infiniband/$1/ports/1/cap_mask") & 2)) != 0 ]
}

# A number below $1 that is not the same each time.
chance()
{
	awk -v limit="$1" -v seed="$2" \
		'BEGIN { srand(seed); print int(rand() * limit) }'
}

# Until the subnet manager has answered a query, if there is who asks.
answered()
{
	case " $wanted " in
	*" sa "*)
		rm -f $soak/answered
		xt_wait 60 test -e $soak/answered
		;;
	esac
}

# Killed at any time: before it has opened its port, while it sweeps, after
# that. Each up_each-th may bring the subnet up.
kill_opensm()
{
	count=0
	up=0
	left=0
	seen=0
	while time_left || [ $count -lt "$kills" ]; do
		fab_opensm "sm$count" hwsim0
		pid=$(cat "$fab/sm$count/pid")
		if [ $((count % up_each)) = 0 ]; then
			fab_said "sm$count" 120 'SUBNET UP' && up=$((up + 1))
			answered
		else
			sleep "0.$(chance 90 $count)"
		fi
		has_issm hwsim0 && seen=$((seen + 1))
		kill -9 "$pid"
		wait "$pid" 2>/dev/null
		if ! xt_wait 2 sh -c "! grep -q '^pid $pid ' /sys/kernel/debug/ib_umad/umad*/files"; then
			echo "files of OpenSM $pid are left"
			left=$((left + 1))
		fi
		if has_issm hwsim0; then
			echo "IsSM is left"
			left=$((left + 1))
		fi
		rm -rf "${fab:?}/sm$count"
		count=$((count + 1))
	done
	echo "OpenSM: killed $count times, $seen with IsSM set, subnet up $up times; $left left behind"
	[ $left = 0 ] && [ $up -gt 0 ] && [ $seen -gt 0 ]
}

# Answered when there is a subnet manager, and over in time when there is none.
query_sa()
{
	good=0
	bad=0
	while running; do
		if timeout 60 saquery -C hwsim1 -t 2000 NodeRecord \
			>$soak/nodes 2>&1 && grep -q NodeRecord $soak/nodes
		then
			good=$((good + 1))
			touch $soak/answered
		else
			bad=$((bad + 1))
		fi
		sleep 0.2
	done
	echo "SA: $good queries of all nodes answered, $bad not"
	[ $good -gt 0 ]
}

# fuzz PROGRAM SETTING...: rounds of it, each with a seed of its own. What is left
# of the processors is theirs: they would take them all.
fuzz()
{
	program=$1
	shift
	# Of this part's shell.
	renice -n 19 -p "$(sh -c 'echo $PPID')" >/dev/null || return
	if [ ! -x "./$program" ]; then
		echo "$program: not there"
		return 0
	fi
	round=0
	while running; do
		round=$((round + 1))
		env "$@" UMAD_FUZZ_SEED=$round "./$program" >$soak/"$program" 2>&1
		status=$?
		if [ $status != 0 ]; then
			tail -n 30 $soak/"$program"
			echo "$program: seed $round: status $status"
			return 1
		fi
	done
	echo "$program: $round rounds"
}

# Devices of a fabric in the kernel, over which the ledger's requests go.
make_wire()
{
	for id in 20 21 22; do
		echo "$id fabric=soak lid=$((id * 4)) prefix=0xfd00000000000000" \
			>/sys/bus/ib_hwsim/new_device || return
	done
	for id in 20 21; do
		echo "drop=1% dup=1% reorder=1% delay=200us jitter=1ms seed=$id" \
			>/sys/kernel/debug/ib_hwsim/hwsim$id/port1/random || return
		xt_wait 10 fab_has_node hwsim$id || return
	done
}

# part NAME COMMAND...: in the background, if it is wanted.
parts=
part()
{
	name=$1
	shift
	case " $wanted " in
	*" $name "*) ;;
	*) return ;;
	esac
	(
		"$@" >$soak/"$name".out 2>&1
		echo $? >$soak/"$name".status
	) &
	parts="$parts $name:$!"
	[ "$name" != opensm ] || opensm=$!
}

fab_start fattree-20.net host0001 host0018 || exit
make_wire || exit
opensm=
# Timeouts and bounds are for a guest that is slow and has much to do.
export UMAD_SLOW=10 UMAD_BESIDE=1
part opensm kill_opensm
part sa query_sa
part ledger env UMAD_IBDEV=hwsim20 UMAD_PEER=hwsim21 ./soak_ledger "$seconds"
# How soon a removal ends is for the plan soak-cycles; here, that it ends.
part cycles env UMAD_SLOW=60 UMAD_IBDEV=rxe0 SOAK_SECONDS="$seconds" ./soak_cycles
part calls fuzz fuzz_calls UMAD_IBDEV=hwsim22 UMAD_FUZZ_CALLS=4000
part packets fuzz fuzz_packets UMAD_FUZZ_WIRE=ib UMAD_FUZZ_PACKETS=2000
[ -z "$opensm" ] || wait "$opensm"
while time_left; do
	sleep 1
done
touch $soak/over
failures=0
for one in $parts; do
	wait "${one#*:}"
	name=${one%%:*}
	sed "s/^/# $name: /" $soak/"$name".out
	if [ "$(cat $soak/"$name".status)" = 0 ]; then
		echo "# $name: good"
	else
		echo "# $name: FAILED"
		failures=$((failures + 1))
	fi
done
echo "# $(($(now) - begun)) s"
fab_stop
[ $failures = 0 ]
