# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Shell functions for a guest: what the unmodified programs have to say of a
# fabric that fab_start has started (". /xt/checks.sh"; the functions of
# fabric.sh are there as well). Each prints what it has seen, and fails if that
# is not as it should be.

# shellcheck source=tools/testing/ib_hwsim/fabric/fabric.sh
. /xt/fabric.sh

check_lid()
{
	printf '%d\n' "$(cat "/sys/class/infiniband/$1/ports/1/lid")"
}

# Nodes and links of a net file or of ibnetdiscover's output, in one form.
check_canonical()
{
	awk -F '"' '
		/^(Switch|Ca|Hca)/ {
			split($1, word, " ")
			name = $4
			print (word[1] == "Switch" ? "switch" : "host"), name, \
				word[2]
		}
		/^\[/ {
			port = $1
			gsub(/^\[|\].*/, "", port)
			far = $3
			gsub(/^\[|\].*/, "", far)
			print "link", name, port, $4, far
		}
	' "$1" | sort
}

# check_discover DEVICE: ibnetdiscover finds what the net file has.
check_discover()
{
	ibnetdiscover -C "$1" >$fab/discovered || return
	check_canonical $fab/net >$fab/net.canonical
	check_canonical $fab/discovered >$fab/discovered.canonical
	if ! cmp $fab/net.canonical $fab/discovered.canonical; then
		diff $fab/net.canonical $fab/discovered.canonical | head >&2
		return 1
	fi
	awk '{ n[$1]++ } END {
		printf "%d nodes: %d hosts, %d switches; %d links: as in the net file\n",
			n["host"] + n["switch"], n["host"], n["switch"], n["link"] / 2
	}' $fab/discovered.canonical
}

# A picture of what check_discover has found: its levels, the hosts below.
check_picture()
{
	awk '
		function row(what, n,    i, shown, text) {
			shown = n > 9 ? 9 : n
			for (i = 1; i <= shown; i++)
				text = text (i == 9 && n > 9 ? "...  " : what "  ")
			return text
		}
		$1 == "host" { level[$2] = 0; number[0]++ }
		$1 == "switch" { level[$2] = -1; left++ }
		$1 == "link" { near[++links] = $2; far[links] = $4 }
		END {
			while (left) {
				top++
				for (i = 1; i <= links; i++)
					if (level[near[i]] == -1 && \
					    level[far[i]] == top - 1)
						found[near[i]] = 1
				for (name in found) {
					level[name] = top
					number[top]++
					left--
				}
				split("", found)
			}
			for (i = 1; i <= links; i++)
				between[level[near[i]] "," level[far[i]]]++
			for (l = top; l >= 0; l--) {
				printf "  %-50s %4d %s\n",
					row(l ? "[==]" : " o  ", number[l]), number[l],
					l ? "switches" : "hosts"
				if (between[l "," l])
					printf "  %50s %5d links among them\n", "",
						between[l "," l] / 2
				if (l)
					printf "  %-50s %4d links\n", row(" |  ",
						between[l "," l - 1]),
						between[l "," l - 1]
			}
		}' $fab/discovered.canonical
}

# What an SA's answer has in these fields, one record a line.
check_records()
{
	awk -v fields="$*" '
		BEGIN { n = split(fields, field, " ") }
		function flush(    i, line) {
			for (i = 1; i <= n; i++)
				line = line (i > 1 ? " " : "") value[field[i]]
			if (seen)
				print line
			split("", value)
		}
		/dump:$/ { flush(); seen = 1; next }
		{
			name = $1
			sub(/\..*/, "", name)
			sub(/^[^.]*\.+/, "")
			value[name] = $0
		}
		END { flush() }
	'
}

# check_saquery DEVICE MS QUERY: asks again, for saquery sends its request once,
# and a wire that loses may lose that.
check_saquery()
{
	for _ in 1 2 3; do
		saquery -C "$1" -t "$2" "$3" && return
	done
	return 1
}

# check_node_records DEVICE SM: LIDs of all ports, against OpenSM's table.
check_node_records()
{
	check_saquery "$1" 20000 NodeRecord >$fab/answer || return
	check_records port_guid lid <$fab/answer | sort >$fab/asked
	while read -r guid lid _; do
		[ -z "$guid" ] || echo "$guid $((lid))"
	done <"$fab/$2/guid2lid" | sort >$fab/dumped
	cmp $fab/asked $fab/dumped || return
	records=$(grep -c . $fab/asked)
	echo "$records NodeRecords, $((records * 112)) bytes: GUIDs and LIDs as in OpenSM's guid2lid"
}

