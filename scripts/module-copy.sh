#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "module-copy.sh [--hwsim] FOLDER [MORE...]": copies what is needed to build ib_umad, or
# ib_hwsim, and to hand it to DKMS, from the source tree to FOLDER, and the files or
# folders MORE. Kbuild writes beside the sources; whoever wants the tree to stay clean
# builds in such a copy. What was built there before is kept; a file that differs gets the
# time of now, however old the one it comes from, so that make sees it.
set -eu

root=$(dirname "$(dirname "$(readlink -f "$0")")")
parts='LICENSES scripts/dkms-refusal.sh'
if [ "$1" = --hwsim ]; then
	shift
	parts="$parts drivers/infiniband/sw/ib_hwsim include/uapi/rdma/ib_hwsim.h"
else
	parts="$parts Kbuild VERSION dkms.conf drivers/infiniband/umad
		include/uapi/rdma/ib_user_mad.h"
fi
target=$(mkdir -p "$1" && readlink -f "$1")
shift
cd "$root"
# shellcheck disable=SC2086 # a list of files
for part in $parts "$@"; do
	[ ! -e "$part" ] || echo "$part"
done | rsync -rlpcR --delete --files-from=- -r --exclude='*.o' --exclude='*.ko' \
	--exclude='*.mod' --exclude='*.mod.c' --exclude='.*.cmd' \
	--exclude='modules.order' --exclude='Module.symvers' . "$target"
