#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "times.sh RUNS KIND-NODES.net..." in a guest: how long OpenSM's first sweep of it takes, how
# many MADs a second it sends and receives, and what it then answers to many clients on
# another node, by this module and the in-tree one in turn.

# shellcheck source=tools/testing/ib_hwsim/fabric/checks.sh
. /xt/checks.sh

runs=$1
shift

# sweep NET MODULE: one line of the table, and two of bench_sa.
sweep()
{
	xt_module "$2" || return
	nodes=${1%.net}
	nodes=${nodes##*-}
	fab_start "$1" host0001 host0046 || return
	fab_opensm sm0 hwsim0
	fab_said sm0 600 'SUBNET UP' || return
	echo "$nodes $2 $(fab_seconds sm0 'Entering DISCOVERING' 'SUBNET UP') $(fab_mads)" |
		awk '{ printf "%5d nodes %-7s %7.1f s %7d MADs sent %7d received %6d /s\n",
			$1, $2, $3, $4, $5, ($4 + $5) / $3 }'
	UMAD_IBDEV=hwsim1 /opt/umad/bench_sa "$2" "$nodes" || return
	fab_stop
}

for net; do
	run=0
	while [ $run -lt "$runs" ]; do
		run=$((run + 1))
		for module in ours intree; do
			sweep "$net" $module || exit
		done
	done
done
