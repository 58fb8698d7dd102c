# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "stock-6.1": the image of Debian's kernel that belongs to the
# installed linux-headers-amd64. Unpacked, never installed on this machine.

# Prints the "6.1.0-56-amd64" that linux-headers-amd64 stands for.
stock_release()
{
	dpkg-query -W -f '${Depends}\n' linux-headers-amd64 |
		grep -o '6\.1\.[^ ,]*-amd64' | head -n 1
}

stock_version()
{
	dpkg-query -W -f '${Version}\n' "linux-headers-$(stock_release)"
}

profile_key()
{
	stock_release
	stock_version
}

profile_build()
{
	rel=$(stock_release)
	test -n "$rel"
	headers=/usr/src/linux-headers-$rel
	test -e "$headers/Makefile"

	# A mirror keeps only the newest image: a failed download means that
	# the headers are to be brought up to date ("apt-get update && apt-get
	# install linux-headers-amd64").
	rm -rf ./*
	apt-get -o APT::Sandbox::User=root download \
		"linux-image-$rel=$(stock_version)"
	dpkg-deb -x "linux-image-$rel"_*.deb image
	"${here:?}/kernel/extract_vmlinux.py" "image/boot/vmlinuz-$rel" vmlinux

	mv "image/lib/modules/$rel" modules
	mkdir -p lib/modules
	ln -s ../../modules "lib/modules/$rel"
	depmod -b "$PWD" "$rel"
	rm -r lib image ./*.deb
	echo "$rel" >release
	ln -s "$headers" kdir
}
