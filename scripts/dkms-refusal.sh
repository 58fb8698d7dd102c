#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "dkms-refusal.sh MODULE RELEASE [ROOT]": prints in one sentence why ib_umad or ib_hwsim
# is not built for this kernel, and nothing if it may be. dkms.conf asks, and with it
# DKMS. ROOT is where /lib/modules and /usr/src are (see check-dkms.sh).
set -eu

module=$1
release=$2
root=${3:-}
modules=$root/lib/modules/$release

# The series that the module's tests ran on; to be raised with each release.
case $module in
ib_umad)
	oldest=6.1
	newest=7.2
	;;
ib_hwsim)
	oldest=6.1
	newest=6.1
	;;
*)
	echo "usage: ${0##*/} ib_umad|ib_hwsim RELEASE [ROOT]" >&2
	exit 2
	;;
esac

# series_key 6.12.3-amd64: a number that grows with the series.
series_key()
{
	echo "$1" | sed -n 's/^\([0-9]*\)\.\([0-9]*\).*/\1 \2/p' | {
		read -r major minor || exit 0
		echo $((major * 1000 + minor))
	}
}

# An ib_core that did not come with the kernel: MLNX_OFED and DOCA-OFED replace all of
# the RDMA stack, and our module would not load there. Their DKMS packages may build it
# for this kernel later than DKMS asks here.
foreign_core()
{
	for core_dir in "$root"/usr/src/ofa_kernel "$root"/usr/src/ofa_kernel-* \
		"$root"/usr/src/mlnx-ofed-kernel-* \
		"$root"/var/lib/dkms/mlnx-ofed-kernel; do
		[ ! -e "$core_dir" ] || echo "$core_dir"
	done
	for core_dir in updates extra weak-updates; do
		[ ! -d "$modules/$core_dir" ] ||
			find "$modules/$core_dir" -name 'ib_core.ko*'
	done
}

# configured LINE: the kernel's configuration, from its headers or beside its image, has
# it; without one it is unknown, which is no.
configured()
{
	for config in "$modules/build/.config" "$modules/config" \
		"$root/boot/config-$release"; do
		[ -r "$config" ] || continue
		grep -qx "$1" "$config"
		return
	done
	return 1
}

key=$(series_key "$release")
if [ -z "$key" ] || [ "$key" -lt "$(series_key $oldest)" ]; then
	echo "it needs Linux $oldest"
elif [ "$key" -gt "$(series_key $newest)" ]; then
	echo "the newest tested series is $newest"
elif configured '# CONFIG_INFINIBAND is not set'; then
	echo "the kernel has no InfiniBand (CONFIG_INFINIBAND)"
elif [ "$module" = ib_umad ] && configured CONFIG_INFINIBAND_USER_MAD=y; then
	echo "the kernel has its own ib_umad built in (CONFIG_INFINIBAND_USER_MAD=y)"
else
	foreign=$(foreign_core | head -n 1)
	[ -z "$foreign" ] ||
		echo "MLNX_OFED or DOCA-OFED has an ib_core of its own ($foreign)"
fi
