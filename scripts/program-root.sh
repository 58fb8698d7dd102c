#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "program-root.sh SUITE": makes sure that the cache has a squashfs image of a root of this
# Debian with the programs that use ib_umad, all from its packages, and prints its path.
# The image's /programs.txt has their names. Needs root, mmdebstrap and mksquashfs.
set -eu

suite=$1
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad
packages=infiniband-diags,opensm,ibutils,ucx-utils,opa-fm,opa-basic-tools,opa-fastfabric
packages=$packages,mstflint,pcp,pcp-pmda-infiniband,libibumad-dev,python3-minimal,expect
case $suite in
bookworm | trixie) ;;
*)
	echo "usage: ${0##*/} bookworm|trixie" >&2
	exit 2
	;;
esac

key=$(echo "$suite $packages 1" | sha256sum | cut -c1-12)
image=$cache/programs-$suite-$key.squashfs
if [ ! -e "$image" ]; then
	mkdir -p "$cache"
	exec 9>"$cache/programs-$suite.lock"
	flock 9
fi
if [ ! -e "$image" ]; then
	work=$(mktemp -d "$cache/programs.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	log=$image.log
	# shellcheck disable=SC2016 # for the shells of mmdebstrap
	{
		mmdebstrap --variant=apt --include="$packages" \
			--aptopt='APT::Install-Recommends "false"' \
			"$suite" "$work/root" http://deb.debian.org/debian &&
			for package in $(echo "$packages" | tr , ' '); do
				chroot "$work/root" dpkg -L "$package"
			done | sed -n 's|^/usr/s\{0,1\}bin/||p' | sort -u \
				>"$work/root/programs.txt" &&
			rm -rf "$work/root/usr/share/doc" "$work/root/usr/share/man" \
				"$work"/root/var/lib/apt/lists/* \
				"$work"/root/var/cache/apt/* &&
			mksquashfs "$work/root" "$work/image" -comp zstd -noappend \
				-no-progress
	} >"$log" 2>&1 || {
		tail -n 25 "$log" >&2
		exit 1
	}
	mv "$work/image" "$image"
fi
echo "$image"
