#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "make bench-rmpp": bench-rmpp.plan in a guest, then the table of what it has
# measured. Fails if a figure misses its target.
set -eu

here=$(dirname "$(readlink -f "$0")")
cd "$here/../../.."
scripts/install-deps.sh demo
echo "Kernel: $(scripts/kernel-cache.sh stock-6.1)"
log=$(mktemp)
trap 'rm -f "$log" "$log.bad"' EXIT
{
	python3 tools/testing/qemu/run.py --show "$here/bench-rmpp.plan" ||
		echo bad >"$log.bad"
} | tee "$log"
echo
python3 "$here/table.py" <"$log"
[ ! -e "$log.bad" ]
