# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of what reads plans."""

import tempfile
import unittest
from pathlib import Path
from unittest import mock

import plan
from plan import PlanError

MATRIX = """
[on]
quick = { kernel = "stock-6.1" }
slow = { kernel = "debug-6.1", accel = "icount" }
[plan]
one = { suites = ["b", "a"], on = "slow", timeout = 7 }
both = { suites = ["a"], on = ["quick", "slow"] }
nothing = { suites = ["empty"], on = "quick" }
[suite.a]
desc = "first"
setup = ["rxe"]
programs = []
timeout = 5
run = ["x"]
[suite.b]
setup = ["rxe", "hwsim"]
mem = "1G"
file."/xt/y" = "y"
test.y = '''
	cd /xt
	./y
'''
[suite.empty]
"""


class Rows(unittest.TestCase):
    """Rows of a matrix."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name, value in (("QEMU_DIR", self.folder),
                            ("FILES", [plan.MATRIX, "more.toml"])):
            patch = mock.patch.object(plan, name, value)
            patch.start()
            self.addCleanup(patch.stop)
        self.write(MATRIX)
        self.write("", "more.toml")
        self.write("", plan.INTREE)
        plan.tables.cache_clear()
        self.addCleanup(plan.tables.cache_clear)

    def write(self, text, name=plan.MATRIX):
        """A file of the matrix."""
        (self.folder / name).write_text(text)

    def test_suites_and_row_in_order(self):
        [one] = plan.load("one")
        self.assertEqual(one.tests, [("y", "cd /xt\n./y"), ("x", "./x")])
        self.assertEqual((one.setup, one.mem, one.timeout, one.accel, one.desc),
                         (["rxe", "hwsim"], "1G", 7, "icount", "first"))
        self.assertEqual(one.files, [(plan.ROOT / "y", "/xt/y")])

    def test_no_programs_are_none(self):
        self.assertEqual(plan.load("one")[0].programs, [])
        self.assertEqual(plan.make("p", {"run": ["x"]}).programs,
                         [plan.SELFTESTS])

    def test_two_kernels_are_two_plans(self):
        self.assertEqual([(p.name, p.kernel) for p in plan.load("both")],
                         [("both@stock-6.1", "stock-6.1"),
                          ("both@debug-6.1", "debug-6.1")])

    def test_another_kernel_in_the_place_of_stock(self):
        self.assertEqual([(p.name, p.kernel) for p in plan.load("both", "new")],
                         [("both@new", "new")])
        self.assertEqual(plan.load("one", "new"), [])

    def test_another_debug_kernel(self):
        self.assertEqual([(p.name, p.accel) for p in plan.load("both", "debug-new")],
                         [("both@debug-new", "icount")])

    def test_what_crashes_may_not_on_another(self):
        self.write('[plan]\nmore = { suites = ["a"], on = "slow", expect_crash = "x" }',
                   "more.toml")
        self.assertEqual(plan.load("more", "debug-new"), [])
        self.assertEqual(len(plan.load("more")), 1)

    def test_known_failures_of_a_kernel(self):
        self.write('[both]\n"why" = ["x", "y"]\n["both@new"]\n"passes here" = ["y"]\n'
                   '"or" = ["z"]', plan.INTREE)
        self.assertEqual(plan.load("both", "new")[0].expect_fail,
                         {"x": "why", "z": "or"})
        self.assertEqual(plan.load("both")[0].expect_fail, {"x": "why", "y": "why"})
        self.write('["both@new"]\n"passes here" = ["y"]', plan.INTREE)
        self.assertRaises(PlanError, plan.load, "both", "new")

    def test_known_failures_of_other_plans(self):
        self.write('[both]\nas = ["one"]\n[one]\n"why" = ["x"]\n["one@new"]\n"or" = ["z"]',
                   plan.INTREE)
        self.assertEqual(plan.load("both", "new")[0].expect_fail,
                         {"x": "why", "z": "or"})

    def test_known_failures(self):
        self.write('[one]\n"why" = ["x", "y/z"]', plan.INTREE)
        self.assertEqual(plan.load("one")[0].expect_fail,
                         {"x": "why", "y/z": "why"})
        self.assertEqual(plan.load("both")[0].expect_fail, {})
        self.write('[one]\n"why" = ["x"]\n"or" = ["x"]', plan.INTREE)
        self.assertRaises(PlanError, plan.load, "one")

    def test_files_are_one(self):
        self.write('[plan]\nmore = { suites = ["a"], on = "quick" }', "more.toml")
        self.assertEqual(plan.load("more")[0].tests, [("x", "./x")])
        self.assertEqual(plan.all_names(), ["both", "nothing", "one"])
        self.assertIn("more", plan.every_name())

    def test_what_is_there_twice(self):
        self.write("[suite.a]", "more.toml")
        self.assertRaises(PlanError, plan.load, "one")

    def test_what_is_not_there(self):
        for row in ('{ suites = ["c"], on = "quick" }',
                    '{ suites = ["a"], on = "never" }'):
            self.write(f"[plan]\nmore = {row}", "more.toml")
            plan.tables.cache_clear()
            self.assertRaises(PlanError, plan.load, "more")
        self.assertRaises(PlanError, plan.load, "another")
        self.assertRaises(PlanError, plan.load, "nothing")

    def test_no_place_to_run(self):
        self.write('[plan]\nmore = { suites = ["a"] }', "more.toml")
        self.assertRaises(PlanError, plan.load, "more")

    def test_wrong_keys_and_values(self):
        for keys in ({"tset": {"x": "true"}}, {"module": "other"},
                     {"timeout": "5"}, {"timeout": True}, {"waits": "yes"},
                     {"setup": "rxe"}, {"test": "true"}, {"run": "x"},
                     {"test": {"a b": "true"}}, {"test": {"x": "true"}},
                     {"remote": "ours"}):
            with self.assertRaises(PlanError, msg=keys):
                plan.make("p", {"run": ["x"]}, keys)


if __name__ == "__main__":
    unittest.main()
