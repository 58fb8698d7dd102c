# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Turns what a guest left behind into results.

A pass needs positive signals: every test came to its XT-END, XT-DONE has the
planned count, QEMU ended with the magic status, the modules went away, no
leak was found, and the console holds no splat. What is wrong with the guest
as a whole is the failing result "guest" of its plan.
"""

import re

import ktap
import splat
from ktap import FAIL, PASS, SKIP, Result

_MARK = re.compile(r"XT-(START|BEGIN|END|UNLOAD|LEAKS|DONE)\b ?(.*)$")
KSFT_SKIP = 4
# So many splats are shown with the lines after them, so many at all.
WHOLE_SPLATS, MOST_SPLATS = 3, 12


class Report:
    """The text of the report, taken apart."""

    def __init__(self, text):
        self.started = False
        # [kind, name, lines, status, last line if it has no end], in order
        self.sections = []
        self.unload = self.leaks = self.done = None
        self.cut = bool(text) and not text.endswith("\n")
        section = None
        for line in text.splitlines(keepends=True):
            mark = _MARK.search(line)
            if mark:
                if section:
                    section[4] = line[:mark.start()]
                section = self._mark(mark[1], mark[2].strip(), section)
            elif section and line.endswith("\n"):
                section[2].append(line[:-1])
            elif section:
                section[4] = line

    def _mark(self, word, rest, section):
        if word == "START":
            self.started = True
        elif word == "BEGIN":
            kind, _, name = rest.split(" ", 2)
            section = [kind, name, [], None, ""]
            self.sections.append(section)
        elif word == "END" and section:
            section[3] = int(rest.rpartition("status=")[2])
            section = None
        elif word == "UNLOAD":
            self.unload = rest
        elif word == "LEAKS":
            self.leaks = rest
        elif word == "DONE":
            self.done = int(rest)
        return section

    def of_kind(self, kind):
        """The sections of this kind."""
        return [s for s in self.sections if s[0] == kind]


def _tail(lines, count=12):
    return "\n".join(lines[-count:])


def judge_test(name, lines, status, cut=""):
    """The results of one test command; cut is the line it did not finish."""
    results = ktap.parse(lines)
    plain = not results
    if plain:
        verdict = {0: PASS, KSFT_SKIP: SKIP, None: FAIL}.get(status, FAIL)
        results = [Result("", verdict, "" if verdict == PASS
                          else _tail(lines + [cut]).strip()
                          or f"exit status {status}")]
    if status is None:
        results.append(Result("", FAIL, "never came to its end"))
    elif cut and not plain:
        results.append(Result("", FAIL, f"output cut off: '{cut}'"))
    elif status not in (0, KSFT_SKIP) and \
            all(r.status != FAIL for r in results):
        results.append(Result("", FAIL, f"exit status {status}"))
    return [Result(f"{name}/{r.name}" if r.name else name, r.status, r.note)
            for r in results]


def apply_expectations(results, expected):
    """Turn known failures into passes, and anything else about them into
    failures: a test that is listed and passes, skips or never ran."""
    out, seen = [], set()
    for result in results:
        reason = expected.get(result.name)
        if reason is None:
            out.append(result)
            continue
        seen.add(result.name)
        if result.status == FAIL:
            out.append(Result(result.name, PASS, f"fails as known: {reason}"))
        else:
            out.append(Result(result.name, FAIL, f"listed as a known failure "
                              f"({reason}) but: {result.status}"))
    out += [Result(name, FAIL, "listed as a known failure but never ran")
            for name in expected if name not in seen]
    return out


def _guest_problems(plan, outcome, report):
    """Everything wrong with the run as a whole, as lines."""
    problems = []
    if outcome.timed_out:
        problems.append(f"no end within {plan.timeout} s")
    elif outcome.status != outcome.good:
        problems.append(f"QEMU ended with {outcome.status} instead of "
                        f"{outcome.good} {outcome.qemu_says.strip()}".strip())
    if not report.started:
        problems.append("the guest never reported")
    for _, name, lines, status, _ in report.of_kind("setup"):
        if status != 0:
            problems.append(f"setup {name} failed: {_tail(lines)}")
    if report.done is None:
        problems.append("crash: no XT-DONE"
                        + (", cut off in mid-line" if report.cut else ""))
    elif report.done != len(plan.tests):
        problems.append(f"{report.done} of {len(plan.tests)} tests ran")
    if report.done is not None:
        if report.unload != "clean":
            problems.append(f"modules left: {report.unload}")
        if report.leaks != "0" and not (
                report.leaks == "unknown" and "debug" not in plan.kernel):
            problems.append(f"kmemleak: {report.leaks}")
    return problems


def _splat_problems(plan, console):
    allow = list(plan.allow)
    if plan.require_splat:
        allow.append(plan.require_splat)
    splats, hits = splat.find(console.splitlines(), allow)
    problems = []
    for number, found in enumerate(splats):
        head = f"splat in '{found.where}', console line {found.number}: " \
               f"{found.line}"
        problems.append("\n".join([head, *found.context[1:]])
                        if number < WHOLE_SPLATS else head)
    if len(problems) > MOST_SPLATS:
        problems[MOST_SPLATS:] = [f"{len(problems) - MOST_SPLATS} more splats"]
    if plan.require_splat and plan.require_splat not in hits:
        problems.append(f"the splat '{plan.require_splat}' did not come")
    return problems


def judge_crash(plan, outcome, report):
    """The one result of a plan whose tests have to kill the kernel."""
    problems = [f"setup {name} failed: {_tail(lines)}" for _, name, lines,
                status, _ in report.of_kind("setup") if status != 0]
    lines = [splat.strip_stamp(l) for l in outcome.console.splitlines()]
    if not report.of_kind("test"):
        problems.append("no test began")
    if outcome.timed_out:
        problems.append(f"no end within {plan.timeout} s")
    if report.done is not None:
        problems.append("no crash: XT-DONE is there")
    if not any(l.startswith("Kernel panic") for l in lines):
        problems.append("no crash: no panic")
    if not any(re.search(plan.expect_crash, l) for l in lines):
        problems.append(f"the splat '{plan.expect_crash}' did not come")
    return [Result("guest", FAIL if problems else PASS,
                   "\n".join(problems) or "crashes as known")]


def judge(plan, outcome):
    """All results of a plan, the guest's own last."""
    report = Report(outcome.report)
    if plan.expect_crash:
        return judge_crash(plan, outcome, report)
    results = []
    ran = report.of_kind("test")
    for _, name, lines, status, cut in ran:
        results += judge_test(name, lines, status, cut)
    names = {section[1] for section in ran}
    results += [Result(name, FAIL, "did not run")
                for name, _ in plan.tests if name not in names]
    if plan.expect_fail:
        results = apply_expectations(results, plan.expect_fail)
    problems = _guest_problems(plan, outcome, report)
    if problems:
        last = outcome.console.splitlines()[-15:]
        problems.append("console ends with:\n" + "\n".join(last))
    problems = _splat_problems(plan, outcome.console) + problems
    results.append(Result("guest", FAIL if problems else PASS,
                          "\n".join(problems)))
    return results
