#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs test plans, or one ad hoc command line, in QEMU guests.

See README.rst beside this file for plans, and for what a guest can do.
"""

import argparse
import asyncio
import dataclasses
import json
import os
import shutil
import signal
import sys
import tempfile
import threading
from pathlib import Path

import again
import build
import guest
import initramfs
import machine
import plan as plans
import products
import verdict
from ktap import FAIL, PASS, SKIP, Result

RESULTS = build.WORK / "results"
# Runs that keep their logs.
RESULTS_MAX = 150
TIMINGS = build.CACHE / "timings.json"
# What a plan counts as that waits most of its time.
WAITING = 0.4


class Parts:
    """What guests are made of, each built once per run."""

    def __init__(self, strict=True):
        self.strict = strict    # programs that do not build are an error
        self.made = {}
        self.lock = threading.Lock()    # of made

    def get(self, key, make, *args):
        """The product key, from make(*args) the first time; so is its failure."""
        with self.lock:
            if key not in self.made:
                try:
                    self.made[key] = make(*args)
                except build.BuildError as error:
                    self.made[key] = error
            made = self.made[key]
        if isinstance(made, build.BuildError):
            raise made
        return made

    def kernel(self, profile):
        """Folder of a kernel."""
        return self.get(("kernel", profile), build.kernel, profile)

    def tree(self, plan):
        """The initramfs of a plan."""
        profile = self.kernel(plan.kernel)
        tree = initramfs.skeleton()
        initramfs.add_programs(tree, plan.commands, profile)
        initramfs.add_modules(tree, profile, plan.root and initramfs.DISK_MODULES)
        if plan.module != "none" and again.concerns_us(plan):
            for name, _, data in self.get(
                    ("module", profile, plan.module == "ours"),
                    self._module, profile, plan):
                tree.blob(f"lib/umad/ours/{name}", data)
        folders = list(plan.modules)
        if any("splat_mod" in command for _, command in plan.tests):
            folders.append(build.SPLAT_MOD)
        for folder in folders:
            for name, _, data in self.get(("modules", profile, folder),
                                       build.test_modules, profile, folder):
                tree.blob(f"lib/umad/{name}", data)
        if any("demo.sh" in command for _, command in plan.tests):
            for name, _, data in self.get("demo", build.demo):
                tree.blob(f"opt/umad/{name}", data, 0o755)
        for folder in plan.programs:
            made = [p for p in self.get(("programs", folder), build.programs,
                                        folder, self.strict)
                    if plan.wants(p[0])]
            for name, _, data in made:
                tree.blob(f"opt/umad/{name}", data, 0o755)
            for host in initramfs.libraries(path for _, path, _ in made):
                tree.copy(host)
        self._add_job(tree, plan, machine.of_profile(profile))
        return tree

    @staticmethod
    def _module(profile, plan):
        try:
            return build.module(profile)
        except build.BuildError as error:
            if plan.module == "ours":
                raise
            # The plan is about another module; its tests will miss ours
            # if they want it.
            print(f"# going on without our module: {error}", file=sys.stderr)
            return []

    @staticmethod
    def _add_job(tree, plan, host):
        here = plans.QEMU_DIR / "guest"
        tree.text("xt/init", (here / "init").read_text(), 0o755)
        tree.copy(here / "lib.sh", "xt/lib.sh")
        tree.text("xt/vars", f"XT_MODULE={plan.module}\nXT_REPORT={host.report}\n"
                  f"XT_MODULE_ARGS='{plan.module_args}'\n"
                  f"XT_PANIC_ON_WARN={int(plan.stops_on_warning)}\n"
                  f"XT_STOP={'yes' if plan.stop else 'no'}\n"
                  f"XT_END={plan.end}\n" + "".join(
                      f"export {name}='{value}'\n"
                      for name, value in plan.environment.items()))
        for number, step in enumerate([*plan.setup, "module"], 1):
            tree.copy(here / "setup" / f"{step}.sh",
                      f"xt/setup/{number:02}-{step}")
        for number, (name, command) in enumerate(plan.tests, 1):
            tree.text(f"xt/tests/{number:03}-{name}",
                      f". /xt/lib.sh\n{command}\n")
        for host, path in plan.files:
            tree.copy(host, path)


async def run_plan(plan, parts, watch=None, repeat=True):
    """Boot the guest, or guests; (results, outcome, folder of the logs).

    Not repeat: what has passed as it is, without our module, is not run again.
    """
    if not plan.remote:
        return await run_guest(plan, parts, watch, repeat=repeat)
    with tempfile.TemporaryDirectory() as wire:
        near, remote = await asyncio.gather(
            run_guest(plan, parts, watch, wire),
            run_guest(plan.remote_side(), parts, None, wire))
    results = near[0] + [dataclasses.replace(r, name=f"remote/{r.name}")
                         for r in remote[0]]
    return results, near[1], near[2]


def make_guest(plan, parts, where, wire=None):
    """Its initramfs in the folder where, and QEMU's command line for it."""
    shutil.rmtree(where, ignore_errors=True)
    where.mkdir(parents=True)
    tree = parts.tree(plan)
    vmlinux = parts.kernel(plan.kernel) / "vmlinux"
    accel = plan.accel if plan.accel != "auto" else guest.best_accel(vmlinux)
    initrd = where / "initrd"
    with open(initrd, "wb") as out:
        tree.write(out)
    more = []
    if wire:
        more += guest.wire_end(wire, plan.end)
    if plan.root:
        more += guest.disk(parts.get(("root", plan.root), build.program_root,
                                     plan.root))
    return initrd, guest.command(vmlinux, initrd, where, accel, plan.smp,
                                 plan.mem, plan.append, more)


