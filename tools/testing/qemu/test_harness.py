#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tests of the test harness: who would else notice that it sees nothing?

First the unit tests of the parsers, then the guests of harness_cases.py, which
must fail (or pass), each given to the real runner. Prints a line "ok"
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
from harness_cases import CASES

HERE = Path(__file__).resolve().parent


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
    problem = wrong_with(CASES[name].says, *outcome_of(name))
    if not problem:
        again.keep(word, [])
    return title, problem


def unit_tests():
    """(name, what went wrong) of every unit test."""
    suite = unittest.defaultTestLoader.loadTestsFromNames(
        ["test_again", "test_build", "test_guest", "test_ktap", "test_plan",
         "test_products", "test_run", "test_splat"])
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
    parser.add_argument("guests", nargs="*", help="names of the table CASES")
    parser.add_argument("--changed", action="store_true",
                        help="not the guests that passed and are the same")
    args = parser.parse_args()
    results = [] if args.guests else unit_tests()
    parts = run.Parts()
    with ThreadPoolExecutor(3) as pool:
        results += pool.map(lambda name: run_guest(name, parts,
                                                   not args.changed),
                            args.guests or CASES)
    failed = 0
    for name, problem in results:
        failed += bool(problem)
        print(f"{'not ok' if problem else 'ok'} {name}")
        for line in problem.splitlines():
            print(f"    {line}")
    print(f"{len(results) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
