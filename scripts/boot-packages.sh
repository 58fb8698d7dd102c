#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Runs in a root of Debian (debian-root.sh) that check-packages.sh has had made: installs
# the package, has boot-packages-inside.sh run once the system is up, and makes a file
# system of all of it. /packages has both, results.sh and the package.
set -eu

cd /packages
# Of the firmware in the guest; DKMS signs by it, as by one that a host has enrolled.
openssl rsa -in PkKek-1-snakeoil.key -passin pass:snakeoil -out /var/lib/dkms/boot.key
openssl x509 -in PkKek-1-snakeoil.pem -outform der -out /var/lib/dkms/boot.der
cat >>/etc/dkms/framework.conf <<EOF
mok_signing_key="/var/lib/dkms/boot.key"
mok_certificate="/var/lib/dkms/boot.der"
EOF
dpkg -i ib-umad-dkms_[0-8]*.deb ib-hwsim-dkms_[0-8]*.deb
# shellcheck disable=SC2012 # names of kernels
first=$(ls /lib/modules | sort -V | head -n 1)

cat >/etc/systemd/system/boot-packages.service <<EOF
[Unit]
Description=Tests of ib-umad-dkms
After=multi-user.target

[Service]
Type=oneshot
ExecStart=/bin/sh /packages/boot-packages-inside.sh
ExecStopPost=/bin/systemctl --no-block poweroff
StandardOutput=file:/dev/ttyS1
StandardError=file:/dev/ttyS1

[Install]
WantedBy=multi-user.target
EOF
ln -s ../boot-packages.service \
	/etc/systemd/system/multi-user.target.wants/boot-packages.service
# An initramfs that has ib_umad, as it may be on a host.
echo ib_umad >>/etc/initramfs-tools/modules
update-initramfs -c -k "$first"
cp "/boot/vmlinuz-$first" /out/vmlinuz
cp /var/lib/dkms/boot.key /out/key
cp "/boot/initrd.img-$first" /out/initrd
rm -rf /usr/src/linux-* /boot/initrd.img-*