def word(name, parts, folder):
    """What the outcome of this plan depends on, made in an empty folder."""
    words = []
    for plan in plans.load(name):
        sides = [plan, plan.remote_side()] if plan.remote else [plan]
        for side in sides:
            initrd, args = make_guest(side, parts, folder / "guest",
                                      plan.remote and folder)
            words.append(again.key(side, initrd, args, [initrd.parent, folder]))
    return "-".join(words)


async def run_guest(plan, parts, watch=None, wire=None, repeat=True):
    """Boot one guest; wire is the folder of the wire it is on, if any."""
    where = RESULTS / f"{plan.name.replace('/', '_')}-{os.getpid()}"
    try:
        # In a thread: what runs already is to be watched meanwhile.
        initrd, args = await asyncio.to_thread(make_guest, plan, parts, where,
                                               wire)
    except (build.BuildError, RuntimeError, OSError) as error:
        return [Result("guest", FAIL, str(error))], None, where
    (where / "command").write_text(" ".join(args) + "\n")
    key = None
    # One of two guests is not enough.
    if not repeat and not wire and not again.concerns_us(plan):
        key = again.key(plan, initrd, args, [where])
        results = again.recall(key)
        if results:
            initrd.unlink()
            return results, None, where
    outcome = await guest.boot(args, where, plan.timeout, watch)
    outcome.good = machine.of_profile(parts.kernel(plan.kernel)).status
    initrd.unlink()
    results = verdict.judge(plan, outcome)
    if key:
        again.keep(key, results)
    return results, outcome, where


def report(plan, results, outcome, where):
    """Print what came of a plan: failures with reasons, the rest as sums."""
    counts = {s: sum(r.status == s for r in results)
              for s in (PASS, FAIL, SKIP)}
    if outcome:
        seconds = f"{outcome.seconds:.0f} s ({outcome.cpu:.0f} s of CPU)"
        if outcome.boots > 1:
            seconds += ", came up at the second boot"
    elif counts[FAIL]:
        seconds = "not booted"
    else:
        seconds = "as it was when it last ran: nothing has changed"
    word = "not ok" if counts[FAIL] else "ok"
    print(f"{word} {plan.name} ({plan.kernel}, {plan.module}): "
          f"{counts[PASS]} passed, {counts[FAIL]} failed, "
          f"{counts[SKIP]} skipped, {seconds}")
    for result in results:
        note = result.note.replace("\n", "\n        ")
        if result.status == FAIL:
            print(f"    not ok {result.name}\n        {note}")
        elif result.status == SKIP:
            print(f"    skip {result.name}: {note}")
        elif note:
            print(f"    ok {result.name}: {note}")
    if counts[FAIL]:
        print(f"    logs: {where}")
    sys.stdout.flush()
    return counts


