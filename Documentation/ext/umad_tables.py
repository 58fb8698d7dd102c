# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tables that Sphinx makes from the sources of the module, so that they agree.

umad-counters: the counters, from counters.h; :counter:`NAME` refers to one
umad-parameters: the parameters of the module; :param:`NAME` refers to one
umad-files: the files of the module by layer, from layers.txt and the first sentence of
the comment at their top
umad-layers: a picture of the layers
umad-structures: kernel-doc of the structures and enums of all headers
"""

import pathlib
import re

from docutils import nodes, statemachine
from docutils.parsers.rst import Directive
from sphinx.ext.graphviz import graphviz
from sphinx.roles import XRefRole
from sphinx.util.nodes import nested_parse_with_titles

MODULE = pathlib.Path(__file__).resolve().parents[2] / "drivers/infiniband/umad"
COUNTER = re.compile(r'UMAD_COUNTER\((\w+), (\w+), "([^"]*)",((?:\s*"[^"]*")+)\)')
PARAMETER = re.compile(r'MODULE_PARM_DESC\((\w+),\s*"([^"]*?) \(default: ([^")]*)\)"\)')
HEAD = re.compile(r"/\*(.*?)\*/", re.S)


def read(path):
    """Text of a file of the module."""
    return (MODULE / path).read_text(encoding="utf-8")


def layers():
    """(name, files) of each layer, the highest first."""
    for line in read("layers.txt").splitlines():
        name, colon, files = line.split("#")[0].partition(":")
        if colon:
            yield name.strip(), files.split()


def purpose(entry):
    """The first sentence of the comment at the top of a header, or a source file."""
    base = entry.removesuffix(".h")
    names = [base + ".h", base + ".c"]
    for name in names:
        if not (MODULE / name).exists():
            continue
        # What stands behind the licence and before anything else.
        found = HEAD.match("".join(read(name).splitlines(True)[1:]))
        if found:
            text = " ".join(re.sub(r"^\s*\*", "", found[1], flags=re.M).split())
            text = re.split(r"(?<=\.)\s", text)[0].rstrip(".")
            return re.sub(r"([*`_|\\])", r"\\\1", text)
    return ""


class Table(Directive):
    """A list-table of what rows() yields."""
    header = ()
    widths = ""
    sources = ()
    role = None     # which refers to the names in the first column

    def rows(self):
        """One tuple of cells, as RST, for each row."""
        raise NotImplementedError

    def run(self):
        """Directive.run()"""
        env = self.state.document.settings.env
        for source in self.sources:
            env.note_dependency(str(MODULE / source))
        lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {self.widths}", ""]
        for row in [self.header, *self.rows()]:
            lines += [f"   {'-' if i else '* -'} {cell}" if not i else f"     - {cell}"
                      for i, cell in enumerate(row)]
        node = nodes.section()
        self.state.nested_parse(statemachine.StringList(lines, "umad_tables"), 0, node)
        if self.role:
            for entry in node.findall(nodes.row):
                for name in entry[0].findall(nodes.literal):
                    anchor = f"{self.role}-{name.astext()}"
                    name["ids"].append(anchor)
                    env.get_domain("std").note_object(self.role, name.astext(), anchor)
        return node.children


class Counters(Table):
    """umad-counters"""
    header = ("Name", "Unit", "Meaning")
    widths = "24 10 66"
    sources = ("counters.h",)
    role = "counter"

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

    def rows(self):
        texts = [path.read_text(encoding="utf-8") for path in sorted(MODULE.rglob("*.c"))]
        for text in texts:
            found = PARAMETER.findall(text)
            if len(found) != text.count("MODULE_PARM_DESC("):
                raise self.error("a parameter without text or default")
            yield from ((f"``{name}``", default, meaning)
                        for name, meaning, default in found)


class Files(Table):
    """umad-files"""
    header = ("Layer", "File", "Purpose")
    widths = "18 20 62"
    sources = ("layers.txt",)

    def rows(self):
        for layer, files in layers():
            for entry in files:
                text = purpose(entry)
                if not text:
                    raise self.error(f"{entry}: no comment at its top")
                yield layer, f"``{entry}``", text
                layer = ""


class Layers(Directive):
    """umad-layers"""

    def run(self):
        env = self.state.document.settings.env
        env.note_dependency(str(MODULE / "layers.txt"))
        dot = ["digraph layers { rankdir=TB; ranksep=0.25;",
               'node [shape=box, style=filled, fillcolor="#eef3f8", width=7,'
               ' fontname="sans-serif", fontsize=11];', "edge [arrowsize=0.7];"]
        names = []
        for name, files in layers():
            words, rows = [""], 0
            for word in files:
                if len(words[rows]) + len(word) > 72:
                    words.append("")
                    rows += 1
                words[rows] = f"{words[rows]}  {word}".strip()
            dot.append(f'"{name}" [label=<<b>{name}</b><br/>{"<br/>".join(words)}>];')
            names.append(f'"{name}"')
        dot.append(" -> ".join(names) + "; }")
        node = graphviz()
        node["code"] = "\n".join(dot)
        node["options"] = {"docname": env.docname}
        node["alt"] = "The layers of layers.txt"
        return [node]


class Structures(Directive):
    """umad-structures"""

    def run(self):
        """Directive.run()"""
        names = [entry if "." in entry else entry + ".h"
                 for _, files in layers() for entry in files]
        lines = []
        # A header may be in another layer than its source file: then it is there twice.
        for name in dict.fromkeys(names):
            if (MODULE / name).exists() and re.search(r"^/\*\*$", read(name), re.M):
                lines += [name, "-" * len(name), "", purpose(name) + ".", "",
                          f".. kernel-doc:: drivers/infiniband/umad/{name}", ""]
        node = nodes.section()
        node.document = self.state.document
        nested_parse_with_titles(self.state, statemachine.StringList(lines, "umad_tables"),
                                 node)
        return node.children


def setup(app):
    """Sphinx extension."""
    app.add_directive("umad-counters", Counters)
    app.add_directive("umad-files", Files)
    app.add_directive("umad-layers", Layers)
    app.add_directive("umad-parameters", Parameters)
    app.add_directive("umad-structures", Structures)
    for role in ("counter", "param"):
        app.add_object_type(role, role)
        app.add_role_to_domain("std", role, XRefRole(innernodeclass=nodes.literal,
                                                     warn_dangling=True), override=True)
    return {"parallel_read_safe": True}
