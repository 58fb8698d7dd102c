# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Shell functions for a guest: programs of a Debian, which the plan's key "root" names,
# on a fabric that fab_start has started (". /xt/programs.sh"; the functions of checks.sh
# are there as well).

# shellcheck source=tools/testing/ib_hwsim/fabric/checks.sh
. /xt/checks.sh

# has PROGRAM: else the test is skipped.
has()
{
	[ -e "/usr/local/root/$1" ] || {
		echo "this Debian has no $1" >&2
		exit 4
	}
}

# says TEXT PROGRAM [ARGUMENT...]: it ends with 0 and says this (a regex of grep -E), or
# anything if that is empty.
says()
{
	says_text=$1
	shift
	has "$1"
	says_status=0
	timeout 200 "$@" >/tmp/said 2>&1 </dev/null || says_status=$?
	if [ "$says_status" = 0 ]; then
		[ -n "$says_text" ] || return 0
		! grep -m 1 -E -e "$says_text" /tmp/said || return 0
	fi
	tail -n 6 /tmp/said >&2
	echo "exit status $says_status" >&2
	return 1
}

# counts NUMBER TEXT PROGRAM [ARGUMENT...]: it ends with 0, and as many of its lines have this.
counts()
{
	counts_wanted=$1
	counts_text=$2
	shift
	says "$@" || return
	counts_seen=$(grep -cE -e "$counts_text" /tmp/said)
	echo "$counts_seen lines"
	[ "$counts_seen" = "$counts_wanted" ]
}

# The LID of the switch that a device is cabled to.
switch_lid()
{
	smpquery -C "$1" -D portinfo 0,1 0 | sed -n 's/^Lid:\.*//p'
}

# routes ENGINE NET NODE...: OpenSM brings this net up, and not by another engine.
routes()
{
	routes_engine=$1
	shift
	fab_start "$@" || return
	${routes_before:-:} || return
	# shellcheck disable=SC2086 # several options
	fab_opensm "sm-$routes_engine" hwsim0 -R "$routes_engine" ${routes_options:-}
	routes_good=0
	fab_said "sm-$routes_engine" 200 'SUBNET UP' || routes_good=1
	grep -E 'tables configured|fall|ERR|no unicast' "$fab/sm-$routes_engine/log" |
		sed 's/.*-> //' | sort | uniq -c | head -n 8
	grep -qi "$routes_engine.* tables configured" "$fab/sm-$routes_engine/log" ||
		routes_good=1
	if [ "$routes_good" = 0 ]; then
		check_discover hwsim1 || routes_good=1
	fi
	fab_stop
	return $routes_good
}

# What torus-2QoS has to be told: the sides of torus-100.net, and the links of the
# switch where they begin. Two in a row are no ring.
torus_config()
{
	ibnetdiscover -C hwsim1 -S >$fab/switches || return
	torus_first=$(switch_guid sw-01-01-01)
	cat >$fab/torus.conf <<-EOF
		torus 2M 3 3
		xp_link $torus_first $(switch_guid sw-02-01-01)
		yp_link $torus_first $(switch_guid sw-01-02-01)
		zp_link $torus_first $(switch_guid sw-01-01-02)
	EOF
}

switch_guid()
{
	sed -n "s/^[^0]*\\(0x[0-9a-f]*\\) .*\"$1\".*/\\1/p" $fab/switches
}

# libibumad by Python's ctypes: a SubnGet of NodeInfo of this port, by LID.
ask_by_python()
{
	cat >/tmp/ask.py <<-'EOF'
	import ctypes, sys
	u = ctypes.CDLL("libibumad.so.3")
	assert u.umad_init() == 0
	name = sys.argv[1].encode()
	lid = int(sys.argv[2])
	port = u.umad_open_port(name, 1)
	assert port >= 0, port
	agent = u.umad_register(port, 1, 1, 0, None)
	assert agent >= 0, agent
	size = u.umad_size()
	buf = ctypes.create_string_buffer(size + 256)
	u.umad_get_mad.restype = ctypes.c_void_p
	mad = u.umad_get_mad(buf)
	data = bytes([1, 1, 1, 1]) + bytes(4) + bytes(7) + b"\x2a" + b"\x00\x11" + bytes(6)
	ctypes.memmove(mad, data, len(data))
	assert u.umad_set_addr(buf, lid, 0, 0, 0) == 0
	assert u.umad_send(port, agent, buf, 256, 1000, 3) == 0
	length = ctypes.c_int(256)
	assert u.umad_recv(port, buf, ctypes.byref(length), 5000) >= 0
	assert u.umad_status(buf) == 0, u.umad_status(buf)
	answer = ctypes.string_at(mad, 256)
	assert answer[3] == 0x81 and answer[4:6] == bytes(2), answer[:24].hex()
	print("GUID", answer[64 + 12:64 + 20].hex())
	EOF
	says GUID python3 /tmp/ask.py "$@"
}

# The state of the ports by Performance Co-Pilot's agent, which dbpmda drives.
ask_pcp()
{
	has dbpmda
	pcp_dir=/var/lib/pcp/pmdas/infiniband
	printf '%s\n' '#define IB 91' 'root {' '	infiniband' '}' \
		"#include \"$pcp_dir/pmns\"" >/tmp/root.pmns
	printf '%s\n' "open pipe $pcp_dir/pmdaib -d 91" 'fetch infiniband.port.state' \
		>/tmp/dbpmda.in
	timeout 60 dbpmda -n /tmp/root.pmns -ie </tmp/dbpmda.in >/tmp/said 2>&1
	grep -q Active /tmp/said && return
	tail -n 8 /tmp/said >&2
	return 1
}

# answer_vendor DEVICE: an agent of class 0x0a (vendor specific, of NVIDIA's switches and
# adapters) by Python's ctypes. It has a firmware version, and a word at each address.
answer_vendor()
{
	cat >/tmp/answer.py <<-'EOF'
	import ctypes, sys
	u = ctypes.CDLL("libibumad.so.3")
	assert u.umad_init() == 0
	port = u.umad_open_port(sys.argv[1].encode(), 1)
	assert port >= 0, port
	methods = (ctypes.c_long * 2)(1 << 1 | 1 << 2, 0)
	agent = u.umad_register(port, 10, 1, 0, methods)
	assert agent >= 0, agent
	buf = ctypes.create_string_buffer(u.umad_size() + 256)
	u.umad_get_mad.restype = ctypes.c_void_p
	mad = u.umad_get_mad(buf)
	print("serving", flush=True)
	while True:
	    length = ctypes.c_int(256)
	    if u.umad_recv(port, buf, ctypes.byref(length), -1) < 0:
	        break
	    answer = bytearray(ctypes.string_at(mad, 256))
	    answer[3] = 0x81
	    if answer[16:18] == b"\0\x17":
	        answer[65:68] = bytes([2, 11, 7])
	    elif answer[16:18] == b"\0\x50":
	        answer[32:36] = bytes.fromhex("12345678")
	    ctypes.memmove(mad, bytes(answer), 256)
	    u.umad_send(port, agent, buf, 256, 0, 0)
	EOF
	has python3
	python3 /tmp/answer.py "$1" >/tmp/answer.log 2>&1 &
	answer_pid=$!
	xt_wait 20 grep -q serving /tmp/answer.log
}

# asks_vendor DEVICE TEXT PROGRAM [ARGUMENT...]: says(), while this device answers.
asks_vendor()
{
	answer_vendor "$1" || return
	shift
	asks_status=0
	says "$@" || asks_status=$?
	kill "$answer_pid"
	wait "$answer_pid" 2>/dev/null
	return "$asks_status"
}
