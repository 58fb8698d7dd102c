#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Take the ELF vmlinux out of a bzImage that is compressed by xz or zstd.

QEMU enters the ELF file directly (PVH); the guest then need not decompress
anything, which under TCG is most of the time a boot takes.
"""

import lzma
import struct
import subprocess
import sys

ELF_MAGIC = b"\x7fELF"


def _xz(data):
    try:
        return lzma.LZMADecompressor().decompress(data)
    except lzma.LZMAError:
        return b""


def _zstd(data):
    # It complains about what follows its stream.
    return subprocess.run(["zstd", "-dcq"], input=data, check=False,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


FORMATS = {b"\xfd7zXZ\x00": _xz, b"\x28\xb5\x2f\xfd": _zstd}


def is_whole(data):
    """Is it an ELF file that goes to the end of its section headers?"""
    if not data.startswith(ELF_MAGIC) or len(data) < 64:
        return False
    (offset,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    return len(data) >= offset + size * count


def find_vmlinux(image):
    """The first stream in image that holds an ELF file, unpacked."""
    for magic, unpack in FORMATS.items():
        pos = image.find(magic)
        while pos >= 0:
            data = unpack(image[pos:])
            if is_whole(data):
                return data
            pos = image.find(magic, pos + 1)
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: extract_vmlinux.py BZIMAGE VMLINUX")
    with open(sys.argv[1], "rb") as bzimage:
        vmlinux = find_vmlinux(bzimage.read())
    if vmlinux is None:
        sys.exit(f"{sys.argv[1]}: no vmlinux in it, by xz or zstd")
    with open(sys.argv[2], "wb") as out:
        out.write(vmlinux)


if __name__ == "__main__":
    main()
