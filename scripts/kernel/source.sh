# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
# shellcheck shell=sh
#
# Profile "source": the kernel source of Debian's linux-source-6.1, unpacked.
# Used to build the debug kernel and for checkpatch, kernel-doc, kselftest.

tarball=/usr/src/linux-source-6.1.tar.xz

profile_key()
{
	dpkg-query -W -f '${Version}\n' linux-source-6.1
}

profile_build()
{
	tar -xf "$tarball" --strip-components=1
}
