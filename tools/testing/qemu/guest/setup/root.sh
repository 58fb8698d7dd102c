# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# The root of a plan's key "root" at /debian, writable; its programs can be called by
# name, in place of those of the host.

# shellcheck source=tools/testing/qemu/guest/lib.sh
. /xt/lib.sh
set -e

modprobe -a virtio_pci virtio_blk squashfs overlay
xt_wait 10 test -b /dev/vda
mkdir -p /debian /image /over
mount -t squashfs -o ro /dev/vda /image
mount -t tmpfs tmpfs /over
mkdir /over/upper /over/work
mount -t overlay -o lowerdir=/image,upperdir=/over/upper,workdir=/over/work \
	overlay /debian
for dir in dev proc sys tmp run; do
	mount --bind "/$dir" "/debian/$dir"
done
mount --bind /sys/kernel/debug /debian/sys/kernel/debug
mkdir /usr/local/root
while read -r program; do
	# shellcheck disable=SC2016 # for the wrapper
	printf '#!/bin/sh\nexec chroot /debian %s "$@"\n' "$program" \
		>"/usr/local/root/$program"
	chmod +x "/usr/local/root/$program"
done </debian/programs.txt
echo "PATH=/usr/local/root:$PATH" >>/xt/lib.sh
