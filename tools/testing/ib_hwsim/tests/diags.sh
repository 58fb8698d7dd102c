#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Debian's diagnostics on the two devices of the setup step "hwsim", as TAP:
# hwsim0 has LID 1, hwsim1 the LIDs 4 to 7, between them is the crossbar of a
# fabric in the kernel.

# check NAME PATTERN COMMAND...: COMMAND succeeds and prints a line like that.
n=0
check()
{
	name=$1
	pattern=$2
	shift 2
	n=$((n + 1))
	if "$@" >/tmp/diags 2>&1 && grep -Eq "$pattern" /tmp/diags; then
		echo "ok $n - $name"
	else
		echo "not ok $n - $name"
		sed 's/^/# /' /tmp/diags
	fi
}

echo "TAP version 13"
echo "1..16"
check ibstat_lid 'Base lid: 1$' ibstat hwsim0
check ibstat_state 'State: Active$' ibstat hwsim0
check ibstat_lmc 'LMC: 2$' ibstat hwsim1
check nodeinfo_of_oneself 'Channel Adapter' \
	smpquery -C hwsim0 -D nodeinfo 0
check nodeinfo_of_the_crossbar 'NodeType:.*Switch' \
	smpquery -C hwsim0 -D nodeinfo 0,1
check nodeinfo_through_the_crossbar 'PortGuid:.*0x0248775300000101' \
	smpquery -C hwsim0 -D nodeinfo 0,1,2
check nodedesc 'hwsim1' smpquery -C hwsim0 nodedesc 4
check portinfo_by_lid 'Lid:\.*4$' smpquery -C hwsim0 portinfo 4
check portinfo_by_a_path_lid 'Lid:\.*4$' smpquery -C hwsim0 portinfo 6
check portinfo_of_oneself 'Lid:\.*1$' smpquery -C hwsim0 portinfo 1
check switchinfo 'LinearFdbCap:\.*49152' smpquery -C hwsim0 -D switchinfo 0,1
check pkeys '0xffff' smpquery -C hwsim0 pkeys 4
check guidinfo '0x0248775300000101' smpquery -C hwsim0 guidinfo 4
check perfquery 'PortXmitPkts:\.*[1-9]' perfquery -C hwsim0 5 1
check perfquery_extended 'PortUnicastRcvPkts:\.*[1-9]' \
	perfquery -C hwsim0 -x 5 1
ibping -C hwsim1 -S >/dev/null 2>&1 &
server=$!
sleep 1
check ibping '100 packets transmitted, 100 received, 0% packet loss' \
	ibping -C hwsim0 -c 100 -f 4
kill $server 2>/dev/null
exit 0
