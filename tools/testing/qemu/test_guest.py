# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of guest.py: a second boot, and the guest's clock."""

import asyncio
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import guest

SECOND_TIME = "[ -e again ] || { : >again; exec sleep 60; }; "
REPORTS = "echo XT-START >report.log; "
TRAPS = """\
[   24.531604] Sending NMI from CPU 0 to CPUs 1:
[   24.539788]  asm_exc_int3+0x35/0x40
[   24.539928] RIP: 0010:__schedule+0x1bc/0xa00
[   24.539941] Code: e9 53 03 00 00 <{}> 1f 44 00 00 48
[   24.539948] RSP: 0018:ffffc9000009be88 EFLAGS: 00000086
"""


class SecondBoot(unittest.TestCase):
    """A shell plays QEMU, in the folder of the logs."""

    def boot(self, script, timeout=3):
        """The outcome of a guest that does this."""
        with tempfile.TemporaryDirectory() as where, \
                mock.patch.object(guest, "BOOT_SECONDS", 1):
            return asyncio.run(guest.boot(
                ["sh", "-c", f"cd {where}; : >console.log; {script}"],
                Path(where), timeout))

    def test_no_second_boot(self):
        """One that comes up at once."""
        outcome = self.boot(REPORTS + "exit 85")
        self.assertEqual((outcome.status, outcome.boots), (85, 1))

    def test_hang_in_boot(self):
        """One that hangs before its init has reported."""
        outcome = self.boot(SECOND_TIME + REPORTS + "exit 85")
        self.assertEqual((outcome.status, outcome.boots), (85, 2))
        self.assertIn("XT-START", outcome.report)

    def test_hangs_both_times(self):
        """One that never comes up fails."""
        outcome = self.boot("exec sleep 60")
        self.assertTrue(outcome.timed_out)
        self.assertEqual(outcome.boots, 2)

    def test_hang_later(self):
        """One that hangs with the module in it is not started again."""
        outcome = self.boot(REPORTS + "exec sleep 60")
        self.assertTrue(outcome.timed_out)
        self.assertEqual(outcome.boots, 1)

    def test_replaced_code(self):
        """But one that traps at a breakpoint which is no longer there is."""
        hangs = REPORTS + "echo \"$stall\" >console.log; " + SECOND_TIME
        for byte, boots in ("0f", 2), ("cc", 1):
            with self.subTest(byte), \
                    mock.patch.dict("os.environ", stall=TRAPS.format(byte)):
                self.assertEqual(self.boot(hangs + "exit 85").boots, boots)

    def test_panic_in_boot(self):
        """Nor one whose kernel has said that it died."""
        outcome = self.boot("echo 'Kernel panic' >console.log; exec sleep 60")
        self.assertTrue(outcome.timed_out)
        self.assertEqual(outcome.boots, 1)

    def test_short_limit(self):
        """The plan's own limit comes first."""
        outcome = self.boot("exec sleep 60", timeout=0.5)
        self.assertTrue(outcome.timed_out)
        self.assertEqual(outcome.boots, 1)


class Clock(unittest.TestCase):
    """A guest is told how fast the counter is that it reads."""

    def append(self, accel):
        """What the kernel is told in all."""
        args = guest.command("vmlinux", "initrd", "where", accel, 2, "1G",
                             "quiet")
        return args[args.index("-append") + 1].split()

    def test_of_the_host(self):
        """Twice the same, but for what measuring leaves."""
        first = guest.tsc.host_khz()
        guest.tsc.host_khz.cache_clear()
        self.assertAlmostEqual(guest.tsc.host_khz() / first, 1, places=3)
        self.assertIn(f"tsc_early_khz={guest.tsc.host_khz()}",
                      self.append("tcg"))

    def test_of_its_own(self):
        """KVM and the instruction clock have their own."""
        for accel in "kvm", "icount":
            self.assertEqual([word for word in self.append(accel)
                              if word.startswith("tsc_early_khz")], [])


if __name__ == "__main__":
    unittest.main()
