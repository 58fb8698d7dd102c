# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "clang-arm64": a small kernel with KUnit for arm64, by clang and lld.

machine=aarch64
debian=arm64
arch=arm64
variables='LLVM=1'
image=arch/arm64/boot/Image
# shellcheck source=scripts/kernel-clang.sh
. "${here:?}/kernel-clang.sh"
