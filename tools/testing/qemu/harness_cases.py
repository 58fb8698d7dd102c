# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Guests that must fail, or pass, and what the runner has to say of each.

test_harness.py gives them to the runner, as "run.py harness/NAME" does.
"""

from dataclasses import dataclass

import plan

# What needs no checkers: quick to boot.
STOCK = {"kernel": "stock-6.1", "module": "none", "programs": [],
         "timeout": 60, "smp": 1}
# What is about the checkers of the debug kernel.
DEBUG = {"kernel": "debug-6.1", "module": "none", "programs": [],
         "timeout": 180}
SPLAT = "insmod /lib/umad/splat_mod.ko what={0} && rmmod splat_mod"
WARN = SPLAT.format("warn")


@dataclass
class Case:
    """A guest; its keys are those of matrix.toml."""
    desc: str
    # What the runner has to print; nothing: the guest must pass. "not ok NAME"
    # are whole lines, the rest is searched as it stands.
    says: list
    base: dict
    keys: dict

    def plan(self, name):
        """As the runner wants it."""
        return plan.make(f"harness/{name}", self.base, self.keys,
                         {"desc": self.desc})


CASES = {
    "pass": Case(
        "a guest without fault passes: the tests below mean something", [],
        STOCK, {"test": {
            "ktap": r"printf 'KTAP version 1\n1..2\nok 1 first\n"
                    r"ok 2 second # SKIP no reason\n'",
            "plain": "true"}}),
    "panic": Case(
        "a panic is a failure although QEMU ends with status 0",
        ["not ok guest", "QEMU ended with 0", "no XT-DONE",
         "splat in 'test 2 panic'", "Kernel panic", "not ok panic"],
        STOCK, {"test": {
            "before": "true",
            "panic": "echo c >/proc/sysrq-trigger; sleep 30"}}),
    "hang": Case(
        "a guest that does not end is stopped and fails",
        ["not ok guest", "no end within 30 s", "not ok hang",
         "never came to its end"],
        STOCK, {"timeout": 30, "test": {"hang": "echo alive; sleep 1000"}}),
    "cut": Case(
        "a guest that dies in the middle of a KTAP line fails",
        ["not ok guest", "no XT-DONE", "not ok cut",
         "planned 2 tests, saw 1"],
        STOCK, {"test": {
            "cut": r"printf 'KTAP version 1\n1..2\nok 1 first\nok 2 sec'; "
                   "sleep 1; echo c >/proc/sysrq-trigger; sleep 30"}}),
    "half-line": Case(
        "a test that ends in the middle of a KTAP line fails",
        ["not ok half", "output cut off: 'ok 2 sec'"],
        STOCK, {"test": {
            "half": r"printf 'KTAP version 1\n1..2\nok 1 first\nok 2 sec'"}}),
    "no-done": Case(
        "the magic status without XT-DONE is a failure",
        ["not ok guest", "crash: no XT-DONE", "not ok never", "did not run"],
        STOCK, {"test": {
            "quit": r"printf 'KTAP version 1\n1..1\nok 1 first\n'; sleep 1;"
                    "\n" r"printf '\052' | dd of=/dev/port bs=1 seek=244 "
                    "conv=notrunc; sleep 30",
            "never": "true"}}),
    "not-ok": Case(
        "a failing KTAP line fails though the program exits with 0",
        ["not ok fails/second"],
        STOCK, {"test": {
            "fails": r"printf 'KTAP version 1\n1..2\nok 1 first\n"
                     r"not ok 2 second\n'"}}),
    "short": Case(
        "fewer results than planned fail",
        ["not ok short", "planned 3 tests, saw 2"],
        STOCK, {"test": {
            "short": r"printf 'KTAP version 1\n1..3\nok 1 first\n"
                     r"ok 2 second\n'"}}),
    "exit-status": Case(
        "good KTAP with a bad exit status fails, and ends a plan that stops",
        ["not ok status", "exit status 3", "not ok never", "did not run"],
        STOCK, {"stop": True, "test": {
            "status": r"printf 'KTAP version 1\n1..1\nok 1 first\n'; exit 3",
            "never": "true"}}),
    "setup-fails": Case(
        "no test runs, and the plan fails, when its setup does",
        ["not ok guest", "setup 01-module failed", "not ok never"],
        STOCK, {"module": "intree", "test": {"never": "true"}, "file": {
            "/lib/umad/intree/ib_umad.ko": "tools/testing/qemu/README.rst"}}),
    "stuck": Case(
        "a module that cannot be unloaded at the end fails",
        ["not ok guest", "modules left:", "ib_umad"],
        STOCK, {"module": "intree", "setup": ["rxe"], "test": {
            "holder": "setsid sleep 1000 </dev/infiniband/umad0 &"}}),
    "no-splat": Case(
        "a required splat that does not come is a failure",
        ["not ok guest", "did not come"],
        STOCK, {"require_splat": "WARNING: .*splat_mod",
                "test": {"nothing": "true"}}),
    "expected": Case(
        "a list of known failures that is wrong is a failure",
        ["not ok list/listed-good", "but: pass", "not ok list/unlisted-bad",
         "not ok list/gone", "never ran", "ok list/known-bad: fails as known"],
        STOCK, {
            "expect_fail": {
                "list/known-bad": "fails, and may",
                "list/listed-good": "passes though it is listed",
                "list/gone": "does not exist"},
            "test": {
                "list": r"printf 'KTAP version 1\n1..3\nnot ok 1 known-bad\n"
                        r"ok 2 listed-good\nnot ok 3 unlisted-bad\n'"}}),
    "warn": Case(
        "a WARN alone fails a run that is otherwise perfect",
        ["not ok guest", "splat in 'test 2 warn'", "make_warning"],
        STOCK, {"panic_on_warn": False, "test": {
            "quiet": "true", "warn": WARN, "after": "true"}}),
    "warn-panics": Case(
        "by default a WARN ends the guest",
        ["not ok guest", "no XT-DONE", "panic_on_warn set"],
        STOCK, {"test": {
            "warn": "insmod /lib/umad/splat_mod.ko what=warn; sleep 30"}}),
    "warn-allowed": Case(
        "an allowed and required WARN passes", [],
        STOCK, {"require_splat": "WARNING: .*splat_mod.c.*make_warning",
                "test": {"warn": WARN}}),
    "no-crash": Case(
        "a crash that is expected and does not come is a failure",
        ["not ok guest", "no crash: XT-DONE is there", "no panic"],
        STOCK, {"expect_crash": "NULL pointer dereference",
                "test": {"nothing": "true"}}),
    "remote": Case(
        "two guests on one wire, both pass", [],
        STOCK, {"remote": "none", "setup": ["wire"],
                "test": {"near": "ping -6 -c 1 -W 5 fd00::2"},
                "remote_test": {"remote": "ping -6 -c 1 -W 5 fd00::1; sleep 3"}}),
    "remote-fails": Case(
        "the second guest's test fails",
        ["not ok remote/bad", "exit status 1"],
        STOCK, {"remote": "none", "setup": ["wire"], "test": {"near": "true"},
                "remote_test": {"bad": "sleep 3; false"}}),
    "leak": Case(
        "a memory leak fails",
        ["not ok guest", "kmemleak: 1", "unreferenced object"],
        DEBUG, {"test": {"leak": SPLAT.format("leak")}}),
    "checkers": Case(
        "every checker of the debug kernel is heard, in its own test",
        ["splat in 'test 1 refcount'", "splat in 'test 2 odebug'",
         "splat in 'test 3 sleep'", "splat in 'test 4 lockdep'",
         "splat in 'test 5 kasan'", "refcount_t: ", "ODEBUG: ",
         "sleeping function called from invalid context",
         "possible circular locking", "KASAN: use-after-free"],
        DEBUG, {"panic_on_warn": False, "test": {
            what: SPLAT.format(what) for what in
            ("refcount", "odebug", "sleep", "lockdep", "kasan")}}),
}
