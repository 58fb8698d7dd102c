# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "kcsan-6.1": as debug-6.1, with KCSAN in the place of KASAN. Of the kernel
# itself nothing is instrumented: only each so-many-th access is watched, and they
# are to be the module's, which is built later without this.

configs=${here:?}/../tools/testing/qemu/config

profile_key()
{
	dpkg-query -W -f '${Version}\n' linux-source-6.1
	gcc --version | head -n 1
	cat "$here/kernel/debug-6.1.sh" "$configs/base.config" \
		"$configs/debug.config" "$configs/kcsan.config"
}

profile_build()
{
	mkdir -p fragments
	cp "$configs/base.config" fragments
	grep -v KASAN "$configs/debug.config" |
		cat - "$configs/kcsan.config" >fragments/debug.config
	export MAKEFLAGS='-- KCSAN_SANITIZE=n'
	(
		# shellcheck source=scripts/kernel/debug-6.1.sh
		. "$here/kernel/debug-6.1.sh"
		fragments=$PWD/fragments
		profile_build
	)
	rm -r fragments
}
