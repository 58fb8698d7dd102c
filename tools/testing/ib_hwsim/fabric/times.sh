#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "times.sh RUNS NET..." in a guest: how long OpenSM's first sweep takes, and how
# many MADs a second it sends and receives, by this module and the in-tree one in
# turn.

# shellcheck source=tools/testing/ib_hwsim/fabric/checks.sh
. /xt/checks.sh

runs=$1
shift

# sweep NET MODULE: one line of the table.
sweep()
{
	xt_module "$2" || return
	fab_start "$1" host0001 || return
	fab_opensm sm0 hwsim0
	fab_said sm0 600 'SUBNET UP' || return
	echo "$1 $2 $(fab_seconds sm0 'Entering DISCOVERING' 'SUBNET UP') $(fab_mads)" |
		awk '{ printf "%-18s %-7s %7.1f s %7d MADs sent %7d received %6d /s\n",
			$1, $2, $3, $4, $5, ($4 + $5) / $3 }'
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
