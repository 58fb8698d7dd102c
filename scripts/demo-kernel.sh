#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Prints the profile (kernel-cache.sh) of the kernel that demonstrations run on: Debian 12's
# on Debian 12, which has its headers, and else that of its backports, which is fetched with
# its headers.
set -eu

case $(. /etc/os-release 2>/dev/null && echo "$ID-${VERSION_ID:-}") in
debian-12) echo stock-6.1 ;;
*) echo stock-6.12 ;;
esac