# check_link_records DEVICE SM: all links, against OpenSM's list.
check_link_records()
{
	saquery -C "$1" -t 20000 LinkRecord >$fab/answer || return
	check_records FromLID FromPort ToLID ToPort <$fab/answer |
		sort >$fab/asked
	# "{ CA Ports:01 ... LID:0001 PN:01 } { SW ... LID:0002 PN:0C } ..."
	sed -n 's/.*LID:\([0-9A-F]*\) PN:\([0-9A-F]*\) .*LID:\([0-9A-F]*\) PN:\([0-9A-F]*\) .*/\1 \2 \3 \4/p' \
		"$fab/$2/opensm-subnet.lst" | sort -u |
		while read -r a b c d; do
			echo "$((0x$a)) $((0x$b)) $((0x$c)) $((0x$d))"
		done | sort >$fab/dumped
	cmp $fab/asked $fab/dumped || return
	echo "$(grep -c . $fab/asked) LinkRecords: as in OpenSM's opensm-subnet.lst"
}

# check_path_records DEVICE: one path of each node to each.
check_path_records()
{
	if [ ! -e /sys/module/ib_umad/parameters ]; then
		# In-tree is known to fail beside loss: once is enough.
		saquery -C "$1" -t 30000 PathRecord
	else
		check_saquery "$1" 30000 PathRecord
	fi >$fab/answer || return
	check_records slid dlid <$fab/answer | sort >$fab/asked
	check_saquery "$1" 20000 NodeRecord | check_records lid | sort -u \
		>$fab/lids
	awk 'NR == FNR { lid[$1]; next } { for (l in lid) print $1, l }' \
		$fab/lids $fab/lids | sort >$fab/dumped
	cmp $fab/asked $fab/dumped || return
	records=$(grep -c . $fab/asked)
	echo "$records PathRecords, $((records * 64)) bytes: one from each node to each"
}

# check_sl2vl_records DEVICE: how the switches treat each service level, by a
# record for each way through each of them; a long answer.
check_sl2vl_records()
{
	saquery -C "$1" -t 60000 SL2VLTableRecord >$fab/answer || return
	awk '/^SL2VLTableRecord dump:/ { n++ }
		/VL:/ { gsub(/[^0-9|]/, ""); seen[$0]++ }
		END { for (s in seen) kinds++; print n, kinds }' \
		$fab/answer >$fab/asked
	check_canonical $fab/net | awk '
		$1 == "switch" { n += ($3 + 1) * ($3 + 1) }
		$1 == "host" { n += $3 }
		END { print n }' >$fab/dumped
	read -r records _ <$fab/asked
	read -r wanted <$fab/dumped
	echo "$records SL2VLTableRecords, $((records * 16)) bytes in one answer"
	[ "$records" = "$wanted" ]
}

