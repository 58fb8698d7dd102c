# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "stock-5.10": the kernel of Debian 11, the oldest that compat/ reaches, for modules
# built by this Debian's gcc. Image and headers unpacked, neither installed.

suite=bullseye
# shellcheck source=scripts/kernel-suite.sh
. "${here:?}/kernel-suite.sh"

profile_build()
{
	rel=$(suite_release)
	test -n "$rel"
	rm -rf ./*
	suite_unpack download "linux-image-$rel" "linux-headers-$rel" \
		"linux-headers-${rel%-amd64}-common" "linux-kbuild-5.10"
	suite_profile "$rel"
	# gcc 10 is not in this Debian, and its binutils have no x32.
	sed -i 's/gcc-10/gcc-12/' kdir/.kernelvariables
	sed -i '/CONFIG_X86_X32/d' kdir/include/config/auto.conf
}
