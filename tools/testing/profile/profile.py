#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Which functions of the kernel one write(), round trip or open() costs instructions.

Boots a guest on the instruction clock twice with each module, with two numbers of the
same operation: the difference is that of the operations alone. See README.rst.
"""

import argparse
import asyncio
import bisect
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "qemu"))

# pylint: disable=wrong-import-position
import build                                            # noqa: E402
import guest                                            # noqa: E402
import plan as plans                                    # noqa: E402
import run                                              # noqa: E402

FEW, MANY = 300, 1300
DEVICES = {
    "rxe0": {"setup": ["rxe"]},
    "hwsim0": {"setup": ["hwsim"], "modules": ["drivers/infiniband/sw/ib_hwsim"]},
}
# Below this no address is the kernel's.
KERNEL = 0xffff800000000000
# All that kallsyms has of code, and where it is.
SYMBOLS = "awk '$2 ~ /[tTwW]/ { print \"SYM\", $1, $3, $4 }' /proc/kallsyms"


def plugin(where):
    """Build it."""
    made = where / "count.so"
    subprocess.run(["gcc", "-O2", "-Wall", "-Wextra", "-shared", "-fPIC",
                    "-fvisibility=hidden", "-o", made, HERE / "count.c"], check=True)
    return made


async def boot(args, module, count, where, library):
    """One guest; (address, instructions) of what it ran, and its symbols."""
    plan = plans.Plan(name=f"profile-{module}-{count}", kernel=args.kernel,
                      module=module, accel="icount", smp=1, mem="1G",
                      timeout=args.timeout, all_programs=True,
                      tests=[("load", f"UMAD_IBDEV={args.device} ./profile_load "
                                      f"{args.load} {count}"),
                             ("symbols", SYMBOLS)], **DEVICES[args.device])
    folder = where / plan.name
    _, command = run.make_guest(plan, run.Parts(strict=False), folder)
    counts = folder / "counts"
    outcome = await guest.boot(command + ["-plugin", f"{library},out={counts}"],
                               folder, plan.timeout)
    if outcome.timed_out or "load status=0" not in outcome.report:
        sys.exit(f"profile.py: {plan.name} failed:\n{outcome.report[-800:]}")
    symbols = sorted((int(line[1], 16), line[2], line[3] if len(line) > 3 else "kernel")
                     for line in map(str.split, outcome.report.splitlines())
                     if line[:1] == ["SYM"])
    return counts, symbols


def by_function(counts, symbols):
    """Instructions by (module, function); user space is one function."""
    total = Counter()
    starts = [symbol[0] for symbol in symbols]
    for line in open(counts, encoding="ascii"):
        address, insns, runs = line.split()
        address, cost = int(address, 16), int(insns) * int(runs)
        where = bisect.bisect_right(starts, address) - 1
        if address < KERNEL or where < 0:
            total["user space", ""] += cost
        else:
            _, name, module = symbols[where]
            total[module.strip("[]"), name] += cost
    return total


def profile(args, module, where, library):
    """Instructions of one operation, by function."""
    few, many = (by_function(*asyncio.run(boot(args, module, count, where, library)))
                 for count in (FEW, MANY))
    return Counter({key: (many[key] - few[key]) / (MANY - FEW)
                    for key in many | few})


def table(title, rows, modules):
    """Print a column for each module, the most expensive rows first."""
    print(f"\n{title:40}" + "".join(f"{m:>12}" for m in modules))
    for name, costs in rows:
        print(f"{name:40}" + "".join(f"{cost:12.0f}" for cost in costs))


def main():
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("load", choices=("write", "trip", "open", "expire", "segment"))
    parser.add_argument("--device", choices=("rxe0", "hwsim0"), default="rxe0",
                        help="what it runs on (rxe0)")
    parser.add_argument("--kernel", default="stock-6.1", help="profile (stock-6.1)")
    parser.add_argument("--top", type=int, default=40, help="functions to show (40)")
    parser.add_argument("--timeout", type=int, default=300, help="seconds of a guest")
    args = parser.parse_args()
    modules = ["ours", "intree"]
    where = Path(tempfile.mkdtemp(prefix="profile-", dir=build.CACHE))
    try:
        library = plugin(where)
        costs = [profile(args, module, where, library) for module in modules]
    finally:
        shutil.rmtree(where)

    parts = sorted({key[0] for cost in costs for key in cost})
    rows = [(part, [sum(v for k, v in cost.items() if k[0] == part) for cost in costs])
            for part in parts]
    rows = [row for row in rows if max(map(abs, row[1])) >= 1]
    rows.sort(key=lambda row: -max(row[1]))
    rows.append(("all", [sum(cost.values()) for cost in costs]))
    table(f"instructions of one {args.load}", rows, modules)

    keys = sorted(costs[0] | costs[1], key=lambda k: -max(c[k] for c in costs))
    table("by function", [(" ".join(key[::-1]), [c[key] for c in costs])
                          for key in keys[:args.top]], modules)


if __name__ == "__main__":
    main()
