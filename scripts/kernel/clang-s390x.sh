# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "clang-s390x": a small kernel with KUnit for s390x, big endian, by clang 16 and
# binutils: lld has no s390x.

machine=s390x
debian=s390x
arch=s390
variables='CC=clang-16 CROSS_COMPILE=s390x-linux-gnu- LLVM_IAS=0'
image=arch/s390/boot/bzImage
# shellcheck source=scripts/kernel-clang.sh
. "${here:?}/kernel-clang.sh"
