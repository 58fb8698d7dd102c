# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What QEMU's machines differ in: the one of a kernel is in its profile."""

from dataclasses import dataclass, field
from pathlib import Path

# What end_guest in guest/init writes to the port of isa-debug-exit, and what QEMU makes
# of it.
MAGIC = 42
MAGIC_STATUS = MAGIC << 1 | 1


@dataclass
class Machine:
    """One architecture."""
    qemu: list                      # program, and its machine
    console: str                    # the kernel's, for its command line
    kernel: str = ""                # more of that
    report: str = "hvc0"            # the guest's device of the report
    # QEMU's status when a guest has ended by itself. Without isa-debug-exit that of a
    # panic is the same, but then XT-DONE is missing.
    status: int = 0
    serial: list = field(default_factory=lambda: ["-serial", "chardev:console"])
    # A device for the line of the report, and to end by.
    devices: list = field(default_factory=list)


X86 = Machine(
    qemu=["qemu-system-x86_64", "-machine", "q35"],
    console="console=ttyS0,115200",
    # no_timer_check, as KVM guests have it: on a busy host QEMU's timer may not tick ten
    # times in the time that the kernel gives it, which then panics.
    kernel="tsc=reliable no_timer_check",
    report="ttyS1",
    status=MAGIC_STATUS,
    devices=["-serial", "chardev:report",
             "-device", "isa-debug-exit,iobase=0xf4,iosize=0x4"])

OTHERS = {
    "aarch64": Machine(
        qemu=["qemu-system-aarch64", "-machine", "virt"],
        console="console=ttyAMA0",
        devices=["-device", "virtio-serial-pci",
                 "-device", "virtconsole,chardev=report"]),
    "s390x": Machine(
        qemu=["qemu-system-s390x", "-machine", "s390-ccw-virtio"],
        console="console=ttyS1",
        serial=["-device", "sclpconsole,chardev=console"],
        devices=["-device", "virtio-serial-ccw",
                 "-device", "virtconsole,chardev=report"]),
}


def of_profile(folder):
    """The machine that boots the kernel in this folder of the cache."""
    named = Path(folder) / "machine"
    return OTHERS[named.read_text(encoding="ascii").strip()] if named.exists() else X86
