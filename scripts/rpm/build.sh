#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "build.sh [DIRECTORY]": builds the packages ib-umad-dkms and ib-hwsim-dkms as RPMs, with
# their source package, and puts them in DIRECTORY, by default in the cache. Prints their
# names.
set -eu

here=$(dirname "$(readlink -f "$0")")
out=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad/packages}
out=$(mkdir -p "$out" && readlink -f "$out")
version=$(cat "$here/../../VERSION")
work=$(mktemp -d "$out/rpm.XXXXXX")
trap 'rm -rf "$work"' EXIT

mkdir "$work/SOURCES" "$work/SPECS"
tarball=$("$here/../dist.sh" "$work/SOURCES")
SOURCE_DATE_EPOCH=$(tar -tvf "$tarball" --full-time --utc |
	sed -n '1s/^[^ ]* *[^ ]* *[^ ]* *\([^ ]* [^ ]*\) .*/\1/p' |
	date -u -f - +%s)
export SOURCE_DATE_EPOCH
sed -e "s/@VERSION@/$version/" \
	-e "s/@DATE@/$(LC_ALL=C date -u -d "@$SOURCE_DATE_EPOCH" '+%a %b %d %Y')/" \
	"$here/ib-umad.spec.in" >"$work/SPECS/ib-umad.spec"
# Without RPM's own database, as on Debian, it cannot know what is installed.
if ! rpmbuild -ba --nodeps --define "_topdir $work" \
	--define 'use_source_date_epoch_as_buildtime 1' \
	--define 'clamp_mtime_to_source_date_epoch 1' \
	--define '_buildhost localhost' \
	"$work/SPECS/ib-umad.spec" >"$work/log" 2>&1; then
	tail -n 40 "$work/log" >&2
	exit 1
fi
mv "$work/SPECS/ib-umad.spec" "$work"/SRPMS/*.rpm "$work"/RPMS/noarch/*.rpm "$out"
ls "$out/ib-umad.spec" "$out/ib-umad-$version"-*.src.rpm \
	"$out"/ib-*-dkms-"$version"-*.noarch.rpm
