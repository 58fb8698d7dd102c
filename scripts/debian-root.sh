#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "debian-root.sh SUITE": makes sure that the cache has a root of this Debian with two
# kernels, their headers, DKMS and systemd, and prints its directory. "debian-root.sh SUITE
# SCRIPT [FILE...]" runs the shell script SCRIPT in a copy that is thrown away afterwards,
# with each FILE in /packages, DKMS' compilers by way of the cache's ccache, and no network.
# With UMAD_ROOT_OUT=DIRECTORY, SCRIPT has it as /out, and afterwards DIRECTORY/disk is a
# file system of that copy. Needs root, and overlayfs.
set -eu

suite=$1
shift
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad
packages=dkms,ccache,kmod,initramfs-tools,udev,systemd-sysv,rdma-core,dbus,openssl
packages=$packages,iproute2,xz-utils,zstd,opensm,linux-image-amd64,linux-headers-amd64
# The second kernel: a newer series, or else another flavour.
case $suite in
bookworm)
	backports=linux-image-amd64,linux-headers-amd64
	;;
trixie)
	packages=$packages,linux-image-rt-amd64,linux-headers-rt-amd64
	backports=
	;;
*)
	echo "usage: ${0##*/} bookworm|trixie [SCRIPT [FILE...]]" >&2
	exit 2
	;;
esac

key=$(echo "$suite $packages $backports" | sha256sum | cut -c1-12)
dir=$cache/root-$suite-$key

# In the root itself, once: a kernel of backports beside that of the suite.
add_backports()
{
	echo "deb http://deb.debian.org/debian $suite-backports main" \
		>"$1/etc/apt/sources.list.d/backports.list"
	chroot "$1" apt-get -q update
	# shellcheck disable=SC2046 # a list of packages
	DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get -q -y \
		--no-install-recommends -t "$suite-backports" install \
		$(echo "$backports" | tr , ' ')
}

make_root()
{
	mmdebstrap --variant=apt --include="$packages" \
		--aptopt='APT::Install-Recommends "false"' \
		--dpkgopt=force-unsafe-io \
		"$suite" "$1" http://deb.debian.org/debian
	[ -z "$backports" ] || add_backports "$1"
	chroot "$1" apt-get clean
	rm -rf "$1"/var/lib/apt/lists/*
}

if [ ! -d "$dir" ]; then
	mkdir -p "$cache"
	exec 9>"$cache/root-$suite.lock"
	flock 9
	if [ ! -d "$dir" ]; then
		rm -rf "$dir.partial"
		make_root "$dir.partial" >"$dir.log" 2>&1 || {
			tail -n 25 "$dir.log" >&2
			exit 1
		}
		mv "$dir.partial" "$dir"
	fi
	exec 9>&-
fi
if [ $# = 0 ]; then
	echo "$dir"
	exit
fi

# The rest in a mount namespace of its own, which ends with it.
if [ -z "${UMAD_ROOT_INSIDE:-}" ]; then
	work=$(mktemp -d "$cache/root.XXXXXX")
	trap 'rm -rf "$work"' EXIT
	UMAD_ROOT_INSIDE=$work unshare --mount --pid --net --fork --kill-child \
		"$0" "$suite" "$@"
	exit
fi
work=$UMAD_ROOT_INSIDE
mkdir "$work/upper" "$work/work" "$work/root"
root=$work/root
mount -t overlay overlay -o \
	"lowerdir=$dir,upperdir=$work/upper,workdir=$work/work" "$root"
mount -t proc proc "$root/proc"
mount -t tmpfs tmpfs "$root/run"
mount --rbind /dev "$root/dev"
mkdir -p "$root/packages" "$root/ccache" "$cache/ccache"
mount --bind "$cache/ccache" "$root/ccache"
cp "$@" "$root/packages"
if [ -n "${UMAD_ROOT_OUT:-}" ]; then
	mkdir "$root/out"
	mount --bind "$UMAD_ROOT_OUT" "$root/out"
fi
chroot "$root" env -i HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
	CCACHE_DIR=/ccache CCACHE_COMPILERCHECK=content \
	PATH=/usr/lib/ccache:/usr/sbin:/usr/bin:/sbin:/bin sh "/packages/${1##*/}"
[ -n "${UMAD_ROOT_OUT:-}" ] || exit 0
umount -l "$root/out" "$root/ccache" "$root/run" "$root/proc"
umount -R -l "$root/dev"
mkfs.ext4 -q -d "$root" "$UMAD_ROOT_OUT/disk" 6G
