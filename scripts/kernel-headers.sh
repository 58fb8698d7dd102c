# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# For recipes of kernel-cache.sh that only build: headers of Debian 12's kernel for another
# architecture or flavour, and this machine's kbuild. They set what kernel-suite.sh wants,
# and "headers_common", the name of what all flavours have in common.

suite=bookworm
# shellcheck source=scripts/kernel-suite.sh
. "${here:?}/kernel-suite.sh"

profile_key()
{
	cat "$here/kernel-headers.sh"
	suite_key
}

profile_build()
{
	rel=$(suite_release)
	test -n "$rel"
	rm -rf ./*
	suite_unpack download "linux-headers-$rel" \
		"linux-headers-${rel%-"${suite_flavour:?}"}-${headers_common:-common}" \
		"linux-kbuild-${rel%.*}:amd64"
	echo "$rel" >release
	headers=root/usr/src/linux-headers-$rel
	sed -i "s|/usr/src/|${dir:?}/root/usr/src/|" "$headers/Makefile"
	ln -s "$headers" kdir
}
