# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "headers-rt": for the builds of check-builds.sh. PREEMPT_RT.

suite_flavour=rt-amd64
headers_common=common-rt
# shellcheck source=scripts/kernel-headers.sh
. "${here:?}/kernel-headers.sh"
