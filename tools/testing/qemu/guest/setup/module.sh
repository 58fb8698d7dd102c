# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# The plan's ib_umad. Always the last step; waits for the device node when
# there is an RDMA device.

# shellcheck source=/dev/null
. /xt/vars
# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e

# shellcheck disable=SC2086 # several arguments
xt_module "$XT_MODULE" $XT_MODULE_ARGS
if [ "$XT_MODULE" != none ] && [ -n "$(ls /sys/class/infiniband 2>/dev/null)" ]
then
	xt_wait 10 test -c /dev/infiniband/umad0
fi
