#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Installs the Debian packages that are missing for building the module
# ("build"), for DKMS ("dkms"), for packages of it ("deb", "rpm") and their test
# ("packages"), for the documents as HTML ("docs"), for a demonstration in a guest ("demo"
# or "demo-fabric"), for the table of programs ("acceptance"), for all checks
# ("check"), or for those and other kernels and architectures ("kernels"). Says what it installs; with nothing missing it is quick and needs neither the network nor root. The headers of a kernel are installed for
# guests only; for the host's kernels, and without dpkg, it says what is missing.
set -eu

here=$(dirname "$(readlink -f "$0")")
build='gcc libc6-dev make'
dkms="$build dkms rsync"
deb='build-essential debhelper dh-dkms dpkg-dev lintian rsync xz-utils'
rpm='rpm rpmlint rsync xz-utils'
packages="$deb e2fsprogs mmdebstrap ovmf qemu-system-x86 sbsigntool"
# The kernel of a guest is this Debian's, or comes with its headers. Both are of gcc 12.
headers=linux-headers-amd64
[ "$("$here/demo-kernel.sh")" = stock-6.1 ] || headers="gcc-12 zstd"
demo="$build $headers busybox-static dash ibverbs-providers ibverbs-utils
	infiniband-diags iproute2 kmod libibumad-dev python3 qemu-system-x86
	rdma-core rsync"
docs='graphviz linux-source-6.1 perl python3-sphinx xz-utils'
fabric="$demo ibsim-utils opensm"
acceptance="$fabric libibmad-dev mmdebstrap squashfs-tools zstd"
check="$fabric $docs $deb $rpm bc bison ccache clang dkms flex gcc-multilib
	libclang-rt-dev libelf-dev libibmad-dev libssl-dev liburing-dev patchelf shellcheck sparse zstd"
kernels="$check binutils-s390x-linux-gnu clang-16 lld llvm qemu-system-arm
	qemu-system-misc"

case ${1:-check} in
build) wanted=$build ;;
dkms) wanted=$dkms ;;
deb) wanted=$deb ;;
rpm) wanted=$rpm ;;
packages) wanted=$packages ;;
docs) wanted=$docs ;;
demo) wanted=$demo ;;
demo-fabric) wanted=$fabric ;;
acceptance) wanted=$acceptance ;;
check) wanted=$check ;;
kernels) wanted=$kernels ;;
*)
	echo "usage: ${0##*/} [build|dkms|deb|rpm|packages|docs|demo|demo-fabric|acceptance|" \
		"check|kernels]" >&2
	exit 2
	;;
esac

# The host's own headers come from where its kernel comes from.
case ${1:-check} in
build | dkms) "$here/find-kdir.sh" >/dev/null || exit 1 ;;
esac

if ! command -v dpkg-query >/dev/null; then
	case ${1:-check} in
	build) commands='gcc make' ;;
	dkms) commands='gcc make dkms rsync' ;;
	*)
		echo "${0##*/}: '${1:-check}' needs Debian" >&2
		exit 1
		;;
	esac
	missing=
	for program in $commands; do
		command -v "$program" >/dev/null || missing="$missing $program"
	done
	[ -n "$missing" ] || exit 0
	echo "${0##*/}: please install:$missing" >&2
	exit 1
fi

missing=
for package in $wanted; do
	status=$(dpkg-query -W -f '${db:Status-Abbrev}' "$package" 2>/dev/null) ||
		status=
	case $status in
	ii*) ;;
	*) missing="$missing $package" ;;
	esac
done
[ -n "$missing" ] || exit 0

as_root=
if [ "$(id -u)" != 0 ]; then
	as_root=sudo
	command -v sudo >/dev/null || {
		echo "not root and no sudo; please install:$missing" >&2
		exit 1
	}
fi

echo "Installing Debian packages:$missing"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
# shellcheck disable=SC2086 # a list of packages
if ! {
	$as_root apt-get -q -o DPkg::Lock::Timeout=300 update &&
		$as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
			-o DPkg::Lock::Timeout=300 \
			install --no-install-recommends $missing
} >"$log" 2>&1; then
	tail -n 30 "$log" >&2
	exit 1
fi
