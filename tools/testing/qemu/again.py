# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Plans that need not run again, as nothing they are made of has changed.

Only those that do not have our module in their guest, that is those about the
in-tree one and about the test devices: of them the outcome says nothing about
a change of the module. Only what has passed is kept, and only for the very
same initramfs, kernel, QEMU command line and judge; any checkout may use it.
The harness's own tests, for which a plan has to fail, keep their outcome too.
"""

import dataclasses
import hashlib
import json
import re
import time

from ktap import FAIL, Result
from plan import QEMU_DIR
from products import CACHE

KEPT = CACHE / "passed"
KEPT_SECONDS = 30 * 24 * 3600


def concerns_us(plan):
    """Is our module in the guest?"""
    return "ours" in (plan.module, plan.remote) or any(
        re.search(r"\bours\b", command) for _, command in plan.tests)


def may_be_chance(plan, results):
    """Has the in-tree module alone failed?

    Some of what it does depends on who is faster: that counts only if it comes twice.
    """
    return (plan.module == "intree" and not concerns_us(plan) and
            any(r.status == FAIL for r in results))


def key(plan, initrd, args, folders):
    """What the outcome depends on, as one word.

    The names of the run's own folders do not matter.
    """
    digest = hashlib.sha256()
    with open(initrd, "rb") as data:
        while block := data.read(1 << 20):
            digest.update(block)
    # Measured anew each time.
    command = re.sub(r" tsc_early_khz=\d+", "", " ".join(args))
    for folder in folders:
        command = command.replace(str(folder), "")
    digest.update(command.encode())
    digest.update(repr((plan.timeout, plan.allow, plan.require_splat,
                        plan.expect_crash, plan.tests,
                        sorted(plan.expect_fail.items()))).encode())
    for source in sorted(QEMU_DIR.glob("*.py")):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:24]


def recall(word):
    """The results of the run that this would repeat, or None."""
    path = KEPT / word
    try:
        if path.stat().st_mtime < time.time() - KEPT_SECONDS:
            return None
        kept = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return [Result(**result) for result in kept]


def keep(word, results):
    """Remember a run in which nothing failed."""
    if any(r.status == FAIL for r in results):
        return
    KEPT.mkdir(parents=True, exist_ok=True)
    fresh = KEPT / f"{word}.new"
    fresh.write_text(json.dumps([dataclasses.asdict(r) for r in results]))
    fresh.rename(KEPT / word)
