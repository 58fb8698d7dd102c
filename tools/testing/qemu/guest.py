# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Boots one guest in QEMU and waits until it ends or its time is over."""

import asyncio
import os
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import machine
import tsc
from build import CACHE
from initramfs import add_programs, skeleton

PROBE_SECONDS = 5
# So long init may take to report, if there is to be a second try.
BOOT_SECONDS = 40

CMDLINE = ("panic=-1 oops=panic loglevel=7 "
           "printk.devkmsg=on rdinit=/init net.ifnames=0 kmemleak=on "
           "random.trust_cpu=on kunit.enable=1 kunit.autorun=1 kasan_multi_shot")

ACCELS = {
    "kvm": ["-accel", "kvm", "-cpu", "host"],
    "tcg": ["-accel", "tcg,thread=multi", "-cpu", "max"],
    # 2 ns per guest instruction, idle time skipped: the same on any host.
    "icount": ["-accel", "tcg,thread=single", "-cpu", "max",
               "-icount", "shift=1,sleep=off"],
    # The same without string instructions that are counted by bytes.
    "icount-noerms": ["-accel", "tcg,thread=single",
                      "-cpu", "max,erms=off,fsrm=off",
                      "-icount", "shift=1,sleep=off"],
}


@dataclass
class Outcome:
    """How a guest ended, and what it wrote."""
    status: int             # of QEMU, None after a time-out
    seconds: float
    report: str
    console: str
    qemu_says: str
    cpu: float = 0          # seconds of the host's processors
    boots: int = 1          # how often it was started
    good: int = machine.MAGIC_STATUS    # status of a guest that ended by itself

    @property
    def timed_out(self):
        """Was it stopped by us?"""
        return self.status is None


def wire_end(folder, end):
    """QEMU's arguments for one of two network cards on a wire of their own.

    Datagrams over a pair of Unix sockets: they wait rather than get lost,
    and neither guest has to be there first.
    """
    return ["-netdev", "dgram,id=wire,local.type=unix,"
            f"local.path={folder}/{end},remote.type=unix,"
            f"remote.path={folder}/{1 - end}",
            "-device", f"virtio-net-pci,netdev=wire,romfile=,"
            f"mac=52:54:00:00:00:{end + 1:02}"]


def disk(image):
    """QEMU's arguments for a disk that nobody writes to."""
    return ["-drive", f"file={image},format=raw,if=none,id=disk,readonly=on",
            "-device", "virtio-blk-pci,drive=disk"]


def command(vmlinux, initrd, where, accel, smp, mem, append="", more=None):
    """The QEMU command line; its output files are in the folder where."""
    here = machine.of_profile(Path(vmlinux).parent)
    clock = tsc.argument(accel) if here is machine.X86 else ""
    return [*here.qemu, "-nodefaults", "-no-user-config", "-display", "none",
            *ACCELS[accel],
            "-smp", "1" if accel.startswith("icount") else str(smp), "-m", mem,
            "-kernel", str(vmlinux), "-initrd", str(initrd),
            "-append", " ".join(filter(None, (here.console, CMDLINE, here.kernel,
                                              append, clock))),
            "-chardev", f"file,id=console,path={where}/console.log", *here.serial,
            "-chardev", f"file,id=report,path={where}/report.log", *here.devices,
            *(more or ["-net", "none"]), "-no-reboot"]


def _text(path):
    try:
        return path.read_bytes().decode("utf-8", "replace").replace("\r", "")
    except FileNotFoundError:
        return ""


