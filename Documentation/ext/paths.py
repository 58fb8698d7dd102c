# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Warns of literals that look like a file of this tree which is not there.

``tools/a/b`` has to be a file or directory from the top of the tree, ``a.c`` the name of a
file anywhere in it, ``rmpp/a.c`` that of a file of the module's RMPP.
"""

import os
import pathlib
import re

from docutils import nodes
from sphinx.util import logging

TREE = pathlib.Path(__file__).resolve().parents[2]
PATH = re.compile(r"(?:Documentation|drivers|include|scripts|tools)/[\w./-]+")
NAME = re.compile(r"(?:rmpp/)?[\w-]+\.(?:c|h|py|sh|plan|inc)")
# The kernel's own, and what a build makes.
OTHERS = ("drivers/infiniband/core/", "user_mad.c", "mad_rmpp.c", "kselftest_harness.h",
          "drivers/infiniband/umad/ib_umad.ko")
NAMES = {name for root, _, names in os.walk(TREE) if "/.git" not in root
         for file in names for name in (file, f"{os.path.basename(root)}/{file}")}


def check(app, doctree):
    """For each document."""
    for literal in doctree.findall(nodes.literal):
        text = literal.astext()
        if text.startswith(OTHERS):
            continue
        if (PATH.fullmatch(text) and not (TREE / text).exists()) or \
                (NAME.fullmatch(text) and text not in NAMES):
            logging.getLogger(__name__).warning("there is no %s", text, location=literal)


def setup(app):
    """Sphinx extension."""
    app.connect("doctree-read", check)
    return {"parallel_read_safe": True}
