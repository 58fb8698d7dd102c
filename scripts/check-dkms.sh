#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# Does with DKMS what a user does: install for several kernels, install changed sources,
# update, remove; and what a kernel update does. All below a directory of its own, with
# the modules of Debian's kernel in it, so that it is seen that ours comes before the
# in-tree one, and that the machine stays as it was.
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
cache=${XDG_CACHE_HOME:-$HOME/.cache}/ib-umad
# Always the same, so that ccache knows what it has seen.
root=$cache/dkms
mkdir -p "$cache"
exec 9>"$cache/dkms.lock"
flock 9
rm -rf "$root"
mkdir "$root"
trap 'rm -rf "$root"' EXIT
export UMAD_DKMS_ROOT="$root"
export PATH="/usr/lib/ccache:$PATH" CCACHE_DIR="$cache/ccache"

# Kernels that are copies of the stock one, but for their names and headers.
second=6.1.0-97-second
untested=9.9.0-untested
built_in=6.1.0-98-built-in
broken=6.1.0-99-broken
in_tree=kernel/drivers/infiniband/core/ib_umad.ko
ours=updates/dkms/ib_umad.ko

add_kernel()
{
	modules=$root/lib/modules/$1
	mkdir -p "$modules/kernel/drivers/infiniband"
	# A copy: DKMS may move an original module away.
	cp -a "$stock/modules/kernel/drivers/infiniband/core" \
		"$modules/kernel/drivers/infiniband"
	cp "$stock/modules/modules.order" \
		"$stock"/modules/modules.builtin* "$modules"
	depmod -b "$root" "$1"
}

# Headers whose configuration, and makefile, are their own.
add_headers()
{
	mkdir -p "$1/include/generated"
	cp "$stock/kdir/include/generated/utsrelease.h" "$1/include/generated"
	grep ^CONFIG_INFINIBAND "$stock/kdir/.config" >"$1/.config"
	printf 'modules:\n\tfalse\nclean:\n' >"$1/Makefile"
}

# takes RELEASE FILE: modprobe takes this file.
takes()
{
	takes_file=$(modprobe -d "$root" -S "$1" --show-depends ib_umad |
		sed -n 's|^insmod \(.*/ib_umad\.ko\) *$|\1|p')
	[ "$takes_file" = "$root/lib/modules/$1/$2" ] || {
		echo "modprobe takes '$takes_file', not $2"
		return 1
	}
}

has_field()
{
	modinfo -F "$1" "$root/lib/modules/$release/$ours" | grep -q -- "$2" || {
		echo "$1 is '$(modinfo -F "$1" "$root/lib/modules/$release/$ours")'"
		return 1
	}
}

