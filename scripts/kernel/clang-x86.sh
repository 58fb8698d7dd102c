# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "clang-x86": for the builds of check-builds.sh. The kernel of debug-6.1,
# configured for clang and lld, and not built: its symbols are those of debug-6.1.

profile_key()
{
	clang --version | head -n 1
	"${here:?}/kernel-cache.sh" debug-6.1
}

profile_build()
{
	src=$(kernel_source)
	debug=$("$here/kernel-cache.sh" debug-6.1)
	mkdir -p build
	cp "$debug/kdir/.config" build
	make -C "$src" O="$PWD/build" LLVM=1 olddefconfig
	make -C build LLVM=1 -j"$(nproc)" modules_prepare
	cp "$debug/kdir/Module.symvers" build
	cp "$debug/release" .
	sed -i '1i export LLVM := 1' build/Makefile
	ln -s build kdir
}