def _cpu_seconds(pid):
    """Processor time of a running process with all its threads."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except OSError:
        return 0
    return sum(map(int, fields.split()[11:13])) / os.sysconf("SC_CLK_TCK")


async def boot(args, where, timeout, watch=None):
    """Run QEMU; watch(text) is called with new text of the report.

    A guest that hangs before its init has reported is started once more: now
    and then QEMU without KVM loses a timer interrupt of a kernel that boots.
    Nothing of what is tested runs before init does. So is one that hangs in
    code that its kernel has replaced.
    """
    outcome = await _boot_once(args, where, timeout, watch, BOOT_SECONDS)
    if outcome.timed_out and (outcome.seconds < timeout or
                              runs_replaced_code(outcome.console)):
        (where / "console.log").rename(where / "console-hung.log")
        outcome = await _boot_once(args, where, timeout, watch, timeout)
        outcome.boots = 2
    return outcome


def _hangs_in_boot(where):
    """Has init not come up, and is there no sign that the kernel died?"""
    return "XT-START" not in _text(where / "report.log") and \
        "Kernel panic" not in _text(where / "console.log")


# A frame of the breakpoint's handler, and the code it goes back to.
_BREAKPOINT = re.compile(r"\] +asm_exc_int3\+\S+\n.*\] RIP: .*\n"
                         r".*\] Code: [0-9a-f ]*<([0-9a-f]{2})>")


def runs_replaced_code(console):
    """Does a processor trap at a breakpoint that is no longer there?

    Linux puts an INT3 in the place of code that it changes (a jump label, for
    one), waits for all processors, and takes it away. With a thread for each
    processor QEMU 7.2 now and then keeps its translation of the INT3: the
    processor traps again and again where memory has none, and the one that
    waits for it hangs. The dump shows another byte than CC where it traps.
    """
    return any(byte != "cc" for byte in _BREAKPOINT.findall(console))


async def _boot_once(args, where, timeout, watch, patience):
    start = time.monotonic()
    for name in ("console.log", "report.log"):
        (where / name).unlink(missing_ok=True)
    process = await asyncio.create_subprocess_exec(
        *args, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.STDOUT)
    said = asyncio.create_task(process.communicate())
    shown = cpu = 0
    status = None
    try:
        while True:
            cpu = max(cpu, _cpu_seconds(process.pid))
            spent = time.monotonic() - start
            done, _ = await asyncio.wait(
                [said], timeout=max(0, min(timeout - spent, 0.3)))
            if watch:
                text = _text(where / "report.log")
                watch(text[shown:])
                shown = len(text)
            if done:
                status = process.returncode
                break
            if spent >= timeout:
                break
            if patience <= spent < timeout:
                if _hangs_in_boot(where):
                    break
                patience = timeout
    finally:
        if process.returncode is None:
            process.kill()
        output = (await said)[0].decode("utf-8", "replace")
    return Outcome(status, time.monotonic() - start,
                   _text(where / "report.log"), _text(where / "console.log"),
                   output, cpu)


def _probe_kvm(vmlinux):
    """Does a guest under KVM come up and end, within seconds?"""
    tree = skeleton()
    add_programs(tree)
    tree.text("xt/init", "#!/bin/sh\nmount -t devtmpfs devtmpfs /dev\n"
              "printf '\\052' | dd of=/dev/port bs=1 seek=244 conv=notrunc\n",
              0o755)
    with tempfile.TemporaryDirectory() as where:
        initrd = Path(where) / "initrd"
        with open(initrd, "wb") as out:
            tree.write(out)
        args = command(vmlinux, initrd, where, "kvm", 1, "512M", "quiet")
        try:
            done = subprocess.run(args, timeout=PROBE_SECONDS, check=False,
                                  stdin=subprocess.DEVNULL,
                                  stdout=subprocess.DEVNULL,
                                  stderr=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return False
    return done.returncode == machine.MAGIC_STATUS


def best_accel(vmlinux):
    """"kvm" if it works here, else "tcg"; asked once per boot of the host."""
    if not Path("/dev/kvm").exists():
        return "tcg"
    boot_id = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    answer = CACHE / f"accel-{boot_id}"
    if not answer.exists():
        CACHE.mkdir(parents=True, exist_ok=True)
        fresh = answer.with_suffix(".new")
        fresh.write_text("kvm" if _probe_kvm(vmlinux) else "tcg")
        fresh.rename(answer)
    return answer.read_text().strip()
