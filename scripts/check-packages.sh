#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "check-packages.sh [SUITE...]": installs, updates and removes the Debian packages in
# throw-away roots of Debian 12 and 13 with two kernels each, does there what a kernel
# update does, and boots each in a guest. Takes minutes, and the network the first time;
# needs root.
set -eu

[ "$(id -u)" = 0 ] || exec sudo env HOME="$HOME" \
	XDG_CACHE_HOME="${XDG_CACHE_HOME:-$HOME/.cache}" "$(readlink -f "$0")" "$@"

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/results.sh
. "$here/results.sh"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The packages, and those of the next version, from a copy of this tree.
build()
{
	"$here/deb/build.sh" "$work" >/dev/null || return
	tar -xf "$work"/*.orig.tar.xz -C "$work"
	next=$(echo "$work"/ib-umad-*/)
	echo 99.0 >"$next/VERSION"
	sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="99.0"/' "$next/dkms.conf"
	"$next/scripts/deb/build.sh" "$work/next" >/dev/null
}

# count SUITE FILE: the results in FILE, which are counted here.
count()
{
	sed "s/^\(ok\|not ok\) /&$1: /" "$2" |
		grep -v '^[0-9]* passed, [0-9]* failed, ' || :
	count_sums=$(sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, .*/\1 \2/p' "$2")
	[ -n "$count_sums" ] || echo "not ok $1: no summary"
	# shellcheck disable=SC2086 # two numbers
	set -- ${count_sums:-0 1}
	passed=$((passed + $1))
	failed=$((failed + $2))
}

# in_root SUITE: what a package manager does.
in_root()
{
	"$here/debian-root.sh" "$1" "$here/check-packages-inside.sh" \
		"$here/results.sh" "$work"/*.deb "$work"/next/*.deb \
		>"$work/results" 2>&1 || :
	count "$1" "$work/results"
}

# booted SUITE: with Secure Boot, systemd and udev, in a guest. Its firmware trusts one key,
# which is Debian's for that and known to everybody; kernel and modules are signed by it.
booted()
{
	rm -rf "$work/out" "$work/serial"
	mkdir "$work/out"
	if UMAD_ROOT_OUT="$work/out" "$here/debian-root.sh" "$1" \
		"$here/boot-packages.sh" "$here/boot-packages-inside.sh" \
		"$here/results.sh" /usr/share/ovmf/PkKek-1-snakeoil.* \
		"$work"/*.deb >"$work/results" 2>&1; then
		guest >>"$work/results" 2>&1 || :
	fi
	if [ -e "$work/serial" ]; then
		# The firmware speaks there, too.
		tr -d '\r' <"$work/serial" | sed -n '/^# /,$p' >"$work/results"
		grep -q '^[0-9]* passed, ' "$work/results" ||
			tail -n 15 "$work/console" >>"$work/results"
	fi
	count "$1" "$work/results"
}

guest()
{
	cp /usr/share/OVMF/OVMF_VARS_4M.snakeoil.fd "$work/vars"
	sbsign --key "$work/out/key" --cert /usr/share/ovmf/PkKek-1-snakeoil.pem \
		--output "$work/out/signed" "$work/out/vmlinuz"
	timeout 900 qemu-system-x86_64 -machine q35,smm=on \
		-accel tcg,thread=multi -cpu max,la57=off -smp 2 -m 1G -nodefaults \
		-display none -no-reboot \
		-serial "file:$work/console" -serial "file:$work/serial" \
		-global driver=cfi.pflash01,property=secure,value=on \
		-drive if=pflash,unit=0,format=raw,readonly=on,file=/usr/share/OVMF/OVMF_CODE_4M.secboot.fd \
		-drive "if=pflash,unit=1,format=raw,file=$work/vars" \
		-kernel "$work/out/signed" -initrd "$work/out/initrd" \
		-append "console=ttyS0 root=/dev/vda rw panic=-1" \
		-drive "file=$work/out/disk,if=virtio,format=raw"
}

[ $# != 0 ] || set -- bookworm trixie
if check "packages: build" build; then
	for suite; do
		in_root "$suite"
		booted "$suite"
	done
fi
summary
