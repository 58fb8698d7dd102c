#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# The tarball and the packages: that they are the same when they are made twice, that
# they have what they should, and that lintian and rpmlint are silent. What they do on a
# host is for check-dkms.sh and check-packages.sh.
set -eu

here=$(dirname "$(readlink -f "$0")")
# shellcheck source=scripts/results.sh
. "$here/results.sh"

version=$(cat "$here/../VERSION")
name=ib-umad-$version
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# again COMMAND FILE...: COMMAND DIRECTORY makes the same files as in $work.
again()
{
	again_command=$1
	shift
	rm -rf "$work/again"
	"$again_command" "$work/again" >/dev/null || return
	for again_file; do
		cmp "$work/$again_file" "$work/again/$again_file"
	done
}

dist()
{
	"$here/dist.sh" "$work" >/dev/null
}

# From an unpacked tarball, where git knows nothing.
dist_again()
{
	tar -xf "$work/$name.tar.xz" -C "$work"
	again "$work/$name/scripts/dist.sh" "$name.tar.xz"
}

# Files of a checkout that are no part of git are not in it.
dist_files()
{
	tar -tf "$work/$name.tar.xz" |
		grep -E -e "^$name/\.git/" -e '\.(o|ko|mod|cmd)$' -e __pycache__ || :
	for file in Kbuild Makefile README.md VERSION scripts/deb/build.sh; do
		[ -f "$work/$name/$file" ] || echo "no $file"
	done
}

deb()
{
	"$here/deb/build.sh" "$work" >/dev/null
}

umad_deb=ib-umad-dkms_$version-1~local1_all.deb
hwsim_deb=ib-hwsim-dkms_$version-1~local1_all.deb

# There is no address yet where releases would be looked for.
run_lintian()
{
	lintian --allow-root -I --suppress-tags debian-watch-file-is-missing \
		"$work"/*.changes 2>&1 | grep -v '^running with root privileges' || :
}

# has DEB FILE...: the files that its module is built from, and no others of the tree.
has()
{
	dpkg-deb -c "$work/$1" | sed 's/^.* \.//' >"$work/contents"
	shift
	for has_file; do
		grep -qx "$has_file" "$work/contents" || echo "no $has_file"
	done
}

has_not()
{
	dpkg-deb -c "$work/$1" | grep "$2" || :
}

depends()
{
	depends=$(dpkg-deb -f "$work/$1" Depends)
	[ "$depends" = "dkms (>= 2.1.0.0)" ] || echo "depends on $depends"
}

rpm_packages()
{
	"$here/rpm/build.sh" "$work" >/dev/null
}

run_rpmlint()
{
	rpmlint -c "$here/rpm/rpmlint.toml" "$work/ib-umad.spec" "$work"/*.rpm \
		>"$work/rpmlint" 2>&1 || :
	grep -q ' 0 errors, 0 warnings,' "$work/rpmlint" || cat "$work/rpmlint"
}

rpm_has()
{
	rpm --dbpath "$work/rpmdb" -qpl "$work/ib-umad-dkms-$version-1.noarch.rpm" \
		>"$work/contents"
	for rpm_file in dkms.conf VERSION scripts/dkms-refusal.sh; do
		grep -qx "/usr/src/$name/$rpm_file" "$work/contents" ||
			echo "no $rpm_file"
	done
}

check "dist: a tarball" dist || :
check "dist: the same from the tarball, without git" dist_again || :
check "dist: files" dist_files || :
check "deb: packages" deb || :
check "deb: the same again" again "$here/deb/build.sh" "$umad_deb" "$hwsim_deb" || :
check "deb: lintian" run_lintian || :
check "deb: files of ib-umad-dkms" has "$umad_deb" "/usr/src/$name/dkms.conf" \
	"/usr/src/$name/Kbuild" "/usr/src/$name/VERSION" \
	"/usr/src/$name/scripts/dkms-refusal.sh" \
	"/usr/src/$name/include/uapi/rdma/ib_user_mad.h" \
	/usr/share/man/man4/ib_umad.4.gz || :
check "deb: files of ib-hwsim-dkms" has "$hwsim_deb" \
	"/usr/src/ib-hwsim-$version/dkms.conf" \
	"/usr/src/ib-hwsim-$version/scripts/dkms-refusal.sh" \
	"/usr/src/ib-hwsim-$version/include/uapi/rdma/ib_hwsim.h" || :
check "deb: ib-hwsim-dkms has nothing of ib_umad" has_not "$hwsim_deb" umad || :
check "deb: ib-umad-dkms has nothing of ib_hwsim" has_not "$umad_deb" hwsim || :
check "deb: depends on what Debian 12 has" depends "$umad_deb" || :
check "rpm: packages" rpm_packages || :
check "rpm: rpmlint" run_rpmlint || :
check "rpm: files of ib-umad-dkms" rpm_has || :
summary
