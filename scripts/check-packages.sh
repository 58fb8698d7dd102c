#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "check-packages.sh [SUITE...]": installs, updates and removes the Debian packages in
# throw-away roots of Debian 12 and 13 with two kernels each, and does there what a kernel
# update does. Takes minutes, and the network the first time; needs root.
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

[ $# != 0 ] || set -- bookworm trixie
if check "packages: build" build; then
	for suite; do
		in_root "$suite"
	done
fi
summary
