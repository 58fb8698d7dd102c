# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "stock-6.12": the kernel of bookworm-backports, which is that of Debian 13
# built by this Debian's gcc. Image and headers unpacked, neither installed.

suite=bookworm-backports
# shellcheck source=scripts/kernel-suite.sh
. "${here:?}/kernel-suite.sh"

profile_build()
{
	rel=$(suite_release)
	test -n "$rel"
	rm -rf ./*
	suite_unpack download "linux-image-$rel" "linux-headers-$rel" \
		"linux-headers-${rel%-amd64}-common" "linux-kbuild-${rel%-amd64}"
	suite_profile "$rel"
}
