#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# soak.sh [SECONDS]: "make soak". All plans soak-*, one after another, the
# mixed load last and for so long (default 1800). Goes on after a failure; the
# exit status is 0 only if there was none.
set -eu

here=$(dirname "$(readlink -f "$0")")
cd "$here/.."
seconds=${1:-1800}
"$here/install-deps.sh" check
"$here/kernel-cache.sh" stock-6.1
"$here/kernel-cache.sh" debug-6.1

failures=0
soak()
{
	echo "== $1"
	tools/testing/qemu/run.py --soak "$seconds" "$1" ||
		failures=$((failures + 1))
}

for name in $(tools/testing/qemu/run.py --list | grep -o '^soak-[^ ]*'); do
	[ "$name" = soak-mixed ] || soak "$name"
done
soak soak-mixed
echo "soak: $failures plans failed"
[ "$failures" = 0 ]
