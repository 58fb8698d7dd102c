# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Finds what a kernel says when something is wrong, in its console.

A splat belongs to the last XT-BEGIN marker before it.
"""

import re
from dataclasses import dataclass

# Each pattern is searched in a line from which the time stamp was taken.
PATTERNS = [re.compile(p) for p in (
    r"^BUG\b",
    r"^WARNING\b",
    r"\bOops\b",
    r"\bKASAN: ",
    r"\bKCSAN: ",
    r"\bUBSAN: ",
    r"\bKFENCE: ",
    r"\bgeneral protection fault\b",
    r"\bkernel BUG at\b",
    r"^Kernel panic\b",
    r"\bdivide error\b",
    r"\binvalid opcode\b",
    r"\bunable to handle\b",
    r"^possible circular locking",
    r"\bpossible recursive locking\b",
    r"\bpossible irq lock inversion\b",
    r"\binconsistent lock state\b",
    r"\bsuspicious RCU usage\b",
    r"\bHARDIRQ-safe -> HARDIRQ-unsafe\b",
    r"\bSOFTIRQ-safe -> SOFTIRQ-unsafe\b",
    r"\bInvalid wait context\b",
    r"\bstill has locks held\b",
    r"\bheld lock freed\b",
    r"\bbad unlock balance\b",
    r"\bsleeping function called from invalid context\b",
    r"\bscheduling while atomic\b",
    r"\bDEBUG_LOCKS_WARN_ON\b",
    r"\bINFO: task \S+ blocked\b",
    r"\bblocked for more than \d+ seconds\b",
    r"\bsoft lockup\b",
    r"\bhard LOCKUP\b",
    r"\bworkqueue lockup\b",
    r"\brcu_\w+ (?:self-)?detected stalls?\b",
    r"\brcu: INFO: .*stall",
    r"\bunreferenced object\b",
    r"\bkmemleak: .*(?:disabled|new suspected memory leaks)",
    r"\brefcount_t: ",
    r"\bODEBUG: ",
    r"\blist_(?:add|del) corruption\b",
    r"\busercopy: Kernel memory\b",
    r"\bunregister_netdevice: waiting for\b",
    r"\bBad page state\b",
    r"\bObjects remaining in\b",
    r"^INFO: ",
    r"^\[ BUG: ",
    r"\bMAX_LOCKDEP_\w+ too low\b",
)]

_STAMP = re.compile(r"^(?:<\d+>)?\[\s*\d+\.\d+\](?:\[\s*[TC]\d+\])?\s?")
_BEGIN = re.compile(r"XT-BEGIN (.*)$")
_HEADS = ("BUG", "WARNING", "INFO")
# A report has several matching lines; those this close to its first line and
# before the next marker belong to it.
REPORT_LINES = 60


@dataclass
class Splat:
    """One report: its first line, the test it fell into, where it stands."""
    line: str
    where: str
    number: int
    context: list


def strip_stamp(line):
    """The line without the printk time."""
    return _STAMP.sub("", line.rstrip("\r\n"))


def matches(text):
    """Does this line (without its stamp) belong to a splat?"""
    return any(p.search(text) for p in PATTERNS)


def _starts_report(text):
    """A line that opens a report of its own, even inside another's lines."""
    return text.startswith(("BUG: ", "WARNING: ", "Kernel panic",
                            "unreferenced object", "general protection"))


def find(lines, allow=()):
    """Splats of a console, except those whose first line matches allow.

    Returns (splats, hits): hits are the patterns of allow that were needed.
    An allowed report takes its following lines with it, but never a line
    that opens another report.
    """
    allow = [(p, re.compile(p)) for p in allow]
    splats, hits = [], set()
    where, owner_until, owner = "boot", -1, None
    for number, raw in enumerate(lines):
        text = strip_stamp(raw)
        begin = _BEGIN.search(text)
        if begin:
            where, owner_until = begin[1], -1
            continue
        if not matches(text):
            continue
        if number <= owner_until and (not _starts_report(text)
                                      or text == owner):
            continue
        owner, owner_until = text, number + REPORT_LINES
        allowed = [p for p, regex in allow if regex.search(text)]
        if allowed:
            hits.update(allowed)
            continue
        context = [strip_stamp(l) for l in lines[number:number + 25]]
        splats.append(Splat(text, where, number + 1, context))
    return splats, hits
