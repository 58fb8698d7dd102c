# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "headers-i386": for the builds of check-builds.sh. 32 bits.

suite_arch=i386
suite_flavour=686-pae
# shellcheck source=scripts/kernel-headers.sh
. "${here:?}/kernel-headers.sh"
