#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "make demo": everything from a bare Debian 12 or 13 to the transcript of
# tools/testing/qemu/demo.sh, which runs in a guest with Debian's kernel.
set -eu

here=$(dirname "$(readlink -f "$0")")
cd "$here/.."
"$here/install-deps.sh" demo
profile=$("$here/demo-kernel.sh")
kernel=$("$here/kernel-cache.sh" "$profile")
echo "Kernel: $kernel"
exec python3 tools/testing/qemu/run.py --kernel "$profile" --show demo
