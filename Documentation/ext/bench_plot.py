# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Plot of a table with a column of each module, as SVG.

.. bench-plot:: FILE
   :unit: us

Without a unit the cells say more than a time in seconds: rows without one are left out,
and the axis is logarithmic. With a unit the cells are numbers, and the axis is linear.
"""

import html
import math
import pathlib
import re

from docutils import nodes
from docutils.parsers.rst import Directive, directives

LABEL, WIDTH, BAR, GAP, TOP = 300, 520, 11, 12, 46
FIRST, LAST = 0.1, 1000     # seconds, the ends of the logarithmic axis
TICKS = 5                   # of the linear one, at the most
MODULES = (("in-tree", "#b9a27c"), ("ours", "#26507a"))
STYLE = """.bench text { font: 12px sans-serif; }
.bench .label { text-anchor: end; }
.bench .tick { text-anchor: middle; fill: #555; }
.bench line { stroke: #ddd; }"""


def rows(text):
    """(what it is about, {module: cell}) of each row."""
    lines = text.splitlines()
    bars = [i for i, line in enumerate(lines) if re.fullmatch(r"=+(  =+)+", line)]
    columns = [match.span() for match in re.finditer("=+", lines[bars[0]])]
    # The last cell of a line may be longer than its bar.
    table = [[line[start:end].strip() for start, end in columns]
             for line in lines[bars[0] + 1:bars[-1]]]
    about = table[0].index(MODULES[0][0])
    for row in table[2:]:
        yield (", ".join(row[:about]).replace("``", ""),
               dict(zip(table[0][about:about + 2], row[about:about + 2])))


def seconds(cell):
    """The time in a cell, or None."""
    found = re.search(r"(?:^|slowest )([\d.]+) s", cell)
    return float(found[1]) if found else None


def number(cell):
    """The number that a cell is, or None."""
    return float(cell.replace(",", "")) if re.fullmatch(r"[\d.,]+", cell) else None


class Log:
    """A logarithmic axis, in seconds."""
    unit = "s"
    value = staticmethod(seconds)
    ticks = [FIRST * 10 ** i for i in range(round(math.log10(LAST / FIRST)) + 1)]

    def at(self, value):
        """The x of a value."""
        return LABEL + WIDTH * math.log(value / FIRST) / math.log(LAST / FIRST)


class Linear:
    """A linear axis for values up to last, with round ticks."""
    value = staticmethod(number)

    def __init__(self, unit, last):
        self.unit = unit
        step = 10 ** math.floor(math.log10(last))
        while last / step < TICKS / 2:
            step /= 2
        self.ticks = [step * i for i in range(math.ceil(last / step) + 1)]

    def at(self, value):
        """The x of a value."""
        return LABEL + WIDTH * value / self.ticks[-1]


def axis_of(table, unit):
    """The axis of a table in that unit, or in seconds."""
    if not unit:
        return Log()
    return Linear(unit, max(number(cell) or 0 for _, cells in table for cell in cells.values()))


def draw(text, unit=None):
    """The SVG."""
    body, y, table = [], TOP, list(rows(text))
    axis = axis_of(table, unit)
    for name, cells in table:
        if not any(axis.value(cell) for cell in cells.values()):
            continue
        body.append(f'<text class="label" x="{LABEL - 8}" y="{y + BAR + 3}">'
                    f'{html.escape(name)}</text>')
        for module, color in MODULES:
            value = axis.value(cells[module])
            end = axis.at(value) if value else LABEL
            if value:
                body.append(f'<rect x="{LABEL}" y="{y}" width="{end - LABEL:.1f}" '
                            f'height="{BAR}" fill="{color}"/>')
            body.append(f'<text x="{end + 5:.1f}" y="{y + BAR - 1}" fill="#333">'
                        f'{html.escape(cells[module])}</text>')
            y += BAR + 1
        y += GAP
    head = []
    for tick in axis.ticks:
        head.append(f'<line x1="{axis.at(tick):.1f}" y1="{TOP - 8}" x2="{axis.at(tick):.1f}" '
                    f'y2="{y}"/><text class="tick" x="{axis.at(tick):.1f}" y="{TOP - 12}">'
                    f'{tick:g} {axis.unit}</text>')
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
    option_spec = {"unit": directives.unchanged_required}

    def run(self):
        """Directive.run()"""
        env = self.state.document.settings.env
        name, path = env.relfn2path(self.arguments[0])
        env.note_dependency(name)
        svg = draw(pathlib.Path(path).read_text(encoding="utf-8"), self.options.get("unit"))
        return [nodes.raw("", f"<p>{svg}</p>", format="html")]


def setup(app):
    """Sphinx extension."""
    app.add_directive("bench-plot", BenchPlot)
    return {"parallel_read_safe": True}
