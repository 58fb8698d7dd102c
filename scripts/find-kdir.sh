#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Prints the folder to build the module against: the running kernel's headers,
# else the newest that are installed. With --release its kernel's release.
set -eu

release_of()
{
	sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' \
		"$1/include/generated/utsrelease.h"
}

kdir=/lib/modules/$(uname -r)/build
if [ ! -e "$kdir/Makefile" ]; then
	kdir=$(for dir in /lib/modules/*/build /usr/src/linux-headers-*-amd64; do
		[ ! -e "$dir/include/generated/utsrelease.h" ] ||
			echo "$(release_of "$dir") $dir"
	done | sort -V | tail -n 1 | cut -d' ' -f2)
fi
if [ -z "$kdir" ]; then
	echo "no kernel headers found; set KDIR or run scripts/install-deps.sh" >&2
	exit 1
fi
if [ "${1:-}" = --release ]; then
	release_of "$kdir"
else
	echo "$kdir"
fi
