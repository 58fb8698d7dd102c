# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# One soft-RoCE device, rxe0, on the wire between the two guests of a plan:
# fd00::1 in the first, fd00::2 in the one that plays the far end. netem on eth0
# spoils what this guest sends.

# shellcheck source=/dev/null
. /xt/vars
# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e

for module in virtio_pci virtio_net sch_netem crc32_generic; do
	modprobe -q $module || true
done
xt_wait 10 test -e /sys/class/net/eth0
echo 0 >/proc/sys/net/ipv6/conf/eth0/accept_dad
ip link set eth0 up
ip -6 addr add "fd00::$((XT_END + 1))/64" dev eth0 nodad
ip -6 neigh replace "fd00::$((2 - XT_END))" dev eth0 nud permanent \
	lladdr "52:54:00:00:00:0$((2 - XT_END))"
modprobe rdma_rxe
xt_rxe rxe0 eth0
# The other guest may be later.
xt_wait 100 ping -6 -c 1 -W 1 "fd00::$((2 - XT_END))" >/dev/null
