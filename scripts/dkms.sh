#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "dkms.sh install|remove [RELEASE]": puts ib_umad over the in-tree one through
# DKMS, or takes it away again. RELEASE defaults to the running kernel if its
# headers are here, else to the newest headers. With UMAD_DKMS_ROOT set, all of
# it happens below that folder (see check-dkms.sh).
set -eu

# DKMS wants to be root.
[ "$(id -u)" = 0 ] || exec sudo "$(readlink -f "$0")" "$@"

here=$(dirname "$(readlink -f "$0")")
name=ib-umad
version=$(cat "$here/../VERSION")
root=${UMAD_DKMS_ROOT:-}
release=${2:-$("$here/find-kdir.sh" --release)}
sources=$root/usr/src/$name-$version

run_dkms()
{
	if [ -n "$root" ]; then
		dkms "$@" --dkmstree "$root/var/lib/dkms" \
			--sourcetree "$root/usr/src" \
			--installtree "$root/lib/modules" --no-depmod
	else
		dkms "$@"
	fi
}

update_dependencies()
{
	[ -z "$root" ] || depmod -b "$root" "$release"
}

case ${1:-} in
install)
	mkdir -p "$root/var/lib/dkms"
	"$here/module-copy.sh" "$sources"
	run_dkms install -m "$name" -v "$version" -k "$release" --force
	update_dependencies
	;;
remove)
	run_dkms remove -m "$name" -v "$version" --all
	rm -rf "$sources"
	update_dependencies
	;;
*)
	echo "usage: ${0##*/} install|remove [RELEASE]" >&2
	exit 2
	;;
esac
