#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Runs plans of acceptance.toml, and prints what came of them as one table."""

import argparse
import asyncio
import sys

import plan as plans
import run
from ktap import FAIL, SKIP

PLANS = sorted(plans.parse("acceptance.toml")["plan"])
KNOWN = "fails as known: "


async def run_all(names, jobs):
    """{name of the plan: its results}."""
    parts, gate = run.Parts(), asyncio.Semaphore(jobs)

    async def one(plan):
        async with gate:
            results, outcome, where = await run.run_plan(plan, parts)
            run.report(plan, results, outcome, where)
            return plan.name, results

    return dict(await asyncio.gather(*(one(plans.load(name)[0])
                                       for name in names)))


def rows(results):
    """Lines of the table, and the reasons for each "no"."""
    columns = list(results)
    names = [name for name, _ in plans.load(columns[0])[0].tests
             if name not in ("start", "stop")]
    reasons, lines = [], []
    for name in names:
        cells = []
        for plan in columns:
            found = [r for r in results[plan] if r.name == name]
            if not found or found[0].status == FAIL:
                cells.append("FAILED")
                continue
            note = found[0].note.partition("\n")[0]
            if found[0].status == SKIP:
                reason = note.removeprefix("SKIP ")
            elif note.startswith(KNOWN):
                reason = note.removeprefix(KNOWN)
            else:
                cells.append("yes")
                continue
            if reason not in reasons:
                reasons.append(reason)
            cells.append(f"no ({reasons.index(reason) + 1})")
        lines.append((name, *cells))
    return lines, reasons


def table(columns, lines, reasons):
    """As RST."""
    head = ("program", *(name.replace("acceptance-", "").replace("-", " ")
                         for name in columns))
    widths = [max(len(row[i]) for row in [head, *lines]) for i in range(len(head))]
    rule = "  ".join("=" * width for width in widths)
    out = [rule, "  ".join(c.ljust(w) for c, w in zip(head, widths)).rstrip(), rule]
    out += ["  ".join(c.ljust(w) for c, w in zip(row, widths)).rstrip()
            for row in lines]
    out += [rule, ""]
    out += [f"{number}. {reason}" for number, reason in enumerate(reasons, 1)]
    return "\n".join(out)


def main():
    """See the head of this file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("plans", nargs="*", metavar="PLAN",
                        help="all if none is named: " + ", ".join(PLANS))
    parser.add_argument("--jobs", type=int, default=2, help="guests at a time (2)")
    args = parser.parse_args()
    for name in args.plans:
        if name not in PLANS:
            parser.error(f"no plan '{name}'")
    results = asyncio.run(run_all(args.plans or PLANS, args.jobs))
    print(table(results, *rows(results)))
    counts = [r.status for found in results.values() for r in found]
    print(f"{len(counts) - counts.count(FAIL) - counts.count(SKIP)} passed, "
          f"{counts.count(FAIL)} failed, {counts.count(SKIP)} skipped")
    return 1 if FAIL in counts else 0


if __name__ == "__main__":
    sys.exit(main())
