# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# For recipes of kernel-cache.sh that take the newest kernel of another Debian suite.
# They set "suite" and, if it is not this machine's, "suite_arch"; "suite_flavour" is the
# kernel's if it is not the architecture's name. It has an apt configuration of its own, with lists, state and
# archives below the cache: this machine's apt is left alone, and nothing is installed. The lists may be
# those of a mirror that stands still: for a guest an old kernel is as good.

suite_arch=${suite_arch:-amd64}
suite_flavour=${suite_flavour:-$suite_arch}
suite_dir=${cache:?}/suite-${suite:?}
[ "$suite_flavour" = amd64 ] || suite_dir=$suite_dir-$suite_flavour
suite_days=7

# suite_apt PROGRAM ARGUMENT...: of apt, asked about the suite.
suite_apt()
{
	suite_program=$1
	shift
	"$suite_program" -c "$suite_dir/apt.conf" "$@"
}

suite_update()
{
	mkdir -p "$suite_dir/lists/partial" "$suite_dir/archives/partial"
	: >"$suite_dir/status"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	echo "deb [signed-by=$keyring] http://deb.debian.org/debian $suite main" \
		>"$suite_dir/sources.list"
	cat >"$suite_dir/apt.conf" <<-END
		Dir::Etc::sourcelist "$suite_dir/sources.list";
		Dir::Etc::sourceparts "/dev/null";
		Dir::Etc::preferences "/dev/null";
		Dir::Etc::preferencesparts "/dev/null";
		Dir::State "$suite_dir";
		Dir::State::lists "$suite_dir/lists";
		Dir::State::status "$suite_dir/status";
		Dir::Cache "$suite_dir";
		Dir::Cache::archives "$suite_dir/archives";
		Debug::NoLocking "true";
		APT::Sandbox::User "root";
		APT::Install-Recommends "false";
		Acquire::Languages "none";
		Acquire::Check-Valid-Until "false";
	END
	[ "$suite_arch" = amd64 ] || cat >>"$suite_dir/apt.conf" <<-END
		APT::Architecture "$suite_arch";
		APT::Architectures { "$suite_arch"; "amd64"; };
	END
	suite_apt apt-get -q update || return
	# "linux-headers-7.2.13+deb14-amd64 7.2.13-1"
	suite_apt apt-cache show --no-all-versions "linux-headers-$suite_flavour" |
		sed -n "s/^Depends:.*linux-headers-\([^ ]*-$suite_flavour\) (= \([^)]*\)).*/\1 \2/p" \
			>"$suite_dir/kernel.new"
	test -s "$suite_dir/kernel.new" || return
	mv "$suite_dir/kernel.new" "$suite_dir/kernel"
}

# Prints release and version of the suite's kernel, as the lists had it this week: a
# kernel of its own each day is not what make check is for.
suite_kernel()
{
	mkdir -p "$suite_dir"
	(
		flock 8
		if ! find "$suite_dir" -name kernel -mtime -$suite_days | grep -q .; then
			suite_update >"$suite_dir/update.log" 2>&1 8>&- ||
				tail -n 5 "$suite_dir/update.log" >&2
		fi
	) 8>"$suite_dir/lock"
	cat "$suite_dir/kernel"
}

suite_release()
{
	suite_kernel | cut -d' ' -f1
}

suite_key()
{
	cat "${here:?}/kernel-suite.sh" "$here/kernel/extract_vmlinux.py"
	suite_kernel
}

profile_key()
{
	suite_key
}

# suite_unpack APT-GET-COMMAND PACKAGE...: "download" these packages, or "install"
# them with all that they depend on, into the folder root.
suite_unpack()
{
	how=$1
	shift
	mkdir -p debs/partial root
	case $how in
	download) (cd debs && suite_apt apt-get -q download "$@") ;;
	install)
		suite_apt apt-get -q -y --download-only \
			-o Dir::Cache::archives="$PWD/debs" install "$@"
		;;
	esac || {
		# A mirror keeps the newest only.
		rm -f "$suite_dir/kernel"
		echo "The lists of $suite were too old, or there is no network."
		echo "Try again: they are fetched anew."
		return 1
	}
	for deb in debs/*.deb; do
		dpkg-deb -x "$deb" root
	done
	rm -r debs root/usr/share
}

# What the kernel's folder is to have, from the folder root.
suite_profile()
{
	rel=$1
	for at in root/lib/modules root/usr/lib/modules; do
		[ ! -d "$at/$rel/kernel" ] || mv "$at/$rel" modules
	done
	for image in root/boot/vmlinuz-"$rel" modules/vmlinuz; do
		[ ! -e "$image" ] || "$here/kernel/extract_vmlinux.py" "$image" vmlinux
		rm -f "$image"
	done
	mkdir -p lib/modules
	ln -s ../../modules "lib/modules/$rel"
	depmod -b "$PWD" "$rel"
	rm -r lib
	echo "$rel" >release

	# Their makefiles include each other by where they would be installed, and make
	# BTF if pahole is there or not.
	headers=root/usr/src/linux-headers-$rel
	sed -i "s|/usr/src/|${dir:?}/root/usr/src/|" "$headers/Makefile"
	rm -f "$headers/vmlinux"
	ln -s "$headers" kdir
}

# Programs of a suite whose libc is newer than this machine's: compiler, binutils and
# kbuild's own. They take their libraries from the folder root, and kdir's make finds
# them first.
suite_toolchain()
{
	tools=$dir/root/usr
	# For user space, and nothing that compiles a module.
	rm -rf root/usr/lib/x86_64-linux-gnu/gconv root/usr/bin/*lto* \
		root/usr/libexec/gcc/*/*/lto1 root/usr/lib/gcc/*/*/*.a
	find root/usr -type f -perm -100 ! -name '*.so*' | while read -r program; do
		[ "$(head -c 4 "$program" | tail -c 3)" != ELF ] ||
			patchelf --force-rpath \
				--set-rpath "$tools/lib/x86_64-linux-gnu" \
				--set-interpreter "$tools/lib64/ld-linux-x86-64.so.2" \
				"$program"
	done
	sed -i "1i export PATH := $tools/bin:\$(PATH)" kdir/Makefile
}
