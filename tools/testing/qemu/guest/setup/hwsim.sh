# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Two simulated HCAs, hwsim0 (LID 1) and hwsim1 (LIDs 4 to 7) in a fabric in the
# kernel. Needs "modules = drivers/infiniband/sw/ib_hwsim" in the plan.

# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e

modprobe ib_core
insmod /lib/umad/ib_hwsim.ko
echo '0 fabric=setup lid=1 prefix=0xfd00000000000000' \
	>/sys/bus/ib_hwsim/new_device
echo '1 fabric=setup lid=4 lmc=2 prefix=0xfd00000000000000' \
	>/sys/bus/ib_hwsim/new_device
