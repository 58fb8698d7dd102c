#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "make demo-fabric": everything from a bare Debian 12 or 13 to the transcript of
# tools/testing/ib_hwsim/fabric/demo-fabric.sh, which runs in a guest with
# Debian's kernel: OpenSM brings up a fabric of 500 nodes.
set -eu

here=$(dirname "$(readlink -f "$0")")
cd "$here/.."
"$here/install-deps.sh" demo-fabric
profile=$("$here/demo-kernel.sh")
kernel=$("$here/kernel-cache.sh" "$profile")
echo "Kernel: $kernel"
exec python3 tools/testing/qemu/run.py --kernel "$profile" --show demo-fabric
