#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Prints what is wrong with the plans of tools/testing/qemu.

"check-plans.py plans": plans that cannot be read, suites that no plan has, and lists
of known failures of no plan. "check-plans.py tests": selftests that no plan runs.
"""

import re
import sys
from pathlib import Path

sys.dont_write_bytecode = True
ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools/testing/qemu"))
import plan                             # noqa: E402
from harness_cases import CASES         # noqa: E402

SELFTESTS = ["tools/testing/selftests/umad", "tools/testing/selftests/packets",
             "tools/testing/ib_hwsim/tests"]


def wrong_plans():
    """The long ones and those of mutants too, which make check does not run."""
    try:
        tables = plan.tables()
        failures = plan.parse(plan.INTREE)
    except plan.PlanError as error:
        return [str(error)]
    wrong = []
    for name in [*tables["plan"], *(plan.HARNESS + case for case in CASES)]:
        try:
            plan.load(name)
        except plan.PlanError as error:
            wrong.append(str(error))
    used = {s for row in tables["plan"].values() for s in row.get("suites", [])}
    wrong += [f"no plan has the suite {s}" for s in tables["suite"].keys() - used]
    wrong += [f"{plan.INTREE}: no plan {name}"
              for name in failures if name.partition("@")[0] not in tables["plan"]]
    return wrong


def forgotten_tests():
    """A selftest that no plan runs tests nothing."""
    commands = "\n".join(
        command for name in plan.every_name() if not name.startswith("mutants-")
        for p in plan.load(name) for _, command in p.tests + p.remote_tests)
    return [path.relative_to(ROOT) for folder in SELFTESTS
            for path in sorted((ROOT / folder).glob("*.c"))
            if re.search("^TEST_HARNESS_MAIN", path.read_text("utf-8"), re.M)
            and not re.search(rf"\./{path.stem}\b", commands)]


for line in {"plans": wrong_plans, "tests": forgotten_tests}[sys.argv[1]]():
    print(line)
