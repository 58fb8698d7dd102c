# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads plans: what one guest is to do and what counts as a pass.

They are rows of matrix.toml and of the files beside it, made of suites.
README.rst explains the keys.
"""

import dataclasses
import functools
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

QEMU_DIR = Path(__file__).resolve().parent
ROOT = QEMU_DIR.parents[2]
SELFTESTS = "tools/testing/selftests/umad"
# The first is what "all" runs; suites may be used across the files.
MATRIX = "matrix.toml"
FILES = [MATRIX, "long.toml", "acceptance.toml", "../mutants/plans.toml"]
INTREE = "intree.toml"
# In it, the reason of tests that fail on other kernels than this one.
PASSES = "passes here"
# A list of plans, whose tests fail here too.
AS = "as"
# The kernels of most plans, in whose place another of the kind may be asked for.
STOCK = "stock-6.1"
DEBUG = "debug-6.1"
# Of the harness' own: cases of harness_cases.py.
HARNESS = "harness/"

TEXTS = {"desc", "module", "module_args", "mem", "accel", "append", "kernel",
         "require_splat", "expect_crash", "remote", "root"}
NUMBERS = {"smp", "timeout"}
FLAGS = {"waits", "stop", "figures", "panic_on_warn"}
LISTS = {"setup", "allow", "programs", "modules", "commands"}
VALUES = {"module": ("ours", "intree", "none"),
          "remote": ("ours", "intree", "none"), "accel": ("auto", "tcg", "icount", "icount-noerms"),
          "root": ("bookworm", "trixie")}


class PlanError(Exception):
    """A plan that says something it cannot."""


@dataclass
class Plan:
    """One plan for one kernel."""
    name: str
    desc: str = ""
    kernel: str = DEBUG
    module: str = "ours"
    module_args: str = ""
    root: str = ""                  # Debian whose programs are in a disk
    smp: int = 2
    mem: str = "512M"
    accel: str = "auto"
    timeout: int = 300
    waits: bool = False             # most of its time, so others can run
    stop: bool = False              # no further program after one that fails
    figures: bool = False           # compared with some of its kernel: on no other
    panic_on_warn: bool = None      # None: yes, unless splats are allowed
    append: str = ""
    require_splat: str = ""
    expect_crash: str = ""
    # Tests that have to fail, and why.
    expect_fail: dict = field(default_factory=dict)
    # A second guest on the same wire: its module and its tests.
    remote: str = ""
    remote_tests: list = field(default_factory=list)
    end: int = 0                    # 1 in the second guest
    # Folders whose Makefile makes programs for /opt/umad.
    programs: list = field(default_factory=lambda: [SELFTESTS])
    all_programs: bool = False      # also those that no test names
    # Folders whose Kbuild makes test modules for /lib/umad.
    modules: list = field(default_factory=list)
    # Programs of the host to put in besides initramfs.PROGRAMS.
    commands: list = field(default_factory=list)
    setup: list = field(default_factory=list)
    allow: list = field(default_factory=list)
    files: list = field(default_factory=list)       # (host path, guest path)
    tests: list = field(default_factory=list)       # (name, command)
    environment: dict = field(default_factory=dict)     # of the tests

    @property
    def stops_on_warning(self):
        """Is a WARN to panic the guest?"""
        if self.panic_on_warn is not None:
            return self.panic_on_warn
        return not self.allow and not self.require_splat

    def wants(self, program):
        """Does a test, or a file it may run, name this program?"""
        word = re.compile(rf"(?<![\w-]){re.escape(program)}(?![\w-])")
        return self.all_programs or any(
            word.search(text) for text in
            [*(command for _, command in self.tests),
             *(host.read_text("utf-8", "replace") for host, _ in self.files)])

    def soak(self, seconds):
        """Its tests go on for so long, if they can."""
        self.environment["SOAK_SECONDS"] = seconds
        self.timeout += seconds

    def remote_side(self):
        """The plan of the second guest."""
        return dataclasses.replace(self, name=f"{self.name}+remote", end=1,
                                   module=self.remote, tests=self.remote_tests,
                                   expect_fail={})


def parse(name):
    """A file beside this one, as a dictionary."""
    try:
        return tomllib.loads((QEMU_DIR / name).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"{name}: {error}") from error


@functools.cache
def tables():
    """The tables on, plan and suite of all files, each joined to one."""
    joined = {"on": {}, "plan": {}, "suite": {}}
    for file in FILES:
        for kind, table in parse(file).items():
            if kind not in joined:
                raise PlanError(f"{file}: no such table: {kind}")
            for name in joined[kind].keys() & table.keys():
                raise PlanError(f"{file}: a second {kind} {name}")
            joined[kind].update(table)
    return joined


def _look_up(kind, name):
    table = tables()[kind]
    if name not in table:
        raise PlanError(f"no {kind} {name}")
    return table[name]


def _add_tests(tests, commands):
    for name, command in commands.items():
        if not re.fullmatch(r"[\w.+:-]+", name):
            raise PlanError(f"no name of a test: {name}")
        if any(n == name for n, _ in tests):
            raise PlanError(f"a second test {name}")
        tests.append((name, "\n".join(
            line.strip() for line in command.strip().splitlines())))


def _set(plan, key, value):
    """Apply one key; what is a list grows, anything else is replaced."""
    if key == "run" and isinstance(value, list):
        _add_tests(plan.tests, {name: f"./{name}" for name in value})
    elif key == "test":
        _add_tests(plan.tests, value)
    elif key == "remote_test":
        _add_tests(plan.remote_tests, value)
    elif key == "file":
        plan.files += [(ROOT / host, guest) for guest, host in value.items()]
    elif key in LISTS and isinstance(value, list):
        # Two suites may want the same.
        there = getattr(plan, key)
        there += [v for v in value if v not in there]
    elif key in TEXTS and isinstance(value, str) and \
            value in VALUES.get(key, (value,)) or \
            key in NUMBERS and type(value) is int or \
            key in FLAGS and isinstance(value, bool) or \
            key == "expect_fail" and isinstance(value, dict):
        setattr(plan, key, value)
    else:
        raise PlanError(f"{key}: no such key, or no such value: {value}")


def make(name, *parts):
    """The plan that these dictionaries of keys say, one after another."""
    plan = Plan(name=name, programs=[])
    try:
        for part in parts:
            for key, value in part.items():
                _set(plan, key, value)
    except (PlanError, AttributeError, TypeError) as error:
        raise PlanError(f"{name}: {error}") from error
    if not any("programs" in part for part in parts):
        plan.programs = [SELFTESTS]
    if not plan.tests or bool(plan.remote) != bool(plan.remote_tests):
        raise PlanError(f"{name}: no tests")
    return plan


def load(name, kernel=None):
    """The plans of a row, one for each kernel it names.

    With a kernel: those that are on Debian 12's, or if it is one for debugging, on
    that of 6.1, on this one in its place; but none that is to crash, as others may not,
    nor one whose figures are compared with those of its kernel.
    """
    if name.startswith(HARNESS):
        return [_harness_case(name[len(HARNESS):])]
    row = dict(_look_up("plan", name))
    suites = [_look_up("suite", suite) for suite in row.pop("suites", [])]
    places = row.pop("on", [])
    places = [places] if isinstance(places, str) else places
    if not places:
        raise PlanError(f"{name}: on what?")
    result = [make(name, *suites, _look_up("on", place), row)
              for place in places]
    several = len(result) > 1 or kernel
    if kernel:
        place = DEBUG if kernel.startswith("debug-") else STOCK
        result = [p for p in result if p.kernel == place and
                  not p.expect_crash and not p.figures]
    for plan in result:
        plan.kernel = kernel or plan.kernel
        plan.desc = "; ".join(s["desc"] for s in suites if "desc" in s)
        plan.expect_fail = expected_failures(name, plan.kernel)
        if several:
            plan.name += f"@{plan.kernel}"
    return result


def _harness_case(name):
    # It needs make() of this file.
    from harness_cases import CASES
    if name not in CASES:
        raise PlanError(f"no plan {HARNESS}{name}")
    return CASES[name].plan(name)


def all_names():
    """The plans of "make check"."""
    return sorted(parse(MATRIX)["plan"])


def every_name():
    """All plans but the harness' own."""
    return sorted(tables()["plan"])


def expected_failures(name, kernel):
    """{test name: reason} of a plan, from the file of known differences."""
    table = parse(INTREE)
    expected = {}
    for key in (name, f"{name}@{kernel}"):
        for reason, tests in table.get(key, {}).items():
            if reason == AS:
                for other in tests:
                    _look_up("plan", other)
                    expected.update(expected_failures(other, kernel))
                continue
            for test in tests:
                if reason == PASSES:
                    if not expected.pop(test, None):
                        raise PlanError(f"{INTREE}: {key}: {test} passes anyway")
                elif test in expected:
                    raise PlanError(f"{INTREE}: {key}: {test} is listed twice")
                else:
                    expected[test] = reason
    return expected
