# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tables that Sphinx makes from the sources of ib_umad, so that they agree.

umad-counters: the counters, from counters.h; :counter:`NAME` refers to one
umad-parameters: the parameters of the module; :param:`NAME` refers to one
umad-structures: kernel-doc of the structures and enums of all headers
umad-plans FILE: the plans of a file of tools/testing/qemu, from its tables
"""

import re
import sys

from docutils import nodes, statemachine
from docutils.parsers.rst import Directive
from module_tables import TREE, Table, layers, purpose
from sphinx.roles import XRefRole
from sphinx.util.nodes import nested_parse_with_titles

MODULE = TREE / "drivers/infiniband/umad"
QEMU = TREE / "tools/testing/qemu"
sys.path.append(str(QEMU))
COUNTER = re.compile(r'UMAD_COUNTER\((\w+), (\w+), "([^"]*)",((?:\s*"[^"]*")+)\)')
PARAMETER = re.compile(r'MODULE_PARM_DESC\((\w+),\s*"([^"]*?) \(default: ([^")]*)\)"\)')


def read(path):
    """Text of a file of the module."""
    return (MODULE / path).read_text(encoding="utf-8")


class Counters(Table):
    """umad-counters"""
    header = ("Name", "Unit", "Meaning")
    widths = "24 10 66"
    role = "counter"
    sources = ["drivers/infiniband/umad/counters.h"]

    def rows(self):
        text = read("counters.h")
        found = COUNTER.findall(text)
        if len(found) != len(re.findall(r"^UMAD_COUNTER\(", text, re.M)):
            raise self.error("counters.h: not every counter could be read")
        return [(f"``{name}``", unit, "".join(re.findall(r'"([^"]*)"', meaning)))
                for _, name, unit, meaning in found]


class Parameters(Table):
    """umad-parameters"""
    header = ("Name", "Default", "Meaning")
    widths = "24 12 64"
    role = "param"
    sources = sorted(MODULE.rglob("*.c"))

    def rows(self):
        texts = [path.read_text(encoding="utf-8") for path in self.sources]
        for text in texts:
            found = PARAMETER.findall(text)
            if len(found) != text.count("MODULE_PARM_DESC("):
                raise self.error("a parameter without text or default")
            yield from ((f"``{name}``", default, meaning)
                        for name, meaning, default in found)


class Plans(Table):
    """umad-plans"""
    header = ("Plan", "On", "Module", "What is run")
    widths = "22 14 10 54"
    required_arguments = 1

    sources = ("tools/testing/qemu/matrix.toml", "tools/testing/qemu/long.toml")

    def rows(self):
        # Not at the top: this directive alone needs it.
        import plan
        for name, row in plan.parse(self.arguments[0])["plan"].items():
            places = row["on"] if isinstance(row["on"], list) else [row["on"]]
            yield (f"``{name}``", ", ".join(places), row.get("module", "ours"),
                   re.sub(r"([*`_|\\])", r"\\\1", plan.load(name)[0].desc))


class Structures(Directive):
    """umad-structures"""

    def run(self):
        """Directive.run()"""
        names = [entry if "." in entry else entry + ".h"
                 for _, files in layers(MODULE) for entry in files]
        lines = []
        # A header may be in another layer than its source file: then it is there twice.
        for name in dict.fromkeys(names):
            if (MODULE / name).exists() and re.search(r"^/\*\*$", read(name), re.M):
                lines += [name, "-" * len(name), "", purpose(MODULE, name) + ".", "",
                          f".. kernel-doc:: drivers/infiniband/umad/{name}", ""]
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, statemachine.StringList(lines, "umad_tables"),
                                 node)
        return node.children


def setup(app):
    """Sphinx extension."""
    app.add_directive("umad-counters", Counters)
    app.add_directive("umad-parameters", Parameters)
    app.add_directive("umad-plans", Plans)
    app.add_directive("umad-structures", Structures)
    for role in ("counter", "param"):
        app.add_object_type(role, role)
        app.add_role_to_domain("std", role, XRefRole(innernodeclass=nodes.literal,
                                                     warn_dangling=True), override=True)
    return {"parallel_read_safe": True}
