# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads plans: what one guest is to do and what counts as a pass.

A plan is lines "key = value"; "#" begins a comment line, an indented line
continues the value before it. README.rst lists the keys.
"""

import dataclasses
import re
from dataclasses import dataclass, field
from pathlib import Path

QEMU_DIR = Path(__file__).resolve().parent
ROOT = QEMU_DIR.parents[2]
PLANS = QEMU_DIR / "plans"
SELFTESTS = "tools/testing/selftests/umad"


class PlanError(Exception):
    """A plan that says something it cannot."""


@dataclass
class Plan:
    """One plan for one kernel."""
    name: str
    desc: str = ""
    kernel: str = "debug-6.1"
    module: str = "ours"
    module_args: str = ""
    smp: int = 2
    mem: str = "512M"
    accel: str = "auto"
    timeout: int = 300
    waits: bool = False             # most of its time, so others can run
    stop: bool = False              # no further program after one that fails
    teardown: bool = True
    panic_on_warn: bool = None      # None: yes, unless splats are allowed
    append: str = ""
    require_splat: str = ""
    expect_crash: str = ""
    expect_fail: Path = None
    # A second guest on the same wire: its module and its tests.
    far: str = ""
    far_tests: list = field(default_factory=list)
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

    def far_side(self):
        """The plan of the second guest."""
        return dataclasses.replace(self, name=f"{self.name}+far", end=1,
                                   module=self.far, tests=self.far_tests,
                                   expect_fail=None)


def _pairs(path):
    """(line number, key, value) of a plan file."""
    result = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        if line[0] in " \t" and result:
            result[-1][2] += "\n" + line.strip()
            continue
        key, equals, value = line.partition("=")
        if not equals:
            raise PlanError(f"{path}:{number}: no '='")
        result.append([number, key.strip(), value.strip()])
    return result


def _yes(value):
    if value not in ("yes", "no"):
        raise ValueError("yes or no")
    return value == "yes"


def _set(plan, path, key, value):
    """Apply one line."""
    here = path.parent
    word, _, name = key.partition(" ")
    if word in ("test", "far_test") and re.fullmatch(r"[\w.+:-]+", name):
        tests = plan.tests if word == "test" else plan.far_tests
        if any(n == name for n, _ in tests):
            raise ValueError(f"a second test {name}")
        tests.append((name, value))
    elif key == "include":
        _read(plan, here / value)
    elif key == "file":
        host, guest = value.split()
        plan.files.append((ROOT / host, guest))
    elif key == "expect_fail":
        plan.expect_fail = here / value
    elif key in ("setup", "allow"):
        # Two includes may want the same.
        if value not in getattr(plan, key):
            getattr(plan, key).append(value)
    elif key in ("smp", "timeout"):
        setattr(plan, key, int(value))
    elif key in ("modules", "commands"):
        getattr(plan, key).extend(value.split())
    elif key == "programs":
        plan.programs = [] if value == "none" else value.split()
    elif key in ("stop", "teardown", "panic_on_warn", "waits"):
        setattr(plan, key, _yes(value))
    elif key in ("module", "far") and \
            value not in ("ours", "intree", "none"):
        raise ValueError("ours, intree or none")
    elif key == "accel" and value not in ("auto", "tcg", "icount"):
        raise ValueError("auto, tcg or icount")
    elif key in ("desc", "kernel", "module", "module_args", "mem", "accel",
                 "append", "require_splat", "expect_crash", "far"):
        setattr(plan, key, value)
    else:
        raise ValueError("no such key")


def _read(plan, path):
    for number, key, value in _pairs(path):
        try:
            _set(plan, path, key, value)
        except (ValueError, OSError) as error:
            raise PlanError(f"{path}:{number}: {key}: {error}") from error


def load(name):
    """The plans in a file, one for each kernel it names.

    name is the path of a plan, or its name without plans/ and .plan.
    """
    path = Path(name) if str(name).endswith(".plan") else PLANS / f"{name}.plan"
    if not path.exists():
        raise PlanError(f"no plan {name}")
    path = path.resolve()
    try:
        short = str(path.relative_to(PLANS))[:-len(".plan")]
    except ValueError:
        short = path.stem
    plan = Plan(name=short)
    _read(plan, path)
    if not plan.tests or bool(plan.far) != bool(plan.far_tests):
        raise PlanError(f"{path}: no tests")
    if plan.expect_fail:
        expected_failures(plan.expect_fail)     # complains now, not later
    kernels = plan.kernel.split()
    if len(kernels) == 1:
        return [plan]
    return [dataclasses.replace(plan, name=f"{short}@{k}", kernel=k)
            for k in kernels]


def all_names():
    """Every plan of the project, the harness' own ones left out."""
    return sorted(p.stem for p in PLANS.glob("*.plan"))


def expected_failures(path):
    """{test name: reason} from a known-differences file.

    A line is "NAME | REASON"; "#" begins a comment line.
    """
    expected = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        name, bar, reason = (part.strip() for part in line.partition("|"))
        if not bar or not reason:
            raise PlanError(f"{path}:{number}: wants NAME | REASON")
        if name in expected:
            raise PlanError(f"{path}:{number}: {name} is listed twice")
        expected[name] = reason
    return expected
