# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Shell functions for the guest: init, the setup steps and plan tests use them
# (". /xt/lib.sh"; a plan's test commands have it already).

# Every module a run may load and must be able to unload, users first.
xt_modules='ib_umad_race ib_umad_peer ib_umad_floor ib_umad ib_hwsim rdma_ucm rdma_rxe rdma_cm iw_cm ib_cm ib_uverbs ib_core'

# Modules of that list, and KUnit's, that are loaded now.
xt_loaded()
{
	awk -v list="$xt_modules" '
		BEGIN { split(list, a); for (i in a) want[a[i]] = 1 }
		want[$1] || $1 ~ /kunit_?|_kunit/ { printf "%s%s", sep, $1; sep = " " }
	' /proc/modules
}

# xt_module ours|intree|none [PARAMETER=VALUE...]: change to another ib_umad.
xt_module()
{
	xt_which=$1
	shift
	if grep -q '^ib_umad ' /proc/modules; then
		rmmod ib_umad || return
	fi
	[ "$xt_which" = none ] && return
	modprobe ib_core || return
	insmod "/lib/umad/$xt_which/ib_umad.ko" "$@"
}

# What ib_umad_floor has measured.
xt_floor()
{
	dmesg | sed -n 's/^[^]]*] *bench floor/# bench floor/p'
}

# xt_wait SECONDS COMMAND...: until COMMAND succeeds.
xt_wait()
{
	xt_left=$(($1 * 10))
	shift
	while ! "$@"; do
		xt_left=$((xt_left - 1))
		[ "$xt_left" -gt 0 ] || return 1
		sleep 0.1
	done
}

# xt_rxe NAME NETDEV: an rxe device, with all that its creation is waited for.
xt_rxe()
{
	rdma link add "$1" type rxe netdev "$2" || return
	xt_wait 10 grep -qs ACTIVE "/sys/class/infiniband/$1/ports/1/state" ||
		echo "$1 is not active" >&2
}

# xt_kunit [MODULE...]: load KUnit modules from below /lib/umad (default: all
# *kunit*.ko of ours), print what they say as one KTAP document. Taken from the
# kernel's log, as the results files in debugfs keep only 512 bytes of each test;
# those only tell how many suites there are. Newer kernels begin a document for each module.
xt_kunit()
{
	if [ $# = 0 ]; then
		# shellcheck disable=SC2046 # one word each
		set -- $(cd /lib/umad/ours && echo ./*kunit*.ko |
			sed 's|\./||g; s|\.ko||g')
	fi
	xt_mark="xt_kunit $$ begins"
	echo "<6>$xt_mark" >/dev/kmsg
	for xt_name; do
		insmod "$(find /lib/umad -name "$xt_name.ko" | head -n 1)" ||
			return
	done
	xt_suites=$(find /sys/kernel/debug/kunit -mindepth 1 -type d | wc -l)
	echo "KTAP version 1"
	echo "1..$xt_suites"
	dmesg | sed 's/^\(<[0-9]*>\)*\[ *[0-9.]*\] //' | awk -v mark="$xt_mark" '
		index($0, mark) { on = 1; next }
		/XT-BEGIN/ || /^KTAP version/ || /^1\.\.[0-9]+$/ { next }
		on && /^(not )?ok [0-9]+/ { sub(/ok [0-9]+/, "ok " ++n) }
		on
	'
	for xt_name; do
		rmmod "$xt_name" || return
	done
}

xt_unload_all()
{
	grep '\[' /proc/kallsyms | sort >/tmp/.kallsyms
	pkill -9 -f '^/opt/umad/' 2>/dev/null
	for xt_dev in /sys/class/infiniband/*; do
		case ${xt_dev##*/} in
		hwsim*) echo "${xt_dev##*hwsim}" >/sys/bus/ib_hwsim/del_device ;;
		*) [ -e "$xt_dev" ] && rdma link del "${xt_dev##*/}" ;;
		esac
	done
	for xt_try in 1 2 3; do
		xt_left=$(xt_loaded)
		[ -n "$xt_left" ] || return 0
		[ "$xt_try" = 1 ] || sleep 1
		for xt_name in $xt_left $xt_modules; do
			grep -q "^$xt_name " /proc/modules && rmmod "$xt_name"
		done
	done
}

# Prints the number of leaks (or "unknown"); their traces go to the console.
xt_scan_leaks()
{
	xt_leaks=/sys/kernel/debug/kmemleak
	if [ ! -e "$xt_leaks" ]; then
		echo unknown
		return
	fi
	# What was allocated less than 5 s before a scan is not reported.
	sleep 6
	if ! echo scan >"$xt_leaks" || ! echo scan >"$xt_leaks"; then
		echo disabled
		return
	fi
	xt_count=$(grep -c '^unreferenced object' "$xt_leaks")
	# The modules have gone; what xt_unload_all kept names their functions.
	[ "$xt_count" = 0 ] || awk '
		FILENAME == "/tmp/.kallsyms" { at[++n] = $1; name[n] = $3 " " $4; next }
		n && $2 ~ /^0xffffffff/ {
			hex = substr($2, 3); lo = 1; hi = n
			while (lo < hi) {
				mid = int((lo + hi + 1) / 2)
				if (at[mid] <= hex) lo = mid; else hi = mid - 1
			}
			$0 = "    " $1 " " $2 " after " name[lo]
		}
		{ print }
	' /tmp/.kallsyms "$xt_leaks" >/dev/ttyS0
	echo "$xt_count"
}
