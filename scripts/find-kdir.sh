#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Prints the directory to build the module against: the running kernel's headers,
# else the newest that are installed. With --release its kernel's release, with --all
# the release of each kernel below /lib/modules that has headers. UMAD_DKMS_ROOT is
# where to look for these (see check-dkms.sh).
set -eu

modules=${UMAD_DKMS_ROOT:-}/lib/modules

release_of()
{
	sed -n 's/^#define UTS_RELEASE "\(.*\)"$/\1/p' \
		"$1/include/generated/utsrelease.h"
}

# has_headers DIRECTORY: one that modules can be built against.
has_headers()
{
	[ -e "$1/Makefile" ] && [ -e "$1/include/generated/utsrelease.h" ]
}

if [ "${1:-}" = --all ]; then
	for dir in "$modules"/*/build; do
		! has_headers "$dir" || basename "$(dirname "$dir")"
	done | sort -V
	exit
fi

kdir=$modules/$(uname -r)/build
if ! has_headers "$kdir"; then
	# Debian and Ubuntu, Fedora and RHEL have theirs in /usr/src.
	kdir=$(for dir in "$modules"/*/build /usr/src/linux-headers-* \
		/usr/src/kernels/*; do
		! has_headers "$dir" || echo "$(release_of "$dir") $dir"
	done | sort -V | tail -n 1 | cut -d' ' -f2)
fi
if [ -z "$kdir" ]; then
	running=$(uname -r)
	echo "no kernel headers found; set KDIR, or install those of the running" \
		"kernel: linux-headers-$running on Debian and Ubuntu," \
		"kernel-devel-$running on Fedora and RHEL" >&2
	exit 1
fi
if [ "${1:-}" = --release ]; then
	release_of "$kdir"
else
	echo "$kdir"
fi
