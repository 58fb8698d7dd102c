#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What check-packages.sh wants to know of a Debian that has booted with ib-umad-dkms, by
# Secure Boot: see boot-packages.sh. The devices are soft-RoCE and a simulated HCA.
set -eu

cd /packages
# shellcheck source=scripts/results.sh
. ./results.sh
release=$(uname -r)
version=$(dpkg-query -W -f '${Version}' ib-umad-dkms | sed 's/-[^-]*$//')
exec 2>&1
echo "# $(. /etc/os-release; echo "$PRETTY_NAME"), booted with Linux $release"

loaded()
{
	[ "$(cat /sys/module/ib_umad/version 2>/dev/null)" = "$1" ] ||
		echo "version '$(cat /sys/module/ib_umad/version 2>&1)'"
}

in_tree_loaded()
{
	[ -e /sys/module/ib_umad ] || echo "ib_umad is not loaded"
	[ ! -e /sys/module/ib_umad/version ] || echo "ours is loaded"
}

# What user space sees of the device: its name, owner, mode, and what udev made of it.
device()
{
	udevadm settle
	stat -c '%n %A %U %G' /dev/infiniband/umad0
	udevadm info /dev/infiniband/umad0 | grep -v -e USEC_INITIALIZED -e DISKSEQ
}

same_device()
{
	device >/tmp/device
	diff /tmp/device.ours /tmp/device || :
}

quietly()
{
	quiet_output=$("$@" 2>&1) || {
		echo "$quiet_output"
		return 1
	}
}

rxe()
{
	ip link add dummy0 type dummy
	ip link set dummy0 up
	rdma link add rxe0 type rxe netdev dummy0
	udevadm settle
}

issm()
{
	[ $((0x$(sed 's/^0x//' /sys/class/infiniband/hwsim0/ports/1/cap_mask) & 2)) != 0 ]
}

# until SECONDS COMMAND...
until_good()
{
	until_left=$(($1 * 50))
	shift
	while ! "$@"; do
		until_left=$((until_left - 1))
		if [ "$until_left" = 0 ]; then
			echo "not in time: $*"
			return 1
		fi
		sleep 0.02
	done
}

opensm()
{
	modprobe ib_hwsim
	echo "0 fabric=a lid=1" >/sys/bus/ib_hwsim/new_device
	udevadm settle
	systemctl start opensm
	until_good 30 issm
}

restart()
{
	systemctl stop opensm 'opensm@*' && systemctl start opensm
}

milliseconds()
{
	echo $(($(date +%s%N) / 1000000))
}

# The command of packaging.rst, and how much of its time is the module's.
change()
{
	systemctl stop opensm 'opensm@*' && unloading=$(milliseconds) &&
		modprobe -r ib_umad && modprobe ib_umad
	changed=$?
	loaded=$(milliseconds)
	systemctl start opensm
	[ "$changed" != 0 ] ||
		echo "# change: $((loaded - unloading)) ms of it for the module" >&3
	return $changed
}

# outage COMMAND: prints how long there was no subnet manager.
outage()
{
	began=$(milliseconds)
	"$@" && until_good 30 issm || return
	echo "# $1: no IsSM for $(($(milliseconds) - began)) ms" >&3
}

# Linux takes no module then that is not signed by a key which it or the firmware has.
secure_boot()
{
	grep -q '\[integrity\]' /sys/kernel/security/lockdown ||
		cat /sys/kernel/security/lockdown
}

# ours FILE: decompressed.
ours()
{
	case $(modinfo -n ib_umad) in
	*.xz) xz -dc "$(modinfo -n ib_umad)" ;;
	*.zst) zstd -dcq "$(modinfo -n ib_umad)" ;;
	*) cat "$(modinfo -n ib_umad)" ;;
	esac >"$1"
}

without_signature()
{
	ours /tmp/ib_umad.ko
	strip --strip-debug /tmp/ib_umad.ko
	insmod /tmp/ib_umad.ko 2>/tmp/said && echo "it is loaded"
	grep -q 'Key was rejected\|Operation not permitted' /tmp/said || cat /tmp/said
}

exec 3>&1
check "boot: by Secure Boot" secure_boot || :
check "boot: the initramfs had ours" loaded "$version" || :
check "boot: unload" modprobe -r ib_umad || :
check "boot: not without a signature" without_signature || :
check "boot: modprobe" modprobe ib_umad || :
check "boot: ours is loaded" loaded "$version" || :
check "boot: soft-RoCE" rxe || :
check "boot: a device by udev" quietly device || :
device >/tmp/device.ours || :
check "boot: OpenSM on a simulated HCA" quietly opensm || :
check "boot: OpenSM again" quietly outage restart || :
check "boot: change of module under OpenSM" quietly outage change || :
check "boot: ours is loaded again" loaded "$version" || :
check "boot: OpenSM stops" quietly systemctl stop opensm 'opensm@*' || :
echo 0 >/sys/bus/ib_hwsim/del_device || :
check "boot: remove the package" quietly dpkg --purge ib-umad-dkms || :
check "boot: change of module" modprobe -r ib_umad || :
check "boot: modprobe again" modprobe ib_umad || :
check "boot: in-tree is loaded" in_tree_loaded || :
check "boot: the device is the same to udev" same_device || :
summary || :
