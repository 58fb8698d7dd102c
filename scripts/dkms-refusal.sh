#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "dkms-refusal.sh MODULE RELEASE [ROOT [PID]]": prints in one sentence why ib_umad or
# ib_hwsim is not built for this kernel, and nothing if it may be. dkms.conf asks, and with
# it DKMS. ROOT is where /lib/modules and /usr/src are (see check-dkms.sh). With PID, that
# of "dkms autoinstall", a build that fails is a reason too: DKMS would take it for an error,
# and the package manager would leave the new kernel without its initramfs.
set -eu

here=$(dirname "$(readlink -f "$0")")
module=$1
release=$2
root=${3:-}
pid=${4:-}
modules=$root/lib/modules/$release

# The series that the module's tests ran on; to be raised with each release.
case $module in
ib_umad)
	oldest=5.10
	newest=7.2
	;;
ib_hwsim)
	oldest=6.1
	newest=7.2
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

# Where DKMS builds the module from, in the copy of the sources.
case $module in
ib_umad) build_in=. ;;
ib_hwsim) build_in=drivers/infiniband/sw/ib_hwsim ;;
esac

# try_build LOG: builds the module as DKMS will, and throws it away.
try_build()
{
	# Always the same, if nobody else builds, so that ccache knows what it has seen.
	try_dir=$root/run/$module-try
	mkdir "$try_dir" 2>/dev/null || try_dir=$(mktemp -d)
	trap 'rm -rf "$try_dir"' EXIT
	cp -r "$here/.." "$try_dir/tree"
	set -- "$1" CONFIG_DEBUG_INFO_BTF_MODULES= KCFLAGS=-g0
	! configured CONFIG_CC_IS_CLANG=y || set -- "$@" CC=clang
	! configured CONFIG_LD_IS_LLD=y || set -- "$@" LD=ld.lld
	try_log=$1
	shift
	mkdir -p "${try_log%/*}"
	make -j"$(nproc)" -C "$modules/build" M="$try_dir/tree/$build_in" "$@" \
		modules >"$try_log" 2>&1
}

# does_not_build LOG: DKMS asks more than once; it is tried once for each DKMS.
does_not_build()
{
	started=$(sed 's/.*) //' "/proc/$pid/stat" | cut -d' ' -f20)
	verdict=$root/run/$module-$release-$pid-$started
	if [ ! -e "$verdict" ]; then
		mkdir -p "$root/run"
		if (try_build "$1"); then
			rm -f "$1"
			echo builds >"$verdict"
		else
			echo fails >"$verdict"
		fi
	fi
	[ "$(cat "$verdict")" = fails ]
}

key=$(series_key "$release")
log=$root/var/log/dkms-$module-$release.log
if [ -z "$key" ] || [ "$key" -lt "$(series_key $oldest)" ]; then
	echo "it needs Linux $oldest"
elif [ "$key" -gt "$(series_key $newest)" ]; then
	echo "the newest tested series is $newest"
elif configured '# CONFIG_INFINIBAND is not set'; then
	echo "the kernel has no InfiniBand (CONFIG_INFINIBAND)"
elif [ "$module" = ib_umad ] && configured CONFIG_INFINIBAND_USER_MAD=y; then
	echo "the kernel has its own ib_umad built in (CONFIG_INFINIBAND_USER_MAD=y)"
elif foreign=$(foreign_core | grep -m 1 .); then
	echo "MLNX_OFED or DOCA-OFED has an ib_core of its own ($foreign)"
elif [ -n "$pid" ] && [ -e "$modules/build/Makefile" ] && does_not_build "$log"; then
	echo "the build fails, see $log"
fi
