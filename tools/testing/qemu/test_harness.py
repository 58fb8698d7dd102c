#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of the test harness: who would else notice that it sees nothing?

First the unit tests of the parsers, then plans in plans/harness/ that must
fail (or pass), each given to the real runner in a guest. Prints a line "ok"
or "not ok" for each test and ends with a summary line.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import again
import run

HERE = Path(__file__).resolve().parent

# Plan -> what the runner has to print; an empty list: the plan must pass.
# "not ok NAME" lines are whole lines, the rest is searched as it stands.
GUESTS = {
    "pass": [],
    "panic": ["not ok guest", "QEMU ended with 0", "no XT-DONE",
              "splat in 'test 2 panic'", "Kernel panic", "not ok panic"],
    "hang": ["not ok guest", "no end within 30 s", "not ok hang",
             "never came to its end"],
    "cut": ["not ok guest", "no XT-DONE", "not ok cut",
            "planned 2 tests, saw 1"],
    "half-line": ["not ok half", "output cut off: 'ok 2 sec'"],
    "no-done": ["not ok guest", "crash: no XT-DONE", "not ok never",
                "did not run"],
    "not-ok": ["not ok fails/second"],
    "short": ["not ok short", "planned 3 tests, saw 2"],
    "exit-status": ["not ok status", "exit status 3", "not ok never",
                    "did not run"],
    "setup-fails": ["not ok guest", "setup 01-module failed", "not ok never"],
    "stuck": ["not ok guest", "modules left:", "ib_umad"],
    "no-splat": ["not ok guest", "did not come"],
    "expected": ["not ok list/listed-good", "but: pass",
                 "not ok list/unlisted-bad", "not ok list/gone",
                 "never ran", "ok list/known-bad: fails as known"],
    "warn": ["not ok guest", "splat in 'test 2 warn'", "make_warning"],
    "warn-panics": ["not ok guest", "no XT-DONE", "panic_on_warn set"],
    "warn-allowed": [],
    "no-crash": ["not ok guest", "no crash: XT-DONE is there", "no panic"],
    "far": [],
    "far-fails": ["not ok far/bad", "exit status 1"],
    "leak": ["not ok guest", "kmemleak: 1", "unreferenced object"],
    "checkers": ["splat in 'test 1 refcount'", "splat in 'test 2 odebug'",
                 "splat in 'test 3 sleep'", "splat in 'test 4 lockdep'",
                 "splat in 'test 5 kasan'", "refcount_t: ", "ODEBUG: ",
                 "sleeping function called from invalid context",
                 "possible circular locking", "KASAN: use-after-free"],
}


def outcome_of(name):
    """The runner's exit status and what it printed of this plan."""
    done = subprocess.run([sys.executable, str(HERE / "run.py"),
                           f"harness/{name}"], stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    return done.returncode, done.stdout


def wrong_with(wanted, status, output):
    """What is wrong with the runner's report of a plan, '' if nothing."""
    lines = [line.strip() for line in output.splitlines()]
    problems = []
    if bool(status) != bool(wanted):
        problems.append(f"the runner's exit status is {status}")
    last = re.fullmatch(r"(\d+) passed, (\d+) failed, \d+ skipped",
                        lines[-1] if lines else "")
    if not last or bool(int(last[2])) != bool(wanted) \
            or (not wanted and last[1] == "0"):
        problems.append("the summary is wrong")
    for text in wanted:
        if text not in (lines if text.startswith("not ok ") else output):
            problems.append(f"no '{text}'")
    if problems:
        problems.append(output)
    return "\n".join(problems)


def run_guest(name, parts, repeat):
    """(name, what is wrong) of the runner's report of a plan."""
    with tempfile.TemporaryDirectory() as folder:
        word = "harness-" + run.word(f"harness/{name}", parts, Path(folder))
    title = f"reported: {name}"
    if not repeat and again.recall(word) is not None:
        return f"{title} # nothing has changed since it last ran", ""
    problem = wrong_with(GUESTS[name], *outcome_of(name))
    if not problem:
        again.keep(word, [])
    return title, problem


def unit_tests():
    """(name, what went wrong) of every unit test."""
    suite = unittest.defaultTestLoader.loadTestsFromNames(
        ["test_again", "test_guest", "test_ktap", "test_products",
         "test_splat"])
    names = [test.id() for group in suite for cls in group for test in cls]
    result = unittest.TestResult()
    suite.run(result)
    wrong = {test.id(): text for test, text in
             result.failures + result.errors}
    # A test module that cannot be imported is in no list but this one.
    names += [name for name in wrong if name not in names]
    return [(name, wrong.get(name, "")) for name in names]


def main():
    """Run all, or the guests named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("guests", nargs="*", help="names of the table GUESTS")
    parser.add_argument("--changed", action="store_true",
                        help="not the guests that passed and are the same")
    args = parser.parse_args()
    results = [] if args.guests else unit_tests()
    parts = run.Parts()
    with ThreadPoolExecutor(3) as pool:
        results += pool.map(lambda name: run_guest(name, parts,
                                                   not args.changed),
                            args.guests or GUESTS)
    failed = 0
    for name, problem in results:
        failed += bool(problem)
        print(f"{'not ok' if problem else 'ok'} {name}")
        for line in problem.splitlines():
            print(f"    {line}")
    # Plans nobody looks at would be no test.
    plans = {p.stem for p in (HERE / "plans/harness").glob("*.plan")}
    if plans != set(GUESTS):
        failed += 1
        print(f"not ok plans and table differ: {plans ^ set(GUESTS)}")
    print(f"{len(results) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
