# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# One soft-RoCE device, rxe0, on a dummy netdev with the IPv6 GID fd00::1.
# (Over an IPv4-mapped GID ib_core loses every response, so: IPv6.)

# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e

modprobe -q dummy || true
modprobe -q crc32_generic || true
ip link show dummy0 >/dev/null 2>&1 || ip link add dummy0 type dummy
echo 0 >/proc/sys/net/ipv6/conf/dummy0/accept_dad
ip link set dummy0 up
ip -6 addr add fd00::1/64 dev dummy0 nodad
modprobe rdma_rxe
xt_rxe rxe0 dummy0
