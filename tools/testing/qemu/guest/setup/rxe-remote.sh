# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# One soft-RoCE device, rxe0, with the GID fd00::1, on one end of a veth pair. The
# other end, veth1, has no address: it is a test's, which plays all other nodes.

# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e

modprobe -q veth || true
modprobe -q af_packet || true
modprobe -q crc32_generic || true
ip link add veth0 type veth peer name veth1
echo 0 >/proc/sys/net/ipv6/conf/veth0/accept_dad
echo 1 >/proc/sys/net/ipv6/conf/veth1/disable_ipv6
ip link set veth0 up
ip link set veth1 up
ip -6 addr add fd00::1/64 dev veth0 nodad
modprobe rdma_rxe
xt_rxe rxe0 veth0
