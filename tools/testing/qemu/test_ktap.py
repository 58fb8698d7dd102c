# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Unit tests of the KTAP parser and of the judgement on one test command."""

import unittest

import verdict
from ktap import FAIL, PASS, SKIP, Result, parse

KSELFTEST = """TAP version 13
1..3
# Starting 3 tests from 2 test cases.
#  RUN           global.opens ...
#            OK  global.opens
ok 1 global.opens
#  RUN           file.reads ...
# abi.c:30:reads:Expected 5 (5) == ret (-1)
# reads: Test failed at step #7
#          FAIL  file.reads
not ok 2 file.reads
#  RUN           file.absent ...
#      SKIP      no device
ok 3 # SKIP no device
# FAILED: 2 / 3 tests passed.
# Totals: pass:1 fail:1 xfail:0 xpass:0 skip:1 error:0
"""

KUNIT = """KTAP version 1
1..2
    KTAP version 1
    # Subtest: umad_txn
    1..2
    ok 1 txn_matches
        KTAP version 1
        # Subtest: txn_expires
        ok 1 zero
        ok 2 one second
    # txn_expires: pass:2 fail:0 skip:0 total:2
    ok 2 txn_expires
# umad_txn: pass:2 fail:0 skip:0 total:2
# Totals: pass:3 fail:0 skip:0 total:3
ok 1 umad_txn
    KTAP version 1
    # Subtest: umad_hdr
    1..1
    ok 1 hdr_sizes # SKIP not here
ok 2 umad_hdr
"""


def statuses(text):
    """name -> status of a document."""
    return {r.name: r.status for r in parse(text.splitlines())}


def failures(text):
    """Notes of the failures of a document."""
    return [f"{r.name}: {r.note}" for r in parse(text.splitlines())
            if r.status == FAIL]


class Documents(unittest.TestCase):
    """Documents as our producers write them."""

    def test_kselftest_harness(self):
        self.assertEqual(statuses(KSELFTEST), {
            "global.opens": PASS, "file.reads": FAIL, "file.absent": SKIP})
        self.assertIn("Expected 5", failures(KSELFTEST)[0])

    def test_kunit(self):
        # As xt_kunit prints it; 6.1 writes no plan for parameters.
        self.assertEqual(statuses(KUNIT), {
            "umad_txn/txn_matches": PASS, "umad_txn/txn_expires/zero": PASS,
            "umad_txn/txn_expires/one second": PASS,
            "umad_hdr/hdr_sizes": SKIP})

    def test_two_documents(self):
        one = "KTAP version 1\n1..1\nok 1 a\n"
        two = "KTAP version 1\n1..2\nok 1 b\nok 2 c\n"
        self.assertEqual(statuses(one + two), {"a": PASS, "b": PASS, "c": PASS})

    def test_nested_ktap(self):
        text = ("KTAP version 1\n1..2\n  KTAP version 1\n  1..2\n  ok 1 a\n"
                "  not ok 2 b\nnot ok 1 outer\nok 2 second\n")
        self.assertEqual(statuses(text), {"outer/a": PASS, "outer/b": FAIL,
                                          "second": PASS})

    def test_skip_all(self):
        self.assertEqual(statuses("TAP version 13\n1..0 # SKIP no rxe\n"),
                         {"": SKIP})

    def test_not_tap(self):
        self.assertEqual(parse(["hello", "okay then", "# comment"]), [])


class Doubts(unittest.TestCase):
    """Documents that must not pass."""

    def doubt(self, text, word):
        """There is a failure that says word."""
        self.assertTrue(any(word in f for f in failures(text)),
                        failures(text))

    def test_too_few(self):
        self.doubt("KTAP version 1\n1..3\nok 1 a\nok 2 b\n", "planned 3")

    def test_too_many(self):
        self.doubt("KTAP version 1\n1..1\nok 1 a\nok 2 b\n", "planned 1")

    def test_out_of_turn(self):
        self.doubt("KTAP version 1\n1..2\nok 1 a\nok 3 c\n", "was due")

    def test_repeated_number(self):
        self.doubt("KTAP version 1\n1..2\nok 1 a\nok 1 a\n", "was due")

    def test_no_plan(self):
        self.doubt("KTAP version 1\nok 1 a\n", "no plan")

    def test_nothing_after_version(self):
        self.doubt("KTAP version 1\n", "no tests")

    def test_plan_only(self):
        self.doubt("KTAP version 1\n1..2\n", "planned 2")

    def test_cut_word(self):
        for cut in ("o", "ok", "no", "not o", "not ok", "not ok "):
            self.doubt(f"KTAP version 1\n1..2\nok 1 a\n{cut}", "cut off")

    def test_bail_out(self):
        self.doubt("KTAP version 1\n1..1\nok 1 a\nBail out! no device\n",
                   "no device")

    def test_subtests_without_parent(self):
        self.doubt("KTAP version 1\n1..1\n  KTAP version 1\n  1..1\n"
                   "  ok 1 a\n", "planned 1")

    def test_parent_hides_failure(self):
        self.doubt("KTAP version 1\n1..1\n  1..1\n  not ok 1 a\nok 1 p\n",
                   "passes though")

    def test_parent_fails_alone(self):
        self.doubt("KTAP version 1\n1..1\n  1..1\n  ok 1 a\nnot ok 1 p\n",
                   "fails though")

    def test_first_of_two_documents(self):
        self.doubt("KTAP version 1\n1..2\nok 1 a\n"
                   "KTAP version 1\n1..1\nok 1 b\n", "second plan")

    def test_parameters_without_parent(self):
        self.doubt(KUNIT[:KUNIT.index("    # txn_expires")], "planned 2")

    def test_nested_too_few(self):
        self.doubt("KTAP version 1\n1..1\n  1..2\n  ok 1 a\nok 1 p\n",
                   "planned 2")


class Commands(unittest.TestCase):
    """What verdict makes of one command's output and status."""

    def verdicts(self, text, status, cut=""):
        """The statuses of a command named t."""
        return [r.status for r in
                verdict.judge_test("t", text.splitlines(), status, cut)]

    def test_exit_status_counts_without_tap(self):
        self.assertEqual(self.verdicts("hello", 0), [PASS])
        self.assertEqual(self.verdicts("hello", 1), [FAIL])
        self.assertEqual(self.verdicts("no device", 4), [SKIP])

    def test_exit_status_counts_with_tap(self):
        good = "KTAP version 1\n1..1\nok 1 a"
        self.assertEqual(self.verdicts(good, 0), [PASS])
        self.assertIn(FAIL, self.verdicts(good, 1))
        self.assertIn(FAIL, self.verdicts(good, None))
        self.assertIn(FAIL, self.verdicts(good, 0, cut="ok 2 b"))

    def test_known_failures(self):
        results = [Result("a", FAIL), Result("b", PASS), Result("c", FAIL),
                   Result("d", SKIP)]
        known = {"a": "why", "b": "why", "d": "why", "gone": "why"}
        got = {r.name: r.status
               for r in verdict.apply_expectations(results, known)}
        self.assertEqual(got, {"a": PASS, "b": FAIL, "c": FAIL, "d": FAIL,
                               "gone": FAIL})