def _timings():
    try:
        return json.loads(TIMINGS.read_text())
    except (OSError, ValueError):
        return {}


def _weight(plan):
    """How much of a guest's share of the processors it uses, roughly."""
    return WAITING if plan.waits else 1


async def run_all(todo, jobs, strict, repeat):
    """Run plans, longest first, about jobs at a time; the sums."""
    times, parts = _timings(), Parts(strict)
    todo.sort(key=lambda p: -times.get(p.name, p.timeout))
    total = {PASS: 0, FAIL: 0, SKIP: 0}

    async def one(plan):
        results, outcome, where = await run_plan(plan, parts, repeat=repeat)
        # What races in the in-tree module is not ours to mend.
        if again.may_be_chance(plan, results):
            report(plan, results, outcome, where)
            print(f"# {plan.name} runs once more: it has nothing of ours", flush=True)
            results, outcome, where = await run_plan(plan, parts, repeat=repeat)
        for status, count in report(plan, results, outcome, where).items():
            total[status] += count
        if outcome:
            times[plan.name] = round(outcome.seconds, 1)

    running = {}        # task -> its weight
    while todo or running:
        for plan in list(todo):
            used = sum(running.values())
            if not running or used + _weight(plan) <= jobs:
                todo.remove(plan)
                running[asyncio.create_task(one(plan))] = _weight(plan)
        done, _ = await asyncio.wait(running,
                                     return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            del running[task]
            task.result()
    TIMINGS.write_text(json.dumps(times, indent=1) + "\n")
    return total


def adhoc(args):
    """One command line in one guest; prints what it says as it says it."""
    plan = plans.Plan(name="adhoc", kernel=(args.kernel or [plans.DEBUG])[-1],
                      module=args.module,
                      module_args=args.module_args, smp=args.smp,
                      mem=args.mem, accel=args.accel, timeout=args.timeout,
                      setup=[s for s in args.setup if s != "none"],
                      allow=args.allow, panic_on_warn=False,
                      all_programs=True, tests=[("cmd", args.cmd)])
    plan.modules = args.modules
    plan.commands = args.commands
    plan.programs += args.programs
    for pair in args.file:
        host, _, path = pair.partition(":")
        plan.files.append((Path(host), path or f"opt/umad/{Path(host).name}"))

    def watch(text):
        sys.stdout.write(text)
        sys.stdout.flush()

    results, outcome, where = asyncio.run(run_plan(plan, Parts(strict=False),
                                                   watch))
    if outcome and args.console:
        print(f"--- console\n{outcome.console}")
    print("---")
    return report(plan, results, outcome, where)[FAIL] == 0


class Transcript:
    """Prints what the tests themselves say, line by line as it comes."""

    def __init__(self):
        self.rest = ""
        self.inside = False

    def __call__(self, text):
        *lines, self.rest = (self.rest + text).split("\n")
        for line in lines:
            if line.startswith("XT-"):
                self.inside = line.startswith("XT-BEGIN test ")
            elif self.inside:
                print(line, flush=True)


def show(name, kernels, soak):
    """Run one plan and show its output rather than its results."""
    good = True
    for plan in [p for kernel in kernels or [None] for p in plans.load(name, kernel)]:
        if soak:
            plan.soak(soak)
        outcome = asyncio.run(run_plan(plan, Parts(), Transcript()))
        print(f"\n--- {plan.desc}")
        good &= report(plan, *outcome)[FAIL] == 0
    return good


def options():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("plans", nargs="*", metavar="PLAN",
                        help="a name of --list, or 'all' of make check")
    parser.add_argument("--jobs", type=int, default=2,
                        help="guests at a time (2)")
    parser.add_argument("--changed", action="store_true",
                        help="do not repeat what passed, is the same, and "
                        "does not have our module in it")
    parser.add_argument("--keep-going", action="store_true",
                        help="leave out programs that do not build")
    parser.add_argument("--list", action="store_true", help="list all plans, those of make check first")
    parser.add_argument("--soak", type=int, metavar="SECONDS",
                        help="the tests have it as SOAK_SECONDS, and so much "
                        "more time")
    parser.add_argument("--show", metavar="PLAN",
                        help="run this plan, and others, print what their tests say")
    parser.add_argument("--cmd", help="run this command line in one guest")
    parser.add_argument("--kernel", metavar="PROFILE", action="append",
                        help="with --cmd: of the guest (debug-6.1); with plans, once "
                        f"or more: those that are on {plans.STOCK}, on these instead; "
                        f"on debug-X, those that are on {plans.DEBUG}")
    parser.add_argument("--without", metavar="PROFILE", action="append", default=[],
                        help="skip the plans that are on this kernel")
    one = parser.add_argument_group("with --cmd")
    one.add_argument("--module", default="ours",
                     choices=("ours", "intree", "none"))
    one.add_argument("--module-args", default="", help="NAME=VALUE ...")
    one.add_argument("--setup", action="append", default=[],
                     help="a step of guest/setup/, such as rxe")
    one.add_argument("--smp", type=int, default=2)
    one.add_argument("--mem", default="512M")
    one.add_argument("--accel", default="auto",
                     choices=("auto", "tcg", "icount", "icount-noerms"))
    one.add_argument("--timeout", type=int, default=300, help="seconds")
    one.add_argument("--file", action="append", default=[],
                     metavar="HOST[:GUEST]", help="put a file in the guest")
    one.add_argument("--modules", action="append", default=[],
                     metavar="FOLDER", help="test modules to be built")
    one.add_argument("--programs", action="append", default=[],
                     metavar="FOLDER", help="more test programs")
    one.add_argument("--commands", action="append", default=[],
                     metavar="PROGRAM", help="put a program of the host in")
    one.add_argument("--allow", action="append", default=[],
                     metavar="REGEX", help="a splat to accept")
    one.add_argument("--console", action="store_true",
                     help="print the kernel's console at the end")
    return parser.parse_args()


def main():
    """See the head of this file."""
    args = options()
    # An exception, so that no guest is left running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    products.forget_old()
    products.forget_old(RESULTS, RESULTS_MAX)
    if args.list:
        # "| head" is no error.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        first = plans.all_names()
        for name in first + [n for n in plans.every_name() if n not in first]:
            print(f"{name:23} {plans.load(name)[0].desc}")
        return 0
    if args.cmd:
        return 0 if adhoc(args) else 1
    if args.show:
        shown = [show(name, args.kernel, args.soak)
                 for name in [args.show, *args.plans]]
        return 0 if all(shown) else 1
    names = plans.all_names() if args.plans in ([], ["all"]) else args.plans
    try:
        todo = [p for kernel in args.kernel or [None] for name in names
                for p in plans.load(name, kernel)]
    except plans.PlanError as error:
        sys.exit(f"run.py: {error}")
    skipped = [p for p in todo if p.kernel in args.without]
    for plan in skipped:
        print(f"skip {plan.name}: there is no kernel {plan.kernel}")
    todo = [p for p in todo if p not in skipped]
    for plan in todo if args.soak else []:
        plan.soak(args.soak)
    total = asyncio.run(run_all(todo, max(1, args.jobs),
                                not args.keep_going, not args.changed))
    print(f"{total[PASS]} passed, {total[FAIL]} failed, "
          f"{total[SKIP] + len(skipped)} skipped")
    return 1 if total[FAIL] else 0


if __name__ == "__main__":
    sys.exit(main())