# quietly COMMAND...: what it says is for failures, and in $said.
said=$root/said
quietly()
{
	"$@" >"$said" 2>&1 || {
		quiet_status=$?
		cat "$said" "$root"/var/lib/dkms/ib-umad/*/build/make.log 2>/dev/null
		return $quiet_status
	}
}

# fails COMMAND...: it does, with an exit status of its own and not of a signal.
fails()
{
	fails_status=0
	quietly "$@" >/dev/null || fails_status=$?
	[ "$fails_status" = 1 ] || echo "exit status $fails_status"
}

says()
{
	grep -q -- "$1" "$said" || {
		echo "not said: $1"
		cat "$said"
	}
}

is_gone()
{
	find "$root/var/lib/dkms" "$root/usr/src" "$root"/lib/modules/*/updates \
		-name '*umad*' 2>/dev/null || :
}

# What DKMS does when a kernel, or its headers, are installed.
autoinstall()
{
	dkms autoinstall --kernelver "$1" --kernelsourcedir \
		"$root/lib/modules/$1/build" --dkmstree "$root/var/lib/dkms" \
		--sourcetree "$root/usr/src" --installtree "$root/lib/modules" \
		--no-depmod && depmod -b "$root" "$1"
}

one_version()
{
	one_version=$(cd "$root/var/lib/dkms/ib-umad" && ls -d [0-9]*)
	[ "$one_version" = "$1" ] || echo "DKMS has $one_version"
}

# Sources of another state, with the scripts that install them. From a tarball: without
# git. It is DKMS that is tested here, with one file that is built in place of eighty.
make_tree()
{
	"$here/dist.sh" "$root" >/dev/null
	tar -xf "$root"/ib-umad-*.tar.xz -C "$root"
	mv "$root/ib-umad-$version" "$root/tree"
	rm -r "$root/tree/drivers/infiniband/umad"
	mkdir "$root/tree/drivers/infiniband/umad"
	echo 'obj-m += ib_umad.o' >"$root/tree/drivers/infiniband/umad/Kbuild"
	cat >"$root/tree/drivers/infiniband/umad/ib_umad.c" <<-EOF
		#include <linux/module.h>
		MODULE_DESCRIPTION("small");
		MODULE_LICENSE("GPL");
		MODULE_VERSION("$version");
	EOF
}

for kernel in "$release" "$second" "$untested" "$built_in" "$broken"; do
	add_kernel "$kernel"
done
for kernel in "$release" "$second" "$untested"; do
	ln -s "$(readlink -f "$stock/kdir")" "$root/lib/modules/$kernel/build"
done
add_headers "$root/lib/modules/$built_in/build"
echo CONFIG_INFINIBAND_USER_MAD=y >>"$root/lib/modules/$built_in/build/.config"
make_tree

check "dkms: in-tree ib_umad before" takes "$release" "$in_tree" || :
check "dkms: install for all kernels" quietly "$root/tree/scripts/dkms.sh" install || :
check "dkms: modprobe takes ours" takes "$release" "$ours" || :
check "dkms: modprobe takes ours on a second kernel" takes "$second" "$ours" || :
check "dkms: an untested kernel is skipped" \
	says "not built for $untested: the newest tested series is" || :
check "dkms: modprobe takes in-tree on it" takes "$untested" "$in_tree" || :
check "dkms: a kernel with ib_umad built in is skipped" \
	says "not built for $built_in: .*CONFIG_INFINIBAND_USER_MAD=y" || :

check "dkms: an update to an untested kernel is no error" \
	quietly autoinstall "$untested" || :
check "dkms: the update says that it is skipped" \
	says "not built for $untested" || :
check "dkms: modprobe takes in-tree after the update" \
	takes "$untested" "$in_tree" || :
rm -r "$root/lib/modules/$second"
add_kernel "$second"
ln -s "$(readlink -f "$stock/kdir")" "$root/lib/modules/$second/build"

small=$root/tree/drivers/infiniband/umad/ib_umad.c
sed -i 's/small/changed/' "$small"
check "dkms: install changed sources of the same version" \
	quietly "$root/tree/scripts/dkms.sh" install "$release" || :
check "dkms: what is installed has changed" has_field description '^changed$' || :

echo 99.0 >"$root/tree/VERSION"
sed -i "s/$version/99.0/" "$small"
sed -i 's/^PACKAGE_VERSION=.*/PACKAGE_VERSION="99.0"/' "$root/tree/dkms.conf"
check "dkms: update to another version" \
	quietly "$root/tree/scripts/dkms.sh" install "$release" || :
check "dkms: version 99.0" has_field version '^99.0$' || :
check "dkms: no other version is kept" one_version 99.0 || :
check "dkms: a new kernel" quietly autoinstall "$second" || :
check "dkms: modprobe takes ours on the new kernel" takes "$second" "$ours" || :
check "dkms: remove" quietly "$root/tree/scripts/dkms.sh" remove || :
check "dkms: nothing left" is_gone || :
check "dkms: in-tree ib_umad after" takes "$release" "$in_tree" || :
check "dkms: in-tree ib_umad after, on the second kernel" \
	takes "$second" "$in_tree" || :

# The module itself, beside a kernel for which it cannot be built.
add_headers "$root/lib/modules/$broken/build"
check "dkms: a failed build is an error" \
	fails "$here/dkms.sh" install "$broken" "$release" || :
check "dkms: which kernel it is" \
	says "$broken: not built.*modprobe takes .*$in_tree" || :
check "dkms: modprobe takes in-tree on it" takes "$broken" "$in_tree" || :
check "dkms: the other kernel has ours" takes "$release" "$ours" || :
check "dkms: version $version" has_field version "^$version$" || :
check "dkms: vermagic $release" has_field vermagic "^$release " || :
check "dkms: alias rdma-client-umad" has_field alias '^rdma-client-umad$' || :
check "dkms: an update to it is no error" quietly autoinstall "$broken" || :
check "dkms: the update says that the build fails" \
	says "not built for $broken: the build fails, see" || :
check "dkms: modprobe takes in-tree after that update" \
	takes "$broken" "$in_tree" || :

mkdir -p "$root/usr/src/ofa_kernel"
check "dkms: MLNX_OFED is refused" fails "$here/dkms.sh" install "$release" || :
check "dkms: with a sentence" says 'OFED has an ib_core of its own' || :
check "dkms: modprobe takes in-tree beside MLNX_OFED" \
	takes "$release" "$in_tree" || :
summary
