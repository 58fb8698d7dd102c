#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Builds the module and the test modules for each newer kernel, for other architectures
# and flavours of Debian 12's, and by clang, with W=1: make has to say nothing. For Debian
# 12's kernel and gcc, check-static.sh does that, and sparse.
set -eu

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/results.sh
. "$here/results.sh"

export CCACHE_DIR="${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad/ccache"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
everywhere='. drivers/infiniband/sw/ib_hwsim tools/testing/rmpp_peer'
# Of x86-64: it takes over a function when that is called.
folders="$everywhere tools/testing/race_mod"

# build PROFILE [COMPILER] [VARIABLE...]: the compiler is that of the kernel by default.
build()
{
	# What it says when it makes one is no message of a build.
	dir=$("$here/kernel-cache.sh" "$1" 2>"$work/log") || {
		cat "$work/log"
		return 1
	}
	kdir=$(readlink -f "$dir/kdir")
	cc=${2:-$(sed -n 's/^CONFIG_CC_VERSION_TEXT="\([^ "]*\).*/\1/p' "$kdir/.config")}
	shift $(($# > 1 ? 2 : 1))
	rm -rf "$work/copy"
	"$here/module-copy.sh" "$work/copy" drivers/infiniband/sw/ib_hwsim \
		include/uapi/rdma/ib_hwsim.h tools/testing/rmpp_peer \
		tools/testing/race_mod
	for folder in $folders; do
		# Headers without vmlinux: no BTF, and no message about that.
		make -s -j"$(nproc)" -C "$kdir" M="$work/copy/$folder" W=1 \
			CC="ccache $cc" CONFIG_DEBUG_INFO_BTF_MODULES= "$@" \
			modules 2>&1 || return
	done
}

for profile in stock-6.12 stock-7; do
	check "builds: gcc W=1, $profile" build "$profile" || :
done
# ib_hwsim is not for kernels before 6.1, and gcc 10 is not in this Debian.
folders=.
check "builds: gcc W=1, stock-5.10" build stock-5.10 gcc-12 || :
folders="$everywhere tools/testing/race_mod"
check "builds: gcc W=1, PREEMPT_RT" build headers-rt gcc-12 || :
check "builds: clang W=1, x86-64" build clang-x86 clang || :
folders=$everywhere
check "builds: clang W=1, arm64" build clang-arm64 clang || :
# Its asm/io.h, without PCI, is what clang warns of.
check "builds: clang W=1, s390x" build clang-s390x clang-16 \
	KCFLAGS=-Wno-null-pointer-arithmetic || :
# Debian's cross compilers exclude gcc-multilib, which the selftests need: so they are for
# whoever installs them.
for arch in aarch64 s390x; do
	cross=$arch-linux-gnu-
	if command -v "${cross}gcc-12" >/dev/null; then
		check "builds: gcc W=1, $arch" build "headers-$arch" "${cross}gcc-12" \
			CROSS_COMPILE="$cross" || :
	else
		skip "builds: gcc W=1, $arch: there is no ${cross}gcc-12"
	fi
done
check "builds: gcc W=1, i386" build headers-i386 gcc-12 || :
summary
