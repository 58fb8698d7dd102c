# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "kcsan-6.1": as debug-6.1, with KCSAN in the place of KASAN.

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
	# As with KASAN: what runs before per-CPU data is there.
	export MAKEFLAGS='-- KCSAN_SANITIZE_enlighten.o=n KCSAN_SANITIZE_string.o=n'
	(
		# shellcheck source=scripts/kernel/debug-6.1.sh
		. "$here/kernel/debug-6.1.sh"
		fragments=$PWD/fragments
		profile_build
	)
	rm -r fragments
}
