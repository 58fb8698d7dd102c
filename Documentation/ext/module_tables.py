# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Tables and pictures that Sphinx makes from the sources of any module with layers.txt.

module-files DIRECTORY: the files by layer, and the first sentence of the comment at their
top
module-layers DIRECTORY: a picture of the layers
"""

import pathlib
import re

from docutils import nodes, statemachine
from docutils.parsers.rst import Directive
from sphinx.ext.graphviz import graphviz

TREE = pathlib.Path(__file__).resolve().parents[2]
HEAD = re.compile(r"/\*(.*?)\*/", re.S)


def layers(directory):
    """(name, files) of each layer, the highest first."""
    for line in (directory / "layers.txt").read_text(encoding="utf-8").splitlines():
        name, colon, files = line.split("#")[0].partition(":")
        if colon:
            yield name.strip(), files.split()


def escape(text):
    """So that it is no markup."""
    return re.sub(r"([*`_|\\])", r"\\\1", text)


def purpose(directory, entry):
    """The first sentence of the comment at the top of a header, or a source file."""
    base = entry.removesuffix(".h")
    for path in (directory / (base + ".h"), directory / (base + ".c")):
        if not path.exists():
            continue
        # What stands behind the licence and before anything else.
        lines = path.read_text(encoding="utf-8").splitlines(True)
        found = HEAD.match("".join(lines[1:]))
        if found:
            text = " ".join(re.sub(r"^\s*\*", "", found[1], flags=re.M).split())
            text = re.split(r"(?<=\.)\s", text)[0].rstrip(".")
            return escape(text)
    return ""


class Table(Directive):
    """A list-table of what rows() yields."""
    header = ()
    widths = ""
    role = None     # which refers to the names in the first column
    sources = ()    # what rows() reads, from the top of the tree

    def rows(self):
        """One tuple of cells, as RST, for each row."""
        raise NotImplementedError

    def run(self):
        """Directive.run()"""
        env = self.state.document.settings.env
        for source in self.sources:
            env.note_dependency(str(TREE / source))
        lines = [".. list-table::", "   :header-rows: 1", f"   :widths: {self.widths}", ""]
        for row in [self.header, *self.rows()]:
            lines += [f"   {'-' if i else '* -'} {cell}" if not i else f"     - {cell}"
                      for i, cell in enumerate(row)]
        node = nodes.section()
        self.state.nested_parse(statemachine.StringList(lines, "module_tables"), 0, node)
        if self.role:
            for entry in node.findall(nodes.row):
                for name in entry[0].findall(nodes.literal):
                    anchor = f"{self.role}-{name.astext()}"
                    name["ids"].append(anchor)
                    env.get_domain("std").note_object(self.role, name.astext(), anchor)
        return node.children


class Files(Table):
    """module-files"""
    required_arguments = 1
    header = ("Layer", "File", "Purpose")
    widths = "18 20 62"

    @property
    def sources(self):
        """As in Table."""
        return [self.arguments[0] + "/layers.txt"]

    def rows(self):
        directory = TREE / self.arguments[0]
        for layer, files in layers(directory):
            for entry in files:
                text = purpose(directory, entry)
                if not text:
                    raise self.error(f"{entry}: no comment at its top")
                yield layer, f"``{entry}``", text
                layer = ""


class Layers(Directive):
    """module-layers"""
    required_arguments = 1

    def run(self):
        """Directive.run()"""
        env = self.state.document.settings.env
        directory = TREE / self.arguments[0]
        env.note_dependency(str(directory / "layers.txt"))
        dot = ["digraph layers { rankdir=TB; ranksep=0.25;",
               'node [shape=box, style=filled, fillcolor="#eef3f8", width=7,'
               ' fontname="sans-serif", fontsize=11];', "edge [arrowsize=0.7];"]
        names = []
        for name, files in layers(directory):
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


def setup(app):
    """Sphinx extension."""
    app.add_directive("module-files", Files)
    app.add_directive("module-layers", Layers)
    return {"parallel_read_safe": True}
