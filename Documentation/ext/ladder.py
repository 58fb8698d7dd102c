# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Packet ladders for Sphinx, as SVG.

.. ladder::

   program | ib_umad | remote
   program > ib_umad: write()
   ib_umad > remote: DATA 1
   ib_umad x remote: DATA 2
   ib_umad: what happens there
   ...

The first line has the columns. ">" is a message, "x" one that is lost; without either
it is an event of one column, and "..." is time that passes.
"""

import html
import re

from docutils import nodes
from docutils.parsers.rst import Directive

LEFT, TOP, ROW, SLOPE = 50, 44, 32, 8
LINE = re.compile(r"(?P<start>[^:>]+?)\s*(?:(?P<kind>[>x])\s+(?P<end>[^:]+?))?: (?P<text>.+)")
STYLE = """.ladder text { font: 13px sans-serif; text-anchor: middle; }
.ladder .at { text-anchor: start; fill: #555; font-style: italic; }
.ladder .name { font-weight: bold; }
.ladder line { stroke: #26507a; stroke-width: 1.5; }
.ladder .time { stroke: #999; stroke-width: 1; }
.ladder .lost { stroke: #b03030; }
.ladder .label { paint-order: stroke; stroke: #fff; stroke-width: 4px; }
.ladder path { fill: #26507a; }"""


def tag(name, text=None, **attributes):
    """An element; "class_" is class."""
    inner = "".join(f' {key.rstrip("_")}="{value}"' for key, value in attributes.items())
    return f"<{name}{inner}/>" if text is None else \
        f"<{name}{inner}>{html.escape(text)}</{name}>"


def arrow(start, end, y, text, lost):
    """A message from one x to another."""
    step = 1 if end > start else -1
    middle = (start + end) / 2
    stop = start + (end - start) * 0.7 if lost else end
    below = y + SLOPE * (0.7 if lost else 1)
    kind = "lost" if lost else "sent"
    yield tag("line", x1=start, y1=y, x2=stop, y2=below, class_=kind)
    if lost:
        for turn in (-1, 1):
            yield tag("line", x1=stop - 5, y1=below - 5 * turn, x2=stop + 5,
                      y2=below + 5 * turn, class_=kind)
    else:
        yield tag("path", d=f"M{end} {below} l{-9 * step} -5 l0 9 z")
    yield tag("text", text, x=middle, y=y - 3, class_="label")


def draw(lines):
    """SVG of a ladder; ValueError with a line that cannot be read."""
    names = [name.strip() for name in lines[0].split("|")]
    found = [LINE.fullmatch(line) for line in lines[1:]]
    # Room for the longest message, between neighbours.
    column = max([150] + [7 * len(one["text"]) + 40 for one in found if one and one["kind"]])
    at = {name: LEFT + i * column for i, name in enumerate(names)}
    body, y = [], TOP + 26
    for line, one in zip(lines[1:], found):
        if line == "...":
            body += [tag("text", "⋮", x=x, y=y + 4, class_="label") for x in at.values()]
            y += ROW
            continue
        if not one or one["start"] not in at or (one["end"] or names[0]) not in at:
            raise ValueError(line)
        start = at[one["start"]]
        if one["kind"]:
            body += arrow(start, at[one["end"]], y, one["text"], one["kind"] == "x")
        else:
            body += [tag("circle", cx=start, cy=y, r=3.5, fill="#26507a"),
                     tag("text", one["text"], x=start + 9, y=y + 4, class_="at label")]
        y += ROW
    # The text of an event is on its right.
    right = max([LEFT] + [at[one["start"]] + 20 + 7 * len(one["text"]) - at[names[-1]]
                          for one in found if one and not one["kind"]])
    width = LEFT + (len(names) - 1) * column + right
    head = []
    for name, x in at.items():
        head += [tag("text", name, x=x, y=TOP - 18, class_="name"),
                 tag("line", x1=x, y1=TOP - 8, x2=x, y2=y, class_="time")]
    return (f'<svg class="ladder" viewBox="0 0 {width} {y + 8}" width="{width}" '
            f'xmlns="http://www.w3.org/2000/svg" role="img" style="max-width:100%">'
            f'<style>{STYLE}</style>{"".join(head + body)}</svg>')


class Ladder(Directive):
    """ladder"""
    has_content = True

    def run(self):
        """Directive.run()"""
        lines = [line.strip() for line in self.content if line.strip()]
        try:
            svg = draw(lines)
        except ValueError as error:
            raise self.error(f"ladder: {error}") from error
        return [nodes.raw("", f'<p>{svg}</p>', format="html")]


def setup(app):
    """Sphinx extension."""
    app.add_directive("ladder", Ladder)
    return {"parallel_read_safe": True}