# check_ports: ibstat and sysfs have the LIDs that OpenSM gave.
check_ports()
{
	for device in /sys/class/infiniband/hwsim*; do
		name=${device##*/}
		guid=$(fab_guid "$name" | sed 's/0x//')
		lid=$(awk -v guid="0x0*$guid" '$1 ~ guid { print $2 }' \
			"$fab/$1/guid2lid")
		ibstat "$name" 1 >$fab/ibstat || return
		grep -q 'State: Active' $fab/ibstat || return
		grep -q "Base lid: $((lid))\$" $fab/ibstat || return
		echo "$name $(cat "$device/node_desc") lid $((lid)) $(cat "$device/ports/1/state")"
	done
}

# check_groups DEVICE: OpenSM's own multicast group is there.
check_groups()
{
	saquery -C "$1" -g >$fab/answer || return
	grep MGID $fab/answer
	grep -q 'MGID.*ff12:401b:ffff' $fab/answer
}

# check_errors DEVICE: no node has counted errors, nor is unreachable.
check_errors()
{
	ibqueryerrors -C "$1" >$fab/errors 2>&1 || return
	grep '^## Summary' $fab/errors
	grep -q '^## Summary: '"$(grep -cE '^(Hca|Switch)' $fab/net)"' nodes checked, 0 bad' \
		$fab/errors
}

# check_linkinfo DEVICE: each connected port is up and active.
check_linkinfo()
{
	iblinkinfo -C "$1" >$fab/linkinfo 2>&1 || return
	active=$(grep -c 'Active/  LinkUp' $fab/linkinfo)
	echo "$active ports are active and up"
	[ "$active" = "$(grep -c '^\[' $fab/net)" ]
}

# check_tracert FROM TO: the way between two of our devices.
check_tracert()
{
	ibtracert -C "$1" "$(check_lid "$1")" "$(check_lid "$2")" \
		>$fab/tracert || return
	cat $fab/tracert
	grep -q "^To ca .* lid $(check_lid "$2")-" $fab/tracert
}

# check_counters DEVICE: a switch next to it has passed packets.
check_counters()
{
	perfquery -C "$1" "$(check_lid "$1")" 1 >$fab/counters || return
	grep -E 'Xmit(Data|Pkts)|Rcv(Data|Pkts)' $fab/counters
	awk -F '[:.]+' '/^PortXmitPkts/ { exit !($2 > 0) }' $fab/counters
}

# check_issm DEVICE SM-DEVICE: who is the manager, asked in three ways.
check_issm()
{
	lid=$(check_lid "$2")
	sminfo -C "$1" | tee $fab/sminfo
	grep -q "sm lid $lid .*SMINFO_MASTER" $fab/sminfo || return
	smpquery -C "$1" portinfo "$lid" 1 >$fab/portinfo || return
	grep -E '^(Lid|SMLid|LinkState):|IsSM$' $fab/portinfo
	grep -q 'IsSM$' $fab/portinfo || return
	smpquery -C "$1" nodedesc "$lid"
}

# check_ping FROM TO: ibping and ibsysstat between two of our devices.
check_ping()
{
	ibping -S -C "$2" >/dev/null 2>&1 &
	ping=$!
	ibsysstat -S -C "$2" >/dev/null 2>&1 &
	sysstat=$!
	sleep 2
	good=0
	ibping -C "$1" -c 3 "$(check_lid "$2")" || good=1
	ibsysstat -C "$1" "$(check_lid "$2")" ping || good=1
	ibsysstat -C "$1" "$(check_lid "$2")" cpu || good=1
	kill $ping $sysstat
	return $good
}

# check_takeover OLD NEW DEVICE: the standby NEW, on DEVICE, becomes master when
# OLD is killed.
check_takeover()
{
	kill -9 "$(cat "$fab/$1/pid")"
	rm "$fab/$1/pid"
	fab_said "$2" 90 'Entering MASTER state' || return
	fab_said "$2" 90 'SUBNET UP' || return
	grep -E 'Entering|SUBNET' "$fab/$2/log" | sed 's/.*-> /  /'
	check_issm "$3" "$3"
}

# check_removal DEVICE OTHER: the device goes under its programs; its node stays
# in the net, but is no subnet manager any more.
check_removal()
{
	lid=$(check_lid "$1")
	echo "${1#hwsim}" >/sys/bus/ib_hwsim/del_device || return
	! fab_has_node "$1" || return
	sleep 1
	smpquery -C "$2" nodedesc "$lid" || return
	smpquery -C "$2" portinfo "$lid" 1 >$fab/portinfo || return
	! grep 'IsSM$' $fab/portinfo
}

# check_osmtest DEVICE FLOW...: a flow that comes to its end by itself.
check_osmtest()
{
	device=$1
	shift
	if osmtest -g "$(fab_guid "$device")" -i $fab/inventory "$@" \
		>$fab/osmtest 2>&1 &&
		grep 'OSMTEST: TEST ".*" PASS' $fab/osmtest; then
		return 0
	fi
	# Many errors are expected, not those at the end.
	tail -n 20 $fab/osmtest
	return 1
}

# check_osmtest_stress DEVICE KIND SECONDS: a stress flow, which goes on for
# 4,000 to 100,000 queries: for so long, and without an error.
check_osmtest_stress()
{
	before=$(fab_mads)
	timeout "$3" osmtest -g "$(fab_guid "$1")" -i $fab/inventory -f f \
		-s "$2" >$fab/osmtest 2>&1
	status=$?
	after=$(fab_mads)
	grep ERR $fab/osmtest
	count=$((${after% *} - ${before% *}))
	echo "stress $2: $count MADs in $3 s at most, status $status"
	[ $count -gt 200 ] && ! grep -q ERR $fab/osmtest &&
		{ [ $status = 0 ] || [ $status = 143 ] || [ $status = 124 ]; }
}
