#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# "dkms.sh install [RELEASE...]" has DKMS build ib_umad for these kernels, or for all
# that have headers, and put it before the in-tree module. All versions that DKMS had
# of it are removed first, so that none comes back with a later kernel, and so that
# changed sources are built again. "dkms.sh remove" removes all versions. With
# UMAD_DKMS_ROOT set, all of it happens below that directory (see check-dkms.sh).
set -eu

# DKMS wants to be root.
[ "$(id -u)" = 0 ] || exec sudo "$(readlink -f "$0")" "$@"

here=$(dirname "$(readlink -f "$0")")
name=ib-umad
version=$(cat "$here/../VERSION")
root=${UMAD_DKMS_ROOT:-}

# Below a root of its own, if there is one.
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

install_for()
{
	run_dkms install -m "$name" -v "$version" -k "$1" --force \
		${root:+--kernelsourcedir "$root/lib/modules/$1/build"}
}

# What DKMS knows of, one version a line; DKMS before 3.0 has ", " for "/".
versions()
{
	run_dkms status -m "$name" |
		sed -n "s#^$name\(/\|, \)\([^,:]*\)[,:].*#\2#p" | sort -u
}

remove_all()
{
	for old in $(versions); do
		run_dkms remove -m "$name" -v "$old" --all
		rm -rf "$root/usr/src/$name-$old"
	done
}

update_dependencies()
{
	[ -n "$root" ] || return 0
	for modules in "$root"/lib/modules/*; do
		depmod -b "$root" "${modules##*/}"
	done
}

# A package's module is the package manager's to remove.
refuse_package()
{
	[ -z "$root" ] || return 0
	if dpkg-query -W -f '${db:Status-Abbrev}' "$name-dkms" 2>/dev/null |
		grep -q ^ii || rpm -q "$name-dkms" >/dev/null 2>&1; then
		echo "${0##*/}: the package $name-dkms is installed; remove that first" >&2
		exit 1
	fi
}

# The file that modprobe would take for this kernel.
module_file()
{
	modinfo -b "${root:-/}" -k "$1" -F filename ib_umad 2>/dev/null |
		sed "s|^$root/*|/|" | grep . || echo "none"
}

# install_all RELEASE...: fails if a build does, or if none is installed. DKMS exits with
# 77 for a kernel that dkms.conf excludes.
install_all()
{
	installed=0
	failed=0
	report=
	for release; do
		status=0
		install_for "$release" || status=$?
		case $status in
		0)
			installed=$((installed + 1))
			result="installed"
			;;
		77)
			result="skipped"
			;;
		*)
			failed=$((failed + 1))
			result="not built, see the messages above"
			;;
		esac
		report="$report$release $result
"
	done
	update_dependencies
	echo "ib_umad $version by DKMS:"
	echo "$report" | while read -r release result; do
		[ -z "$release" ] || echo "  $release: $result;" \
			"modprobe takes $(module_file "$release")"
	done
	[ "$installed" != 0 ] && [ "$failed" = 0 ]
}

case ${1:-} in
install)
	shift
	refuse_package
	[ $# != 0 ] || {
		# shellcheck disable=SC2046 # a list of releases
		set -- $("$here/find-kdir.sh" --all)
	}
	if [ $# = 0 ]; then
		echo "${0##*/}: no kernel in $root/lib/modules has headers" >&2
		exit 1
	fi
	mkdir -p "$root/var/lib/dkms"
	remove_all
	"$here/module-copy.sh" "$root/usr/src/$name-$version"
	run_dkms add -m "$name" -v "$version"
	install_all "$@"
	;;
remove)
	refuse_package
	remove_all
	update_dependencies
	;;
*)
	echo "usage: ${0##*/} install [RELEASE...]|remove" >&2
	exit 2
	;;
esac
