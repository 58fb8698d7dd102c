# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Reads the list of faults, and puts one into a copy of the driver.

A fault, in a file of faults/, is

	name txn-late-for-ever
	in txn.c set_state
	- if (state == UMAD_TXN_EXPIRED)
	+ if (0)

The text behind "-" (several lines, if there are) has to be in the function
exactly once, whatever the white space; the text behind "+" takes its place.
"in FILE" alone looks in the whole file. A line "known WHY" says why no test
can notice it, or which one will. "by hwsim_dedup" names a program of the tests of
ib_hwsim, or of selftests/umad, that is run first: it should notice.
"""

import hashlib
import re
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
DRIVER = Path("drivers/infiniband/umad")


class FaultError(Exception):
    """A fault that cannot be read or put in."""


@dataclass
class Fault:
    """One fault."""
    name: str
    where: str                      # file and line of the list
    file: str = ""
    function: str = ""
    search: list = field(default_factory=list)
    replacement: list = field(default_factory=list)
    known: str = ""
    program: str = ""               # a test

    def key(self):
        """A word for all that it does."""
        text = repr((self.file, self.function, self.search, self.replacement))
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    def apply(self, source):
        """The text of the file with the fault in it."""
        begin, end = 0, len(source)
        if self.function:
            begin, end = _function(source, self.function)
        words = " ".join(self.search).split()
        pattern = re.compile(r"\s+".join(map(re.escape, words)))
        found = list(pattern.finditer(source, begin, end))
        if len(found) != 1:
            raise FaultError(f"{self.where}: {self.name}: {len(found)} places "
                             f"in {self.file} {self.function}")
        at = found[0]
        return source[:at.start()] + "\n".join(self.replacement) + \
            source[at.end():]


def _function(source, name):
    """Where a function begins and ends; its name stands where it is defined,
    not indented, and what follows ends with a brace alone."""
    head = re.compile(rf"^[a-z][^;{{}}()#]*\b{re.escape(name)}\("
                      rf"[^;{{}}]*\)\n\{{\n", re.M)
    found = list(head.finditer(source))
    if len(found) != 1:
        raise FaultError(f"{len(found)} functions {name}")
    end = source.index("\n}\n", found[0].end() - 1) + 2
    return found[0].start(), end


def read(folder=HERE / "faults"):
    """All faults."""
    faults = []
    for path in sorted(folder.glob("*.txt")):
        faults += _read(path)
    names = [fault.name for fault in faults]
    for name in names:
        if names.count(name) > 1:
            raise FaultError(f"two faults {name}")
    return faults


def _read(path):
    faults = []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        word, _, rest = line.strip().partition(" ")
        if not word or word == "#":
            continue
        if word == "name":
            faults.append(Fault(rest, where))
        elif not faults:
            raise FaultError(f"{where}: no name before it")
        elif word == "in":
            faults[-1].file, _, faults[-1].function = rest.partition(" ")
        elif word == "-":
            faults[-1].search.append(rest)
        elif word == "+":
            faults[-1].replacement.append(rest)
        elif word == "known":
            faults[-1].known = rest
        elif word == "by":
            faults[-1].program = rest
        else:
            raise FaultError(f"{where}: what is '{word}'?")
    return faults


def stale(root, faults):
    """What is wrong with those that cannot be put into this tree."""
    wrong = []
    for fault in faults:
        try:
            source = (root / DRIVER / fault.file).read_text()
            if fault.apply(source) == source:
                raise FaultError("it changes nothing")
        except (FaultError, OSError) as error:
            text = str(error)
            wrong.append(text if fault.name in text else
                         f"{fault.where}: {fault.name}: {text}")
    return wrong
