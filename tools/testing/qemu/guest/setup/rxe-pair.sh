# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Two soft-RoCE devices, rxe0 (fd00:1::1) and rxe1 (fd00:2::1), on the two ends
# of a veth pair, with packets between them really crossing it: so netem on
# veth0 or veth1 has an effect.
#
# Both addresses belong to this machine, and the table "local" would keep what
# goes from one to the other inside. So it is asked only about packets that
# came in by the pair, and each far address is routed out of the near end.

# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e

modprobe -q veth || true
modprobe -q sch_netem || true
modprobe -q crc32_generic || true
ip link add veth0 type veth peer name veth1
for end in 0 1; do
	echo 0 >"/proc/sys/net/ipv6/conf/veth$end/accept_dad"
	ip link set "veth$end" up
	ip -6 addr add "fd00:$((end + 1))::1/64" dev "veth$end" nodad
done

mac()
{
	cat "/sys/class/net/$1/address"
}

ip -6 rule add pref 10 iif veth0 lookup local
ip -6 rule add pref 11 iif veth1 lookup local
ip -6 rule add pref 20 to fd00:2::1 lookup 100
ip -6 rule add pref 21 to fd00:1::1 lookup 101
ip -6 rule add pref 1000 lookup local
ip -6 rule del pref 0
ip -6 route add fd00:2::1 dev veth0 src fd00:1::1 table 100
ip -6 route add fd00:1::1 dev veth1 src fd00:2::1 table 101
ip -6 neigh add fd00:2::1 dev veth0 lladdr "$(mac veth1)" nud permanent
ip -6 neigh add fd00:1::1 dev veth1 lladdr "$(mac veth0)" nud permanent

modprobe rdma_rxe
xt_rxe rxe0 veth0
xt_rxe rxe1 veth1
