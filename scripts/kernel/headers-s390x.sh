# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "headers-s390x": for the builds of check-builds.sh. 64 bits, big endian.

suite_arch=s390x
# shellcheck source=scripts/kernel-headers.sh
. "${here:?}/kernel-headers.sh"
