#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Owns the cache of kernels outside the tree. "kernel-cache.sh PROFILE" makes
# sure that the kernel PROFILE is there and prints its folder, which holds
#
#	vmlinux	bootable by PVH		kdir	what modules are built against
#	modules	its own .ko files	release	the output of uname -r
#
# (profile "source" is the unpacked kernel source tree instead). How a profile
# is made stands in scripts/kernel/PROFILE.sh: profile_key prints everything
# the result depends on, profile_build fills the current folder. A folder
# appears under its final name only when it is complete.
set -eu

here=$(dirname "$(readlink -f "$0")")
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad
profile=${1:-}
recipe=$here/kernel/$profile.sh

say()
{
	echo "kernel-cache: $*" >&2
}

if [ -z "$profile" ] || [ ! -f "$recipe" ]; then
	say "usage: ${0##*/} PROFILE, one of:" "$(cd "$here/kernel" && echo ./*.sh |
		sed 's|\./||g; s|\.sh||g')"
	exit 2
fi

# For the recipes: the folder of another profile, made when missing.
kernel_source()
{
	"$here/kernel-cache.sh" source
}

# shellcheck source=/dev/null
. "$recipe"

key=$({ cat "$recipe"; profile_key; } | sha256sum | cut -c1-12)
dir=$cache/$profile-$key

if [ ! -d "$dir" ]; then
	mkdir -p "$cache"
	exec 9>"$cache/$profile.lock"
	flock 9
	# Whoever held the lock before us may have made it.
	if [ ! -d "$dir" ]; then
		say "making $profile in $dir (log: $dir.log)"
		start=$(date +%s)
		mkdir -p "$dir.partial"
		# No "||" behind it: that would switch set -e off inside.
		set +e
		(
			set -e
			cd "$dir.partial"
			profile_build
		) >"$dir.log" 2>&1 9>&-
		status=$?
		set -e
		if [ "$status" -ne 0 ]; then
			tail -n 25 "$dir.log" >&2
			say "$profile failed, see $dir.log"
			exit 1
		fi
		mv "$dir.partial" "$dir"
		say "$profile done in $(($(date +%s) - start)) s"
	fi
fi
echo "$dir"
