# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "debug-6.1": allnoconfig plus our fragments, built from "source".

fragments=${here:?}/../tools/testing/qemu/config

profile_key()
{
	dpkg-query -W -f '${Version}\n' linux-source-6.1
	gcc --version | head -n 1
	cat "$fragments/base.config" "$fragments/debug.config"
}

# Fails with the list of what the fragments ask for and .config does not say.
check_config()
{
	grep -E '^(CONFIG_|# CONFIG_)' wanted.config | while read -r line; do
		grep -qxF -- "$line" build/.config || echo "not taken: $line"
	done >missed
	cat missed
	test ! -s missed
}

profile_build()
{
	src=$(kernel_source)
	cat "$fragments/base.config" "$fragments/debug.config" >wanted.config

	export KBUILD_BUILD_TIMESTAMP='2024-01-01' KBUILD_BUILD_USER=umad \
		KBUILD_BUILD_HOST=umad KBUILD_BUILD_VERSION=1
	mkdir -p build
	make -C "$src" O="$PWD/build" allnoconfig \
		KCONFIG_ALLCONFIG="$PWD/wanted.config"
	make -C "$src" O="$PWD/build" olddefconfig
	check_config

	# The C code of the PVH entry, and the memcmp it calls, run before KASAN
	# has its shadow memory (CONFIG_AMD_MEM_ENCRYPT exempts string.o too).
	make -C build -j"$(nproc)" vmlinux modules \
		KASAN_SANITIZE_enlighten.o=n KASAN_SANITIZE_string.o=n \
		KASAN_SANITIZE_kmemleak.o=n KASAN_SANITIZE_lockdep.o=n \
		KASAN_SANITIZE_debugobjects.o=n KASAN_SANITIZE_stacktrace.o=n \
		KASAN_SANITIZE_unwind_frame.o=n KASAN_SANITIZE_extable.o=n
	make -C build -s kernelrelease >release
	make -C build modules_install INSTALL_MOD_PATH="$PWD"
	rm -f "lib/modules/$(cat release)/build" "lib/modules/$(cat release)/source"
	depmod -b "$PWD" "$(cat release)"
	mv "lib/modules/$(cat release)" modules
	rm -r lib missed wanted.config
	strip -o vmlinux build/vmlinux

	# Building modules later needs the configuration, the generated headers,
	# the tools and Module.symvers; the objects are 9/10 of the size.
	find build -path build/scripts -prune -o -path build/tools -prune -o \
		\( -name '*.o' -o -name '*.a' -o -name '*.ko' -o \
		-name '.*.cmd' -o -name '.tmp_*' \) -type f -exec rm {} +
	ln -s build kdir
}
