#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "guest.sh MODULE [peer | noerms]", in a guest with the setup step rxe-pair: loads
# ib_umad (ours, intree) and runs bench_rmpp over one wire after another; with
# "peer" bench_peer, whose other end is ib_core's own RMPP, whatever the module.
# With "noerms", on a processor without these instructions, only a clean wire.
# Fails if what is sent does not cross the wire, not if a message does not arrive:
# that is for table.py to say.

# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e
module=$1
shift
xt_module "$module"
xt_wait 10 test -c /dev/infiniband/umad1
modprobe -q sch_netem || true

echo "# $module: Linux $(uname -r), ib_umad srcversion" \
	"$(cat /sys/module/ib_umad/srcversion 2>/dev/null || echo unknown)"

# wire KIND: "clean", or arguments of netem for both ends, "_" for spaces.
wire()
{
	for end in 0 1; do
		if tc qdisc show dev veth$end | grep -q netem; then
			tc qdisc del dev veth$end root
		fi
		[ "$1" = clean ] && continue
		# 1,000 packets, netem's own limit, are a window of ours and a few.
		# shellcheck disable=SC2046 # one word each
		tc qdisc add dev veth$end root netem limit 100000 \
			$(echo "$1" | tr _ ' ')
	done
}

# value DEVICE COUNTER: of rxe.
value()
{
	cat "/sys/class/infiniband/$1/ports/1/hw_counters/$2"
}

# Packets both devices have sent and that none has received.
missing()
{
	echo $(($(value rxe0 sent_pkts) + $(value rxe1 sent_pkts) -
		$(value rxe0 rcvd_pkts) - $(value rxe1 rcvd_pkts)))
}

crossed()
{
	cat /sys/class/net/veth0/statistics/tx_packets
}

# What netem has dropped; what it still holds has a moment to come out.
dropped()
{
	for end in 0 1; do
		tc -s qdisc show dev veth$end
	done | awk 'on { gsub(",", "", $7); sum += $7; on = 0 }
		    /qdisc netem/ { on = 1 } END { print sum + 0 }'
}

# run WIRE MODE SIZE COUNT LIMIT
run()
{
	wire "$1"
	crossed=$(crossed)
	missing=$(missing)
	/opt/umad/bench_rmpp "$module/$label$1" "$2" "$3" "$4" "$5"
	sleep 1
	echo "# $module/$1 $2 $3: $(($(crossed) - crossed)) packets left veth0;" \
		"$(($(missing) - missing)) lost, $(dropped) of them by netem"
	if [ "$(crossed)" -eq "$crossed" ]; then
		echo "$1: nothing crosses the wire" >&2
		exit 1
	fi
}

if [ "${1:-}" = peer ]; then
	insmod /lib/umad/ib_umad_peer.ko device=rxe1
	for way in there back; do
		for kind in clean delay_10ms loss_0.1% loss_1%; do
			wire "$kind"
			/opt/umad/bench_peer "$module/$kind" $way 1024 5 60
		done
	done
	rmmod ib_umad_peer
	wire clean
	exit
fi

# A segment's floor: the same MADs posted from the kernel.
floor()
{
	[ "$module" = ours ] || return 0
	insmod /lib/umad/ib_umad_floor.ko device=rxe0 peer=rxe1
	xt_floor | sed -n "s|.*write_flood outstanding=64 median=\([0-9.]*\).*|bench floor/${label}clean raw size=0 median=\1|p"
	rmmod ib_umad_floor
}

label=
if [ "${1:-}" = noerms ]; then
	label=noerms_
	run clean xfer 1M 3 60
	run clean xfer 32M 1 60
	floor
	run clean many 64K 64 60
	exit
fi

# More of those that depend on chance, if they come to an end.
case $module in
intree) some=3 few=1 ;;
*) some=9 few=3 ;;
esac
run clean xfer 1M 3 60
run clean xfer 32M 1 60
run delay_10ms xfer 8M 1 60
run delay_10ms xfer 32M 1 60
run loss_0.1% xfer 1M $some 60
run loss_0.1% xfer 32M $few 60
run loss_1% xfer 1M $some 60
run loss_1% xfer 8M $few 60
run loss_5% xfer 8M $few 60
# More than 40 s, with progress all the time.
[ "$module" = intree ] || run delay_200ms xfer 32M 1 300
floor
for _ in 1 2 3; do
	run clean many 64K 64 60
done
run clean memory 32M 1 60
wire clean
# The wire breaks after a second, for good.
/opt/umad/bench_rmpp "$module/cut" stall 32M 1 60 &
sleep 1
wire loss_100%
wait
wire clean
