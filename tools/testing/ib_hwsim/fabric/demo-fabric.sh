#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What "make demo-fabric" runs in the guest: OpenSM brings up a fabric of 500
# nodes through ib_umad, and the diagnostics look at it. Of the nodes ibsim plays
# all but three, which are devices of ib_hwsim. Its status says whether
# everything was as it should be.

# shellcheck disable=SC2317 # "run" calls the functions

# shellcheck source=tools/testing/ib_hwsim/fabric/checks.sh
. /xt/checks.sh

failures=0

# now: seconds since the guest was booted.
now()
{
	cut -d ' ' -f 1 /proc/uptime
}

heading()
{
	printf '\n== %s\n' "$*"
}

# run WHAT COMMAND...: what it says, how long it took, and whether it failed.
run()
{
	heading "$1"
	shift
	begun=$(now)
	if "$@" >/tmp/said 2>&1; then
		sed 's/^/  /' /tmp/said
	else
		sed 's/^/  /' /tmp/said
		echo "  FAILED: $*"
		failures=$((failures + 1))
	fi
	echo "$begun $(now)" | awk '{ printf "  (%.1f s)\n", $2 - $1 }'
}

start()
{
	sed -n '2s/^# //p' /opt/umad/fattree-500.net
	fab_start fattree-500.net host0001 host0230 host0461 || return
	ls -x /dev/infiniband
}

sweep()
{
	fab_opensm sm0 hwsim0 || return
	fab_said sm0 150 'SUBNET UP' || return
	sed -n 's/^\(.*\) [0-9]* \[.*\(Setting\|Entering\|SUBNET\)/\1  \2/p' \
		"$fab/sm0/log"
	seconds=$(fab_seconds sm0 'Entering DISCOVERING' 'SUBNET UP')
	mads=$(fab_mads)
	echo "$mads $seconds" | awk '{
		printf "%d MADs sent and %d received in %.1f s: %d a second\n",
			$1, $2, $3, ($1 + $2) / $3 }'
}

discover()
{
	check_discover hwsim2 && check_picture
}

ask_sa()
{
	check_node_records hwsim1 sm0 && check_link_records hwsim1 sm0 &&
		check_sl2vl_records hwsim1 && check_groups hwsim1
}

standby()
{
	fab_opensm sm1 hwsim1 || return
	fab_said sm1 150 'Entering STANDBY state' || return
	sminfo -C hwsim1 -D 0
	echo "killing the first"
	check_takeover sm0 sm1 hwsim1
}

osmtests()
{
	fab_stop
	fab_start fattree-20.net host0001 host0018 || return
	fab_opensm sm0 hwsim0 && fab_said sm0 60 'SUBNET UP' || return
	check_osmtest hwsim1 -f c && check_osmtest hwsim1 -f m &&
		check_osmtest_stress hwsim1 2 5
}

run "ibsim, and three devices of ib_hwsim as its nodes" start
run "OpenSM on /dev/infiniband/umad0 and issm0" sweep
run "The devices" check_ports sm0
run "Who manages the subnet: sminfo, smpquery" check_issm hwsim2 hwsim0
run "ibnetdiscover" discover
run "saquery, from another node than OpenSM's" ask_sa
run "perfquery" check_counters hwsim1
run "ibtracert" check_tracert hwsim0 hwsim2
run "ibqueryerrors" check_errors hwsim2
run "iblinkinfo" check_linkinfo hwsim1
run "A second OpenSM, on another node" standby
run "osmtest, on a fabric of 20 nodes" osmtests
fab_stop

if [ "$failures" = 0 ]; then
	heading "All as it should be, after $(now) s"
else
	heading "Something went wrong above"
fi
exit "$failures"
