#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Puts small faults into copies of the driver, and sees which tests notice.

"mutants.py [PATTERN...]" takes the faults whose names match, one by one,
through the tiers of tests for the file that they are in, the cheapest first,
until one notices. What is known about a fault and this tree is kept, so a
run that was stopped goes on where it was. "--check" only sees whether each
fault can still be put in. README.rst has the rest.
"""

import argparse
import concurrent.futures
import fcntl
import fnmatch
import hashlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import tomllib
from pathlib import Path

import faults as faultlist
from faults import DRIVER
from tiers import (FUZZ, PLAN_LIMIT, PLANS, PROGRAM, TIERS, fuzz_targets,
                   tiers_of)

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME")
             or Path.home() / ".cache") / "ib-umad"
MUTANTS = CACHE / "mutants"
# In the cache, what a workplace shares with everybody: it is not changed.
SHARED = ("debug-6.1-*", "stock-6.1-*", "source-*", "ccache", "accel-*")
# Seconds: for a build, and of each fuzz target.
BUILD_LIMIT = 600
FUZZ_SECONDS = 5
FUZZ_LIMIT = 600
NOTICED, PASSED, BROKEN = "noticed", "passed", "broken"


def tree_word():
    """For all that the outcome depends on but the faults themselves."""
    word = hashlib.sha256()
    listed = subprocess.run(
        ["git", "-C", ROOT, "ls-files", "-z", "drivers", "include",
         "tools/testing", "Kbuild"], stdout=subprocess.PIPE,
        check=True).stdout
    for name in sorted(listed.decode().split("\0")):
        path = ROOT / name
        if name and "testing/mutants" not in name and path.is_file():
            word.update(name.encode() + b"\0" + path.read_bytes())
    return word.hexdigest()[:12]


def snapshot(word):
    """The tree as it is now, for a run that outlasts it."""
    base = MUTANTS / f"tree-{word}"
    for old in MUTANTS.glob("tree-*"):
        # Another run may be about it.
        if old != base and time.time() - old.stat().st_mtime > 86400:
            shutil.rmtree(old, ignore_errors=True)
    base.mkdir(parents=True, exist_ok=True)
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"],
                            stdout=subprocess.PIPE, check=True).stdout
    subprocess.run(["rsync", "-lpc", "--from0", "--files-from=-", "-r",
                    f"{ROOT}/", base], input=listed, check=True)
    return base


def _read(path):
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return {}


class State:
    """What is known: {fault's key: {tier: outcome, ...}}."""

    def __init__(self, word):
        self.path = MUTANTS / f"state-{word}.json"
        self.lock = threading.Lock()
        self.known = _read(self.path)

    def get(self, fault):
        return self.known.setdefault(fault.key(), {})

    def put(self, fault, tier, outcome):
        with self.lock:
            self.get(fault)[tier] = outcome
            # Another run may have learned something too.
            for key, tiers in _read(self.path).items():
                mine = self.known.setdefault(key, {})
                for other in set(tiers) - set(mine):
                    mine[other] = tiers[other]
            fresh = self.path.with_suffix(f".new-{os.getpid()}")
            fresh.write_text(json.dumps(self.known, indent=1) + "\n")
            fresh.rename(self.path)


class Workplace:
    """A copy of the tree, and a cache of its own."""

    def __init__(self, base):
        self.base = base
        # The first that no other run has.
        for number in range(100):
            self.where = MUTANTS / f"job-{number}"
            self.where.mkdir(parents=True, exist_ok=True)
            # pylint: disable=consider-using-with
            self.lock = open(self.where / "lock", "w", encoding="ascii")
            try:
                fcntl.flock(self.lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                self.lock.close()
        self.tree = self.where / "tree"
        self.cache = self.where / "cache/ib-umad"
        self.cache.mkdir(parents=True, exist_ok=True)
        for pattern in SHARED:
            for shared in CACHE.glob(pattern):
                link = self.cache / shared.name
                if not link.exists() and shared.suffix != ".lock":
                    link.symlink_to(shared)
        self.environment = dict(os.environ,
                                XDG_CACHE_HOME=str(self.cache.parent))
        self.running = None

    def put_in(self, fault):
        """The fault, and only that one."""
        self.tree.mkdir(parents=True, exist_ok=True)
        subprocess.run(["rsync", "-rlpc", "--delete", f"{self.base}/",
                        self.tree], check=True)
        if fault:
            path = self.tree / DRIVER / fault.file
            path.write_text(fault.apply(path.read_text()))

    def run(self, command, limit):
        """(exit status, None when it took too long; what it said)."""
        with subprocess.Popen(["nice", "-n", "10", *map(str, command)],
                              env=self.environment, cwd=self.tree,
                              stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, errors="replace",
                              start_new_session=True) as process:
            self.running = process
            try:
                said, _ = process.communicate(timeout=limit)
                return process.returncode, said
            except BaseException as error:
                # What runs guests stops them when it is asked to.
                os.killpg(process.pid, signal.SIGTERM)
                try:
                    said, _ = process.communicate(timeout=20)
                except subprocess.TimeoutExpired:
                    os.killpg(process.pid, signal.SIGKILL)
                    said = ""
                if isinstance(error, subprocess.TimeoutExpired):
                    return None, said
                raise
            finally:
                self.running = None

    def forget_products(self):
        """Modules with faults: nobody wants them again."""
        for product in (self.cache / "built").glob("module-*"):
            shutil.rmtree(product, ignore_errors=True)


def tier_compile(place, _):
    """gcc with W=1 and sparse on what is built anew; both have to be silent."""
    copy = place.where / "build"
    status, said = place.run([place.tree / "scripts/module-copy.sh", copy,
                              "tools/testing/kunit"], BUILD_LIMIT)
    if status:
        return BROKEN, said
    kernel = place.run([place.tree / "scripts/kernel-cache.sh", "debug-6.1"],
                       BUILD_LIMIT)[1].strip()
    status, said = place.run(
        ["make", "-s", f"-j{os.cpu_count()}", "-C", f"{kernel}/kdir",
         f"M={copy}", "CONFIG_DEBUG_INFO_BTF_MODULES=", "UMAD_KUNIT=m", "W=1",
         "C=1", "CF=-D__CHECK_ENDIAN__", "modules"], BUILD_LIMIT)
    said = said.strip()
    return (NOTICED, said) if status or said else (PASSED, "")


def tier_fuzz(place, fault):
    """The corpus, and some seconds more."""
    status, said = place.run(
        [place.tree / "tools/testing/fuzz/fuzz.py", "--where",
         place.where / "fuzz", "--seconds", FUZZ_SECONDS, "--stop",
         *fuzz_targets(fault)], FUZZ_LIMIT)
    if status == 0:
        return PASSED, ""
    return NOTICED, "\n".join(line for line in said.splitlines()
                              if not line.startswith("ok ")) or "too late"


def tier_plan(place, plan):
    """A plan in a guest."""
    status, said = place.run(
        [place.tree / "tools/testing/qemu/run.py", "--jobs", 1,
         f"mutants-{plan}"], PLAN_LIMIT)
    place.forget_products()
    if status is None:
        return NOTICED, f"not done in {PLAN_LIMIT} s"
    return (NOTICED, said) if status else (PASSED, "")


def program_folder(root, program):
    """Where it is built, or None."""
    for folder in ("tools/testing/ib_hwsim/tests",
                   "tools/testing/selftests/umad"):
        if (root / folder / f"{program}.c").exists():
            return folder
    return None


def tier_program(place, program):
    """One test program in a guest."""
    folder = program_folder(place.tree, program)
    hwsim = ["--setup", "hwsim", "--modules", "drivers/infiniband/sw/ib_hwsim",
             "--programs", "tools/testing/selftests/umad"]
    status, said = place.run(
        [place.tree / "tools/testing/qemu/run.py", "--kernel", "stock-6.1",
         "--module", "ours", "--accel", "icount", "--smp", 1, "--mem", "1G",
         "--timeout", 300, "--programs", folder,
         *(hwsim if "hwsim" in folder else ["--setup", "rxe"]),
         "--cmd", f"cd /opt/umad; ./{program}"], PLAN_LIMIT)
    place.forget_products()
    return (NOTICED, said) if status != 0 else (PASSED, "")


def run_tier(place, tier, fault):
    """(outcome, the first words of why, seconds)."""
    start = time.monotonic()
    if tier == "compile":
        outcome, said = tier_compile(place, fault)
    elif tier == "fuzz":
        outcome, said = tier_fuzz(place, fault)
    elif tier.startswith(PROGRAM):
        outcome, said = tier_program(place, tier.removeprefix(PROGRAM))
    else:
        outcome, said = tier_plan(place, tier)
    return [outcome, first_reason(said), round(time.monotonic() - start)]


def first_reason(said):
    """One line of what a test said."""
    for pattern in (r"not true: (.*)", r"^\s+not ok (\S+)",
                    r"(runtime error: .*)", r"(?:error|warning): (.*)",
                    r"ERROR: (\w+: .*)"):
        found = re.search(pattern, said, re.M)
        if found and found[1] != "guest":
            return found[1][:100]
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    return (lines[1] if len(lines) > 1 else "".join(lines))[:100]


def good_tree(place, tier, state):
    """Without a fault, is the tier silent? Otherwise it says nothing."""
    class Nothing:
        """No fault."""
        file = ""

        @staticmethod
        def key():
            """As of a fault."""
            return "none"

    known = state.get(Nothing)
    # One that failed may do so because the machine was busy: once more.
    if known.get(tier, [None])[0] != PASSED:
        place.put_in(None)
        state.put(Nothing, tier, run_tier(place, tier, Nothing))
        if known[tier][0] != PASSED:
            print(f"# tier {tier} fails without any fault: "
                  f"{known[tier][1]}", flush=True)
    return known[tier][0] == PASSED


class Run:
    """All faults, at most some at a time."""

    def __init__(self, options, todo):
        self.tiers = options.tiers
        self.todo = todo
        word = tree_word()
        self.state = State(word)
        self.places = queue.Queue()
        base = None if options.known else snapshot(word)
        for _ in range(0 if options.known else options.jobs):
            self.places.put(Workplace(base))
        self.good = {}
        self.good_lock = threading.Lock()

    def usable(self, place, tier):
        """Asked once, by whoever comes first."""
        with self.good_lock:
            if tier not in self.good:
                self.good[tier] = good_tree(place, tier, self.state)
            return self.good[tier]

    def one(self, fault):
        """Through the tiers, until one notices."""
        place = self.places.get()
        try:
            known = self.state.get(fault)
            for tier in tiers_of(fault):
                if self.tiers and tier not in self.tiers:
                    continue
                if tier not in known:
                    if not self.usable(place, tier):
                        continue
                    place.put_in(fault)
                    self.state.put(fault, tier, run_tier(place, tier, fault))
                if known[tier][0] == NOTICED:
                    break
        finally:
            self.places.put(place)
        print(line_of(fault, known), flush=True)

    def all(self, jobs):
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            running = [pool.submit(self.one, fault) for fault in self.todo]
            try:
                for done in running:
                    done.result()
            except BaseException:
                for other in running:
                    other.cancel()
                raise


def fate(fault, known):
    """(what became of it, how long it took)."""
    seconds = sum(outcome[2] for outcome in known.values())
    for tier, (outcome, reason, _) in known.items():
        if outcome == NOTICED:
            return tier, reason, seconds
    missing = [tier for tier in tiers_of(fault)
               if known.get(tier, [None])[0] != PASSED]
    if missing:
        return "not finished", "not run: " + " ".join(missing), seconds
    return "SURVIVED", fault.known, seconds


def line_of(fault, known):
    outcome, reason, seconds = fate(fault, known)
    return (f"{fault.name:34} {fault.file:14} {outcome:12} {seconds:5} s  "
            f"{reason}")


def table(todo, state):
    """The sums, and each that was not noticed."""
    by = {}
    for fault in todo:
        outcome = fate(fault, state.get(fault))[0]
        by.setdefault(outcome, []).append(fault)
    survivors = by.pop("SURVIVED", [])
    unfinished = by.pop("not finished", [])
    noticed = sum(map(len, by.values()))
    for tier in [tier for tier in by if tier.startswith(PROGRAM)]:
        by.setdefault("program", []).extend(by.pop(tier))
    print(f"\n{len(todo)} faults: {noticed} noticed ("
          + ", ".join(f"{tier} {len(by[tier])}"
                      for tier in [*TIERS, "program"] if tier in by)
          + f"), {len(survivors)} survived, {len(unfinished)} not finished")
    for fault in survivors + unfinished:
        print(line_of(fault, state.get(fault)))
    return 1 if [f for f in survivors if not f.known] else 0


def options():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("patterns", nargs="*", metavar="PATTERN",
                        help="of names: txn-*")
    parser.add_argument("--check", action="store_true",
                        help="only: can each be put in?")
    parser.add_argument("--list", action="store_true",
                        help="only: names, and where they are")
    parser.add_argument("--known", action="store_true",
                        help="run nothing; print what is known")
    parser.add_argument("--jobs", type=int, default=1,
                        help="faults at a time (1)")
    parser.add_argument("--sample", type=int, metavar="N",
                        help="only N of them, the same each time; more have these in them")
    parser.add_argument("--tiers", type=lambda text: text.split(","),
                        help="only these, with commas: " + ",".join(TIERS))
    return parser.parse_args()


def sample(faults, n):
    """So many of them, by what no one has chosen."""
    by_hash = sorted(faults,
                     key=lambda fault: hashlib.sha256(fault.name.encode()).digest())
    chosen = {fault.name for fault in by_hash[:n]}
    return [fault for fault in faults if fault.name in chosen]


def unknown_tests(todo):
    """What tiers.py names and is not there: it would fail, as if it had noticed."""
    fuzz = {target for targets in FUZZ.values() for target in targets}
    programs = {fault.program for fault in todo if fault.program}
    plans = {plan for plans in PLANS.values() for plan in plans}
    there = tomllib.loads((HERE / "plans.toml").read_text())["plan"]
    return [f"faults: no test program {name}" for name in sorted(programs)
            if not program_folder(ROOT, name)] + \
        [f"tiers.py: no target of libFuzzer {name}" for name in sorted(fuzz)
            if not (ROOT / f"tools/testing/fuzz/{name}_fuzz.c").exists()] + \
        [f"tiers.py: no plan mutants-{name}" for name in sorted(plans)
         if f"mutants-{name}" not in there]


def main():
    """See the head of this file."""
    args = options()
    todo = [fault for fault in faultlist.read()
            if not args.patterns or
            any(fnmatch.fnmatch(fault.name, p) for p in args.patterns)]
    if args.sample:
        todo = sample(todo, args.sample)
    wrong = unknown_tests(todo) + faultlist.stale(ROOT, todo)
    if wrong:
        print("\n".join(wrong))
        return 1
    if args.check:
        return 0
    if args.list:
        for fault in todo:
            print(f"{fault.name:34} {fault.file} {fault.function}")
        return 0
    MUTANTS.mkdir(parents=True, exist_ok=True)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run = Run(args, todo)
    if args.known:
        for fault in todo:
            print(line_of(fault, run.state.get(fault)))
    else:
        run.all(args.jobs)
    return table(todo, run.state)


if __name__ == "__main__":
    sys.exit(main())
