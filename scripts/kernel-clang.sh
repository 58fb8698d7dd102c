# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
# shellcheck disable=SC2154 # what the recipes set
#
# For recipes of kernel-cache.sh: the kernel of "source" for another architecture, by clang,
# which makes code for all of them. Debian's cross gcc excludes gcc-multilib, which the
# selftests need. They set what a guest of it is called ("machine", see guest.py), Debian's
# name of the architecture ("debian"), Linux' ("arch"), make's variables ("variables"),
# and the image that QEMU boots ("image").

configs=${here:?}/../tools/testing/qemu/config
# Its busybox is from there.
suite=bookworm
suite_arch=${debian:?}
# shellcheck source=scripts/kernel-suite.sh
. "$here/kernel-suite.sh"

profile_key()
{
	dpkg-query -W -f '${Version}\n' linux-source-6.1
	clang --version | head -n 1
	cat "$here/kernel-clang.sh" "$configs/base.config" "$configs/debug.config" \
		"$configs/arch.config" "$configs/$arch.config"
}

# Of base.config and debug.config, what is not of x86; KASAN, UBSAN and kmemleak take a
# multiple of the time.
wanted_config()
{
	grep -vwE 'CONFIG_(HYPERVISOR_GUEST|PARAVIRT|PVH|ACPI|SERIAL_8250.*|EARLY_PRINTK)' \
		"$configs/base.config" |
		grep -vwE 'CONFIG_(IA32_EMULATION|DEVPORT|UNWINDER_FRAME_POINTER|KERNEL_LZ4)' |
		grep -vwE 'CONFIG_(PREEMPT|HZ_250|NR_CPUS)'
	grep -vE 'KASAN|KMEMLEAK|UBSAN' "$configs/debug.config"
	cat "$configs/arch.config" "$configs/$arch.config"
}

profile_build()
{
	src=$(kernel_source)
	# shellcheck disable=SC2086 # several words
	set -- ARCH="${arch:?}" ${variables:?}
	rm -rf ./*
	mkdir build
	wanted_config >wanted.config
	export KBUILD_BUILD_TIMESTAMP='2024-01-01' KBUILD_BUILD_USER=umad \
		KBUILD_BUILD_HOST=umad KBUILD_BUILD_VERSION=1
	make -C "$src" O="$PWD/build" "$@" allnoconfig KCONFIG_ALLCONFIG="$PWD/wanted.config"
	make -C "$src" O="$PWD/build" "$@" olddefconfig
	grep '^CONFIG_' wanted.config | grep -vxFf build/.config || :
	make -C build "$@" -j"$(nproc)" "${image##*/}" modules
	make -C build "$@" -s kernelrelease >release
	make -C build "$@" modules_install INSTALL_MOD_PATH="$PWD"
	rm "lib/modules/$(cat release)/build" "lib/modules/$(cat release)/source"
	depmod -b "$PWD" "$(cat release)"
	mv "lib/modules/$(cat release)" modules
	cp "build/$image" vmlinux
	echo "$machine" >machine
	suite_kernel >/dev/null
	suite_unpack download busybox-static
	cp root/bin/busybox .
	rm -r lib root
	find build -path build/scripts -prune -o -path build/tools -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name '*.ko' -o \
		-name '.*.cmd' -o -name '.tmp_*' \) -type f -exec rm {} +
	# Whoever builds a module for it need not know how. The kernel's makefile sets CC.
	for variable; do
		[ "${variable%%=*}" != CC ] ||
			printf 'override CC := %s\nMAKEFLAGS += %s\n' "${variable#*=}" "$variable"
		echo "export ${variable%%=*} := ${variable#*=}"
	done | cat - build/Makefile >Makefile.new
	mv Makefile.new build/Makefile
	ln -s build kdir
}
