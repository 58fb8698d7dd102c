# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "source-7": the source of sid's newest kernel, unpacked, for "debug-7".

suite=sid
# shellcheck source=scripts/kernel-suite.sh
. "${here:?}/kernel-suite.sh"

profile_build()
{
	rel=$(suite_release)
	test -n "$rel"
	# "7.2.13+deb14-amd64"
	series=$(echo "$rel" | cut -d. -f-2)
	rm -rf ./*
	suite_unpack download "linux-source-$series"
	tar -xf "root/usr/src/linux-source-$series.tar.xz" --strip-components=1
	rm -r root
}
