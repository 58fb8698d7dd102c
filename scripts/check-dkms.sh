#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Does with DKMS what a user does: add, build, install, remove, against the
# installed headers. All below a temporary folder with the modules of Debian's
# kernel in it, so that it is seen that ours comes before the in-tree one, and
# that the machine stays as it was.
set -eu

# DKMS wants to be root.
[ "$(id -u)" = 0 ] || exec sudo env HOME="$HOME" \
	XDG_CACHE_HOME="${XDG_CACHE_HOME:-$HOME/.cache}" "$(readlink -f "$0")" "$@"

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/results.sh
. "$here/results.sh"

stock=$("$here/kernel-cache.sh" stock-6.1)
release=$(cat "$stock/release")
version=$(cat "$here/../VERSION")
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
modules=$root/lib/modules/$release
export UMAD_DKMS_ROOT="$root"

mkdir -p "$modules/kernel/drivers/infiniband"
# A copy: DKMS may move an original module away.
cp -a "$stock/modules/kernel/drivers/infiniband/core" \
	"$modules/kernel/drivers/infiniband"
cp "$stock/modules/modules.order" \
	"$stock"/modules/modules.builtin* "$modules"
ln -s "$(readlink -f "$stock/kdir")" "$modules/build"

# These read what depmod made of it.
module_file()
{
	modprobe -d "$root" -S "$release" --show-depends ib_umad |
		sed -n 's|^insmod \(.*/ib_umad\.ko\) *$|\1|p'
}

is_module_file()
{
	[ "$(module_file)" = "$modules/$1" ] || {
		echo "modprobe takes '$(module_file)', not $1"
		return 1
	}
}

has_field()
{
	modinfo -F "$1" "$modules/updates/dkms/ib_umad.ko" |
		grep -q -- "$2" || {
		echo "$1 is '$(modinfo -F "$1" "$modules/updates/dkms/ib_umad.ko")'"
		return 1
	}
}

quietly()
{
	quiet_output=$("$@" 2>&1) || {
		echo "$quiet_output"
		cat "$root"/var/lib/dkms/ib-umad/*/build/make.log 2>/dev/null
		return 1
	}
}

is_gone()
{
	find "$root/var/lib/dkms" "$root/usr/src" "$modules/updates" \
		-name '*umad*' 2>/dev/null || :
}

depmod -b "$root" "$release"
check "dkms: in-tree ib_umad before" \
	is_module_file kernel/drivers/infiniband/core/ib_umad.ko || :
if check "dkms: add, build, install" \
	quietly "$here/dkms.sh" install "$release"; then
	check "dkms: modprobe takes ours" \
		is_module_file updates/dkms/ib_umad.ko || :
	check "dkms: version $version" has_field version "^$version$" || :
	check "dkms: vermagic $release" has_field vermagic "^$release " || :
	check "dkms: alias rdma-client-umad" \
		has_field alias '^rdma-client-umad$' || :
	check "dkms: remove" quietly "$here/dkms.sh" remove "$release" || :
	check "dkms: nothing left" is_gone || :
	check "dkms: in-tree ib_umad after" \
		is_module_file kernel/drivers/infiniband/core/ib_umad.ko || :
fi
summary
