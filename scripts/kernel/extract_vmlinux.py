#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Take the ELF vmlinux out of an xz-compressed bzImage.

QEMU enters the ELF file directly (PVH); the guest then need not decompress
anything, which under TCG is most of the time a boot takes.
"""

import lzma
import sys

XZ_MAGIC = b"\xfd7zXZ\x00"
ELF_MAGIC = b"\x7fELF"


def find_vmlinux(image):
    """The first xz stream in image that holds an ELF file, unpacked."""
    pos = image.find(XZ_MAGIC)
    while pos >= 0:
        try:
            data = lzma.LZMADecompressor().decompress(image[pos:])
            if data.startswith(ELF_MAGIC):
                return data
        except lzma.LZMAError:
            pass
        pos = image.find(XZ_MAGIC, pos + 1)
    return None


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: extract_vmlinux.py BZIMAGE VMLINUX")
    with open(sys.argv[1], "rb") as bzimage:
        vmlinux = find_vmlinux(bzimage.read())
    if vmlinux is None:
        sys.exit(f"{sys.argv[1]}: no xz-compressed vmlinux in it")
    with open(sys.argv[2], "wb") as out:
        out.write(vmlinux)


if __name__ == "__main__":
    main()
