# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "headers-aarch64": for the builds of check-builds.sh. 64 bits, little endian.

suite_arch=arm64
# shellcheck source=scripts/kernel-headers.sh
. "${here:?}/kernel-headers.sh"
