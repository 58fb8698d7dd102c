#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "dist.sh [DIRECTORY]": makes the release tarball of this tree in DIRECTORY, by default
# in the cache, and prints its name. It has what git knows; in an unpacked tarball, all
# but what a build leaves. The same files give the same bytes: the time in it is
# that of the commit, or else of the file VERSION.
set -eu

here=$(dirname "$(readlink -f "$0")")
out=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad/packages}
out=$(mkdir -p "$out" && readlink -f "$out")
cd "$here/.."
name=ib-umad-$(cat VERSION)

has_git()
{
	[ -e .git ] && command -v git >/dev/null
}

dist_files()
{
	if has_git; then
		git ls-files
	else
		find . -name __pycache__ -prune -o -type f ! -name '*.o' \
			! -name '*.ko' ! -name '*.mod' ! -name '*.mod.c' \
			! -name '.*.cmd' ! -name modules.order \
			! -name Module.symvers -print | sed 's|^\./||'
	fi
}

if [ -n "${SOURCE_DATE_EPOCH:-}" ]; then
	epoch=$SOURCE_DATE_EPOCH
elif has_git; then
	epoch=$(git log -1 --format=%ct)
else
	epoch=$(stat -c %Y VERSION)
fi
work=$(mktemp -d "$out/dist.XXXXXX")
trap 'rm -rf "$work"' EXIT
dist_files | LC_ALL=C sort >"$work/files"
# Not through a pipe: tar's failure must not be lost.
LC_ALL=C tar --create --format=ustar --owner=0 --group=0 --numeric-owner \
	--mode=u=rwX,go=rX --mtime="@$epoch" --transform="s|^|$name/|S" \
	--no-recursion --files-from="$work/files" --file="$work/$name.tar"
xz -9 --threads=1 "$work/$name.tar"
mv "$work/$name.tar.xz" "$out"
echo "$out/$name.tar.xz"
