#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What "make demo" runs in the guest, with ib_umad loaded over soft-RoCE:
# shows a person the module, its devices, and MADs going through them. Wants
# /opt/umad/umad_demo, made of tools/testing/demo. Its status says whether
# everything was as it should be.

module=/sys/module/ib_umad
class=/sys/class/infiniband_mad
port=/sys/class/infiniband/rxe0/ports/1
counters=/sys/kernel/debug/ib_umad/umad0/counters
trace=/sys/kernel/tracing

heading()
{
	printf '\n== %s\n' "$*"
}

# What is in a file, or that there is none.
value()
{
	cat "$1" 2>/dev/null || echo "none"
}

# Counters that have moved: name, before, after.
show_counters()
{
	awk 'NR == FNR { before[$1] = $2; next }
	     $2 != before[$1] {
		printf "  %-20s %3d -> %3d\n", $1, before[$1], $2
	     }' "$1" "$2"
}

status=0

heading "The module (Linux $(uname -r), soft-RoCE)"
file=/lib/umad/ours/ib_umad.ko
modinfo $file | awk -F ': +' '/^(description|license|alias):/ {
	printf "  %-13s%s\n", $1, $2
}'
echo "  file         $file"
echo "  loaded       version $(value $module/version), srcversion $(value $module/srcversion)"
modinfo $file | grep -q "^srcversion: *$(value $module/srcversion)$" || {
	echo "  which is not that file's"
	status=1
}
for file in "$module"/parameters/*; do
	echo "  parameter    ${file##*/} = $(value "$file")"
done

heading "Its devices"
for device in "$class"/*mad*; do
	name=${device##*/}
	echo "  /dev/infiniband/$name  $(value "$device/dev")  ibdev $(value "$device/ibdev"), port $(value "$device/port")"
done
[ -e "$class/issm0" ] ||
	echo "  no /dev/infiniband/issm0: RoCE has no subnet management interface"
echo "  $class/abi_version  $(value $class/abi_version)"
echo "  P_Key index 0 of rxe0 port 1: $(value $port/pkeys/0)"

heading "ibstat, of Debian's infiniband-diags"
ibstat rxe0 1 >/tmp/ibstat || status=1
sed 's/^\t*/  /' /tmp/ibstat

heading "Two processes with Debian's libibumad, by way of the module"
cat $counters >/tmp/before || status=1
echo 1 >$trace/events/ib_umad/ib_umad_txn/enable
/opt/umad/umad_demo rxe0 || status=1
echo 0 >$trace/events/ib_umad/ib_umad_txn/enable
cat $counters >/tmp/after

heading "The same in the module's trace (ib_umad:ib_umad_txn)"
# What follows "done" or "expired" is the tidying up when the program ends.
sed -n 's/.* \([0-9]*\.[0-9]*\): ib_umad_txn: .*\(tid [^ ]*\) class [^ ]* \(.* \)\(wait\|send\) \(.*\) wc_status.*/  \1  \2  \3\4 \5/p' \
	$trace/trace

heading "The module's counters, before and after"
show_counters /tmp/before /tmp/after

if [ "$status" = 0 ]; then
	heading "All as it should be"
else
	heading "Something went wrong above"
fi
exit "$status"
