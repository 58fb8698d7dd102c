# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "debug-7": as debug-6.1, of sid's kernel, by this machine's compiler.

suite=sid
# shellcheck source=scripts/kernel-suite.sh
. "${here:?}/kernel-suite.sh"

configs=$here/../tools/testing/qemu/config

kernel_source()
{
	"$here/kernel-cache.sh" source-7
}

profile_key()
{
	suite_key
	gcc --version | head -n 1
	cat "$here/kernel/source-7.sh" "$here/kernel/debug-6.1.sh" \
		"$configs/base.config" "$configs/debug.config"
}

profile_build()
{
	mkdir -p fragments
	# It has no such option: it trusts the processor.
	grep -v RANDOM_TRUST_CPU "$configs/base.config" >fragments/base.config
	cp "$configs/debug.config" fragments
	(
		# shellcheck source=scripts/kernel/debug-6.1.sh
		. "$here/kernel/debug-6.1.sh"
		fragments=$PWD/fragments
		profile_build
	)
	rm -r fragments
	# Its makefile says where it was made, which is not where it will be.
	sed -i "s|${PWD:?}/|${dir:?}/|" build/Makefile
}
