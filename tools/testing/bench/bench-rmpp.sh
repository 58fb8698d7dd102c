#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "make bench-rmpp": the three plans of this folder in a guest each, then the table
# of what they have measured. Fails if a figure misses its target. The guests
# have clocks of their own instructions, so they do not disturb one another.
set -eu

here=$(dirname "$(readlink -f "$0")")
cd "$here/../../.."
scripts/install-deps.sh demo
echo "Kernel: $(scripts/kernel-cache.sh stock-6.1)"
log=$(mktemp)
trap 'rm -f "$log" "$log".*' EXIT
python3 tools/testing/qemu/run.py --show bench-rmpp-interop \
	>"$log.peer" || echo bad >"$log.bad" &
{
	python3 tools/testing/qemu/run.py --show bench-rmpp ||
		echo bad >"$log.bad"
} | tee "$log"
wait
python3 tools/testing/qemu/run.py --show bench-rmpp-noerms >>"$log.peer" ||
	echo bad >"$log.bad"
tee -a "$log" <"$log.peer"
echo
python3 "$here/table.py" <"$log"
[ ! -e "$log.bad" ]
