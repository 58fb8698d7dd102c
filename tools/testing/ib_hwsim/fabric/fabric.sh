# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Shell functions for a guest: a fabric of ibsim with some of its nodes played
# by ib_hwsim (". /xt/fabric.sh"). What they leave is in $fab.

# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh

fab=/tmp/fabric

# The device's port GUID, as 0x... .
fab_guid()
{
	sed 's/^fe80:0*:0*:0*:/0x/; s/://g' \
		"/sys/class/infiniband/$1/ports/1/gids/0"
}

# The number of a device's umad.
fab_umad()
{
	for fab_dir in /sys/class/infiniband_mad/umad*; do
		[ "$(cat "$fab_dir/ibdev" 2>/dev/null)" = "$1" ] || continue
		echo "${fab_dir##*umad}"
		return
	done
	return 1
}

fab_has_node()
{
	fab_number=$(fab_umad "$1") && [ -c "/dev/infiniband/umad$fab_number" ]
}

# fab_start NET NODE...: ibsim with this net, and the devices hwsim0, hwsim1,
# ... as these nodes of it. ib_umad may be loaded or not.
fab_start()
{
	fab_net=/opt/umad/$1
	shift
	mkdir -p $fab
	grep -q '^ib_hwsim ' /proc/modules ||
		insmod /lib/umad/ib_hwsim.ko || return
	fab_id=0
	printf '%s\n' "$@" >$fab/nodes
	ln -sf "$fab_net" $fab/net
	for fab_node; do
		shift
		set -- "$@" "$fab_id:1=$fab_node"
		fab_id=$((fab_id + 1))
	done
	# shellcheck disable=SC2046 # several options
	ibsim -s -n $(sed -n '1s/^# ibsim //p' "$fab_net") "$fab_net" \
		>$fab/ibsim.log 2>&1 &
	echo $! >$fab/ibsim.pid
	/opt/umad/hwsim_ibsim --make -w 60 "$@" >$fab/bridge.log 2>&1 &
	echo $! >$fab/bridge.pid
	xt_wait 90 grep -qs '^ready' $fab/bridge.log || {
		cat $fab/bridge.log >&2
		return 1
	}
	[ -d /sys/class/infiniband_mad ] || return 0
	while [ $fab_id -gt 0 ]; do
		fab_id=$((fab_id - 1))
		xt_wait 10 fab_has_node hwsim$fab_id || return
	done
}

# fab_opensm NAME DEVICE [OPTION...]: a subnet manager that leaves its files in
# $fab/NAME. As a standby it asks for its master each second, and takes over
# after two answers that do not come: by default that is 10 s, and 4. In an
# emulated guest on a busy machine, answers take longer than the 200 ms that it
# waits by default.
fab_opensm()
{
	fab_dir=$fab/$1
	fab_guid=$(fab_guid "$2")
	shift 2
	mkdir -p "$fab_dir"
	cat >"$fab_dir/conf" <<-EOF
		force_log_flush TRUE
		sminfo_polling_timeout 1000
		polling_retry_number 2
		transaction_timeout 1000
	EOF
	OSM_TMP_DIR=$fab_dir OSM_CACHE_DIR=$fab_dir opensm -g "$fab_guid" \
		-F "$fab_dir/conf" -f "$fab_dir/log" "$@" \
		>"$fab_dir/out" 2>&1 &
	echo $! >"$fab_dir/pid"
}

# fab_said NAME SECONDS TEXT: wait for this in that subnet manager's log.
fab_said()
{
	xt_wait "$2" grep -qs "$3" "$fab/$1/log"
}

# fab_seconds NAME FROM TO: between two lines of its log.
fab_seconds()
{
	awk -v from="$2" -v to="$3" '
		function at() {
			split($3, t, ":")
			return t[1] * 3600 + t[2] * 60 + t[3] + $4 / 1000000
		}
		!start && index($0, from) { start = at() }
		start && index($0, to) { printf "%.1f", at() - start; exit }
	' "$fab/$1/log"
}

# Counts MADs: "TO FROM", the sums over all ports.
fab_mads()
{
	kill -USR1 "$(cat $fab/bridge.pid)"
	sleep 0.2
	awk -v ports="$(grep -c . $fab/nodes)" '
		/to_ibsim/ { to[n % ports] = $4; from[n++ % ports] = $6 }
		END {
			for (i in to) { t += to[i]; f += from[i] }
			print t, f
		}' $fab/bridge.log
}

# fab_loss CHANCE: what our ports send gets lost from now on, so often.
fab_loss()
{
	for fab_port in /sys/kernel/debug/ib_hwsim/hwsim*/port*; do
		case $1 in
		0) echo off ;;
		*) echo "drop=$1 seed=1" ;;
		esac >"$fab_port/random" || return
	done
}

# How many that were, since fab_loss; there has to be one.
fab_lost()
{
	sed -n 's/^#.* dropped=\([0-9]*\).*/\1/p' \
		/sys/kernel/debug/ib_hwsim/hwsim*/port*/random |
		awk '{ n += $1 } END { print n, "MADs lost"; exit !n }'
}

fab_kill()
{
	[ -e "$fab/$1" ] || return 0
	fab_pid=$(cat "$fab/$1")
	rm "$fab/$1"
	kill "$fab_pid" 2>/dev/null || return 0
	xt_wait 30 sh -c "! kill -0 $fab_pid 2>/dev/null" ||
		kill -9 "$fab_pid"
}

# All processes, and the devices.
fab_stop()
{
	for fab_file in "$fab"/*/pid; do
		[ -e "$fab_file" ] && fab_kill "${fab_file#"$fab"/}"
	done
	fab_kill bridge.pid
	fab_kill ibsim.pid
	for fab_file in /sys/class/infiniband/hwsim*; do
		[ -e "$fab_file" ] && echo "${fab_file##*hwsim}" \
			>/sys/bus/ib_hwsim/del_device
	done
	rm -rf $fab
}
