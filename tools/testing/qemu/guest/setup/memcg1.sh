# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Memory cgroups of version 1 in the place of version 2, each charged to the one above it.

set -e

umount /sys/fs/cgroup
mount -t cgroup -o memory cgroup /sys/fs/cgroup
# Kernels before 5.11 do it only if asked.
[ "$(cat /sys/fs/cgroup/memory.use_hierarchy)" = 1 ] ||
	echo 1 >/sys/fs/cgroup/memory.use_hierarchy
