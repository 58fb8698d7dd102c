# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "stock-7": the newest kernel of sid, its headers, and the compiler that they
# are for, with its libraries. All unpacked, nothing installed.

suite=sid
# shellcheck source=scripts/kernel-suite.sh
. "${here:?}/kernel-suite.sh"

profile_build()
{
	rel=$(suite_release)
	test -n "$rel"
	rm -rf ./*
	suite_unpack install "linux-headers-$rel" "linux-binary-$rel" \
		"linux-modules-$rel"
	suite_profile "$rel"
	suite_toolchain
}
