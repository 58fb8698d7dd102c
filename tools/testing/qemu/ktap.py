# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Parser of KTAP and TAP 13: lines in, a flat list of results out.

Only leaves are results; a parent's own line is checked against its children
and counts when it contradicts them. Whatever does not add up (a plan not
reached, a number out of turn, a line cut off) becomes a failure: parse()
never drops a doubt.
"""

import re
from dataclasses import dataclass, field

PASS, FAIL, SKIP = "pass", "fail", "skip"

_VERSION = re.compile(r"(?:KTAP|TAP) version \d+$")
_PLAN = re.compile(r"1\.\.(\d+)(?:\s+#\s*SKIP\b\s*(.*))?$", re.I)
_RESULT = re.compile(r"(ok|not ok)\s+(\d+)(?:\s+(.*))?$")
_DIRECTIVE = re.compile(r"(?:^|\s)#\s*(SKIP|TODO|XFAIL|TIMEOUT|ERROR)\b\s*(.*)$",
                        re.I)
_BAIL = re.compile(r"Bail out!\s*(.*)$", re.I)
_SUBTEST = re.compile(r"# Subtest:\s*(.*)$")
# The beginning of a result or plan line that was not finished.
_CUT = re.compile(r"(?:o|ok|n|no|not|not |not o|not ok|1\.|1\.\.)\s*$")
MAX_NOTES = 40


@dataclass
class Result:
    """One test: name is the path from the outermost test, joined by '/'."""
    name: str
    status: str
    note: str = ""


@dataclass
class _Level:
    """What has been seen at one indent."""
    indent: int
    planned: int = None
    seen: int = 0
    plan_skipped: bool = False
    children: list = field(default_factory=list)   # of the open subtest
    results: list = field(default_factory=list)


class Parser:
    """Feed it lines; finish() returns the results."""

    def __init__(self):
        self.levels = []
        self.notes = []
        self.saw_tap = False
        self.bailed = None

    def feed(self, line):
        """One line, without its end of line."""
        text = line.rstrip("\r\n")
        body = text.lstrip(" ")
        indent = len(text) - len(body)
        body = body.rstrip()
        if _VERSION.match(body):
            self.saw_tap = True
            self._open(indent)
            return
        match = _PLAN.match(body)
        if match:
            self._plan(self._at(indent), int(match[1]), match[2])
            return
        match = _RESULT.match(body)
        if match:
            self._result(indent, match[1], int(match[2]), match[3] or "")
            return
        match = _BAIL.match(body)
        if match:
            self.bailed = match[1] or "no reason given"
            return
        if _SUBTEST.match(body):
            self.saw_tap = True
            self._open(indent)
            return
        if body.startswith("#"):
            self.notes.append(body[1:].strip())
            del self.notes[:-MAX_NOTES]
        elif self.saw_tap and _CUT.match(body):
            self._doubt(self._at(indent), f"line cut off: '{body}'")

    def _at(self, indent):
        """The level of this indent; deeper ones end here."""
        while self.levels and self.levels[-1].indent > indent:
            self._close(self.levels.pop())
        if not self.levels or self.levels[-1].indent < indent:
            self.levels.append(_Level(indent))
        return self.levels[-1]

    def _open(self, indent):
        """A version or Subtest line: the first line of a level, as a rule."""
        level = self._at(indent)
        if level.seen and level.planned is not None \
                and level.seen >= level.planned:
            # A second document after a complete one.
            level.planned, level.seen = None, 0

    @staticmethod
    def _doubt(level, why):
        level.results.append(Result("", FAIL, why))

    def _plan(self, level, count, skip_reason):
        self.saw_tap = True
        if level.planned is not None:
            if level.seen != level.planned:
                self._doubt(level, "second plan line")
            level.seen = 0
        level.planned = count
        if count == 0:
            level.plan_skipped = True
            level.results.append(Result("", SKIP, skip_reason or "plan 1..0"))

    def _result(self, indent, verdict, number, rest):
        self.saw_tap = True
        children = None
        while self.levels and self.levels[-1].indent > indent:
            deeper = self.levels.pop()
            # KUnit gives the parameters of a test no plan, but the test's own
            # line, this one, tells that they have all been there.
            self._close(deeper, want_plan=False)
            children = deeper.results if not children \
                else children + deeper.results
        level = self._at(indent)
        level.seen += 1
        note, status = "", PASS if verdict == "ok" else FAIL
        match = _DIRECTIVE.search(rest)
        if match:
            kind = match[1].upper()
            note = f"{kind} {match[2]}".strip()
            rest = rest[:match.start()]
            if kind in ("SKIP", "XFAIL"):
                status = SKIP if status == PASS else status
            elif kind in ("TIMEOUT", "ERROR"):
                status = FAIL
        name = re.sub(r"^-\s*", "", rest.strip()) or self._running() \
            or f"#{number}"
        if number != level.seen:
            self._doubt(level, f"result {number} '{name}' where "
                               f"{level.seen} was due")
            level.seen = number
        if status == FAIL and not note:
            note = "; ".join(self.notes[-8:])
        self.notes = []
        if children:
            for child in children:
                path = f"{name}/{child.name}" if child.name else name
                level.results.append(Result(path, child.status, child.note))
            if status == FAIL and all(c.status != FAIL for c in children):
                level.results.append(Result(name, FAIL, note or
                                            "fails though its subtests pass"))
            elif status == PASS and any(c.status == FAIL for c in children):
                level.results.append(Result(name, FAIL,
                                            "passes though a subtest fails"))
        else:
            level.results.append(Result(name, status, note))

    def _running(self):
        """kselftest_harness names what it skips only in the line before."""
        for note in reversed(self.notes):
            match = re.match(r"RUN\s+(\S+) \.\.\.$", note)
            if match:
                return match[1]
        return ""

    def _close(self, level, want_plan=True):
        """The level has ended: was its plan fulfilled?"""
        if level.planned is None:
            if level.seen and want_plan:
                self._doubt(level, "no plan line")
        elif level.seen != level.planned:
            self._doubt(level, f"planned {level.planned} tests, "
                               f"saw {level.seen}")
        elif level.seen == 0 and not level.plan_skipped:
            self._doubt(level, "no tests")

    def finish(self):
        """All results; a document that ends early ends in a failure."""
        results = []
        while self.levels:
            level = self.levels.pop()
            self._close(level)
            if self.levels:
                # Subtests whose parent's line never came.
                self._doubt(level, "subtests without a result of their own")
                self.levels[-1].results.extend(level.results)
            else:
                results = level.results + results
        if self.bailed is not None:
            results.append(Result("", FAIL, f"Bail out! {self.bailed}"))
        if self.saw_tap and not results:
            results.append(Result("", FAIL, "no tests"))
        return results


def parse(lines):
    """Results of a complete document, [] when it is no TAP at all."""
    parser = Parser()
    for line in lines:
        parser.feed(line)
    return parser.finish()
