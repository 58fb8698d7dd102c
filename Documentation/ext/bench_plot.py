# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Plot of the times in a table of tools/testing/bench/table.py, as SVG.

.. bench-plot:: FILE

Rows without a time are left out. The axis is logarithmic.
"""

import html
import math
import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive

LABEL, WIDTH, BAR, GAP, TOP = 250, 520, 11, 12, 46
FIRST, LAST = 0.1, 1000     # seconds, the ends of the axis
MODULES = (("in-tree", "#b9a27c"), ("ours", "#26507a"))
STYLE = """.bench text { font: 12px sans-serif; }
.bench .label { text-anchor: end; }
.bench .tick { text-anchor: middle; fill: #555; }
.bench line { stroke: #ddd; }"""


def rows(text):
    """(wire and message, {module: cell}) of each row."""
    lines = text.splitlines()
    bars = [i for i, line in enumerate(lines) if re.fullmatch(r"=+(  =+)+", line)]
    columns = [match.span() for match in re.finditer("=+", lines[bars[0]])]
    # The last cell of a line may be longer than its bar.
    table = [[line[start:end].strip() for start, end in columns]
             for line in lines[bars[0] + 1:bars[-1]]]
    for row in table[2:]:
        yield f"{row[0]}, {row[1]}", dict(zip(table[0][2:4], row[2:4]))


def seconds(cell):
    """The time in a cell, or None."""
    found = re.search(r"(?:^|slowest )([\d.]+) s", cell)
    return float(found[1]) if found else None


def at(value):
    """The x of a time."""
    return LABEL + WIDTH * math.log(value / FIRST) / math.log(LAST / FIRST)


def draw(text):
    """The SVG."""
    body, y = [], TOP
    for name, cells in rows(text):
        if not any(seconds(cell) for cell in cells.values()):
            continue
        body.append(f'<text class="label" x="{LABEL - 8}" y="{y + BAR + 3}">'
                    f'{html.escape(name)}</text>')
        for module, color in MODULES:
            value = seconds(cells[module])
            end = at(value) if value else LABEL
            if value:
                body.append(f'<rect x="{LABEL}" y="{y}" width="{end - LABEL:.1f}" '
                            f'height="{BAR}" fill="{color}"/>')
            body.append(f'<text x="{end + 5:.1f}" y="{y + BAR - 1}" fill="#333">'
                        f'{html.escape(cells[module])}</text>')
            y += BAR + 1
        y += GAP
    head = []
    tick = FIRST
    while tick <= LAST:
        head.append(f'<line x1="{at(tick):.1f}" y1="{TOP - 8}" x2="{at(tick):.1f}" '
                    f'y2="{y}"/><text class="tick" x="{at(tick):.1f}" y="{TOP - 12}">'
                    f'{tick:g} s</text>')
        tick *= 10
    for i, (module, color) in enumerate(MODULES):
        head.append(f'<rect x="{LABEL + 90 * i}" y="4" width="11" height="11" '
                    f'fill="{color}"/><text x="{LABEL + 90 * i + 16}" y="14">'
                    f'{module}</text>')
    width = LABEL + WIDTH + 40
    return (f'<svg class="bench" viewBox="0 0 {width} {y}" width="{width}" role="img" '
            f'xmlns="http://www.w3.org/2000/svg" style="max-width:100%">'
            f'<style>{STYLE}</style>{"".join(head + body)}</svg>')


class BenchPlot(Directive):
    """bench-plot"""
    required_arguments = 1

    def run(self):
        """Directive.run()"""
        env = self.state.document.settings.env
        name, path = env.relfn2path(self.arguments[0])
        env.note_dependency(name)
        svg = draw(pathlib.Path(path).read_text(encoding="utf-8"))
        return [nodes.raw("", f"<p>{svg}</p>", format="html")]


def setup(app):
    """Sphinx extension."""
    app.add_directive("bench-plot", BenchPlot)
    return {"parallel_read_safe": True}
