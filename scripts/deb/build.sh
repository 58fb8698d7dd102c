#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "build.sh [DIRECTORY]": builds the Debian source package ib-umad and its packages
# ib-umad-dkms and ib-hwsim-dkms, and puts them in DIRECTORY, by default in the cache. The
# same files give the same bytes. Prints the names of the packages.
set -eu

here=$(dirname "$(readlink -f "$0")")
out=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad/packages}
out=$(mkdir -p "$out" && readlink -f "$out")
version=$(cat "$here/../../VERSION")
# Below the one that a distribution would begin with.
revision=1~local1
work=$(mktemp -d "$out/deb.XXXXXX")
trap 'rm -rf "$work"' EXIT

tarball=$("$here/../dist.sh" "$work")
mv "$tarball" "$work/ib-umad_$version.orig.tar.xz"
cd "$work"
tar -xf "ib-umad_$version.orig.tar.xz"
cd "ib-umad-$version"
cp -r "$here/debian" debian

# The file VERSION is the only place that has the version; what a version brings is in
# git's log.
SOURCE_DATE_EPOCH=$(stat -c %Y VERSION)
export SOURCE_DATE_EPOCH
mkdir -p debian/source
echo "3.0 (quilt)" >debian/source/format
cat >debian/changelog <<EOF
ib-umad ($version-$revision) unstable; urgency=medium

  * Version $version.

 -- $(sed -n 's/^Maintainer: //p' debian/control)  $(date -R -u -d "@$SOURCE_DATE_EPOCH")
EOF

if ! DEB_BUILD_OPTIONS=nocheck dpkg-buildpackage -us -uc >"$work/log" 2>&1; then
	tail -n 40 "$work/log" >&2
	exit 1
fi
cd "$work"
mv ib-umad_* ./*.deb "$out"
ls "$out/ib-umad_$version-$revision.dsc" \
	"$out"/ib-*-dkms_"$version-$revision"_all.deb
