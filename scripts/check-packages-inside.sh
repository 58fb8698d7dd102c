#!/bin/sh
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#
# What check-packages.sh does in a root of Debian, as that root's own user would.
# /packages has this script, results.sh and the packages in two versions.
set -eu

cd /packages
# shellcheck source=scripts/results.sh
. ./results.sh

# The older kernel and the newer one.
# shellcheck disable=SC2046 # two releases
set -- $(find /lib/modules -mindepth 1 -maxdepth 1 -printf '%f\n' | sort -V)
first=$1
second=$2
echo "# $(. /etc/os-release; echo "$PRETTY_NAME"), $(dkms --version)," \
	"kernels $first and $second"
version=$(dpkg-deb -f ib-umad-dkms_[0-8]*.deb Version | sed 's/-[^-]*$//')

said=/tmp/said
quietly()
{
	"$@" >"$said" 2>&1 || {
		quiet_status=$?
		cat "$said" /var/lib/dkms/ib-*/*/build/make.log 2>/dev/null
		return $quiet_status
	}
}

says()
{
	grep -q -- "$1" "$said" || {
		echo "not said: $1"
		cat "$said"
	}
}

# in_tree RELEASE...: modprobe takes the file that came with the kernel.
in_tree()
{
	for release; do
		file=$(modinfo -k "$release" -n ib_umad)
		case $file in
		/lib/modules/"$release"/kernel/*) ;;
		*) echo "$release: modprobe takes $file" ;;
		esac
	done
}

# ours VERSION RELEASE...: modprobe takes that of DKMS, and it is this version.
ours()
{
	ours_version=$1
	shift
	for release; do
		file=$(modinfo -k "$release" -n ib_umad)
		case $file in
		/lib/modules/"$release"/updates/dkms/ib_umad.ko*) ;;
		*) echo "$release: modprobe takes $file" ;;
		esac
		found=$(modinfo -k "$release" -F version ib_umad)
		[ "$found" = "$ours_version" ] || echo "$release: version '$found'"
	done
}

signed()
{
	signer=$(modinfo -k "$1" -F signer ib_umad)
	[ "$signer" = "DKMS module signing key" ] || echo "signed by '$signer'"
}

# Nothing of what user space has about umad is ours: names and modes stay.
only_sources()
{
	dpkg -L ib-umad-dkms | grep -Ev -e '^/usr/(src|share)(/|$)' -e '^/(\.|usr)$' || :
}

user_space()
{
	for directory in /usr/lib/udev /etc/udev /etc/modules-load.d /etc/rdma \
		/etc/modprobe.d /usr/lib/modules-load.d /usr/lib/modprobe.d; do
		[ ! -d "$directory" ] || find "$directory" -type f -exec sha256sum {} +
	done | sort
}

same_user_space()
{
	user_space | diff /tmp/user-space - || :
}

# A host may have asked for the module in its initramfs.
initramfs()
{
	update-initramfs -c -k "$1" 2>&1 | grep -v '^update-initramfs: Generating' || :
	lsinitramfs "/boot/initrd.img-$1" | grep 'ib_umad' >/tmp/initramfs || :
	grep -v "^usr/lib/modules/$1/$2" /tmp/initramfs || :
	[ -s /tmp/initramfs ] || echo "the initramfs has no ib_umad"
	rm "/boot/initrd.img-$1"
}

# DKMS 3.0 lets readelf warn of modules that have no comment.
one_version()
{
	dkms status -m ib-umad 2>/dev/null >/tmp/status
	grep -q "/$1" /tmp/status || echo "DKMS does not have $1"
	grep -v "/$1" /tmp/status || :
}

# Of ours: the kernel's headers have umad in the names of theirs.
is_gone()
{
	find /var/lib/dkms /usr/src /lib/modules/*/updates -path '/usr/src/linux-*' -prune \
		-o -name '*umad*' -print 2>/dev/null || :
}

# fake RELEASE: a kernel with an in-tree ib_umad and the headers of the first one. The
# modules are as they were before DKMS, which from 3.2 on moves the in-tree file away.
fake()
{
	mkdir -p "/lib/modules/$1"
	(cd /tmp/before && cp -r --parents kernel/drivers/infiniband/core "/lib/modules/$1")
	(cd "/lib/modules/$first" && cp modules.order modules.builtin \
		modules.builtin.modinfo "../$1")
	ln -s "$(readlink -f "/lib/modules/$first/build")" "/lib/modules/$1/build"
	depmod "$1"
}

# What apt runs when it has installed a kernel, and what it makes of a failure.
kernel_hook()
{
	/etc/kernel/postinst.d/dkms "$1"
}

# hwsim RELEASE: it builds and is found, or is skipped with a sentence.
hwsim()
{
	refusal=$(sh /usr/src/ib-hwsim-"$version"/scripts/dkms-refusal.sh ib_hwsim "$1")
	if [ -n "$refusal" ]; then
		says "ib_hwsim is not built for $1: $refusal"
	else
		modinfo -k "$1" -n ib_hwsim |
			grep -v "^/lib/modules/$1/updates/dkms/ib_hwsim.ko" || :
	fi
}

user_space >/tmp/user-space
mkdir /tmp/before
(cd "/lib/modules/$first" && cp -r --parents kernel/drivers/infiniband/core /tmp/before)
check "in-tree before" in_tree "$first" "$second" || :
check "install" quietly dpkg -i ib-umad-dkms_"$version"-*.deb || :
check "ours for both kernels" ours "$version" "$first" "$second" || :
check "signed" signed "$first" || :
check "only sources and documents" only_sources || :
check "udev and modprobe files as before" same_user_space || :
echo ib_umad >>/etc/initramfs-tools/modules
check "initramfs has ours" initramfs "$first" updates/dkms/ib_umad || :
check "the same package again" quietly dpkg -i ib-umad-dkms_"$version"-*.deb || :
check "ours for both kernels after it" ours "$version" "$first" "$second" || :

check "update" quietly dpkg -i ib-umad-dkms_99.0-*.deb || :
check "the next version for both kernels" ours 99.0 "$first" "$second" || :
check "no other version is kept" one_version 99.0 || :

fake 6.1.0-97-new
check "a new kernel" quietly kernel_hook 6.1.0-97-new || :
check "ours on the new kernel" ours 99.0 6.1.0-97-new || :
fake 9.9.0-untested
check "an untested kernel is no error" quietly kernel_hook 9.9.0-untested || :
check "it says that it is skipped" says "not built for 9.9.0-untested" || :
check "in-tree on it" in_tree 9.9.0-untested || :
fake 6.1.0-99-broken
rm /lib/modules/6.1.0-99-broken/build
cp -r "$(readlink -f "/lib/modules/$first/build")" /lib/modules/6.1.0-99-broken/build
printf 'modules:\n\tfalse\nclean:\n' >/lib/modules/6.1.0-99-broken/build/Makefile
check "a build that fails is no error" quietly kernel_hook 6.1.0-99-broken || :
check "it says that the build fails" says "6.1.0-99-broken: the build fails, see" || :
check "in-tree on it" in_tree 6.1.0-99-broken || :
check "ours on the others" ours 99.0 "$first" "$second" || :

check "remove" quietly dpkg --purge ib-umad-dkms || :
check "nothing left" is_gone || :
check "in-tree after" in_tree "$first" "$second" 6.1.0-97-new || :
check "initramfs has in-tree" initramfs "$first" kernel/drivers/infiniband || :
rm -r /lib/modules/6.1.0-9[79]-* /lib/modules/9.9.0-untested

mkdir /usr/src/ofa_kernel
check "install beside MLNX_OFED" quietly dpkg -i ib-umad-dkms_"$version"-*.deb || :
check "it is refused with a sentence" says "OFED has an ib_core of its own" || :
check "in-tree beside MLNX_OFED" in_tree "$first" "$second" || :
check "remove beside MLNX_OFED" quietly dpkg --purge ib-umad-dkms || :
rmdir /usr/src/ofa_kernel

check "install ib-hwsim-dkms alone" quietly dpkg -i ib-hwsim-dkms_"$version"-*.deb || :
check "ib_hwsim for both kernels, or a sentence" hwsim "$first" || :
check "the same on the second kernel" hwsim "$second" || :
check "remove ib-hwsim-dkms" quietly dpkg --purge ib-hwsim-dkms || :
summary
