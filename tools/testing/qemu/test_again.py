# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of what need not run again."""

import dataclasses
import os
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import again
from ktap import FAIL, PASS, Result
from plan import Plan


class Key(unittest.TestCase):
    """Two runs have one key if nothing that matters differs."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.plan = Plan(name="plan", kernel="stock-6.1", module="intree",
                         tests=[("one", "true")])

    def key(self, plan=None, run="1", initrd=b"initrd", more=""):
        """Of a run that has a folder of its own."""
        where = self.folder / run
        where.mkdir(exist_ok=True)
        (where / "initrd").write_bytes(initrd)
        args = ["qemu", "-initrd", f"{where}/initrd", "-append",
                f"tsc_early_khz=200{run} quiet" + more]
        return again.key(plan or self.plan, where / "initrd", args, [where])

    def test_folder_and_clock_do_not_matter(self):
        self.assertEqual(self.key(run="1"), self.key(run="2"))

    def test_initramfs_matters(self):
        self.assertNotEqual(self.key(), self.key(initrd=b"another"))

    def test_command_line_matters(self):
        self.assertNotEqual(self.key(), self.key(more=" nosmp"))

    def test_plan_matters(self):
        for change in ({"timeout": 1}, {"allow": ["x"]},
                       {"expect_fail": {"one": "why"}},
                       {"tests": [("one", "false")]}):
            other = dataclasses.replace(self.plan, **change)
            self.assertNotEqual(self.key(), self.key(other), change)


class Chance(unittest.TestCase):
    """What fails once may pass when it runs again."""

    failed = [Result("one", PASS, ""), Result("two", FAIL, "")]

    def test_a_plan_of_the_in_tree_module_may(self):
        plan = Plan(name="plan", module="intree", tests=[("one", "true")])
        self.assertTrue(again.may_be_chance(plan, self.failed))
        self.assertFalse(again.may_be_chance(plan, self.failed[:1]))

    def test_a_plan_with_our_module_may_not(self):
        for change in ({"module": "ours"}, {"module": "none"}, {"remote": "ours"},
                       {"tests": [("one", "xt_reload ours")]}):
            plan = dataclasses.replace(
                Plan(name="plan", module="intree", tests=[("one", "true")]), **change)
            self.assertFalse(again.may_be_chance(plan, self.failed), change)


class Kept(unittest.TestCase):
    """What passed is recalled, for its time."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        patch = mock.patch.object(again, "KEPT", Path(folder.name) / "passed")
        patch.start()
        self.addCleanup(patch.stop)

    def test_nothing_is_known_of_what_never_ran(self):
        self.assertIsNone(again.recall("word"))

    def test_what_passed_is_recalled(self):
        results = [Result("one", PASS, ""), Result("two", PASS, "fast")]
        again.keep("word", results)
        self.assertEqual(again.recall("word"), results)
        self.assertIsNone(again.recall("another"))

    def test_what_failed_runs_again(self):
        again.keep("word", [Result("one", PASS, ""), Result("two", FAIL, "")])
        self.assertIsNone(again.recall("word"))

    def test_what_is_old_runs_again(self):
        again.keep("word", [Result("one", PASS, "")])
        os.utime(again.KEPT / "word", (1, 1))
        self.assertIsNone(again.recall("word"))

    def test_what_is_cut_off_runs_again(self):
        again.keep("word", [Result("one", PASS, "")])
        (again.KEPT / "word").write_text("[{")
        self.assertIsNone(again.recall("word"))


if __name__ == "__main__":
    unittest.main()
