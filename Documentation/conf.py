# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Configuration of Sphinx. scripts/htmldocs.sh sets UMAD_KERNEL_SOURCE, whose
kernel-doc and Sphinx extension are used."""

import os
import pathlib
import sys

# The modules of ext/ and of the kernel are imported from here, without .pyc files.
sys.dont_write_bytecode = True

here = pathlib.Path(__file__).resolve().parent
tree = here.parent
kernel = pathlib.Path(os.environ["UMAD_KERNEL_SOURCE"])
sys.path[:0] = [str(here / "ext"), str(kernel / "Documentation/sphinx")]

project = "ib_umad"
copyright = "GPL-2.0 OR Linux-OpenIB"
version = release = (tree / "VERSION").read_text(encoding="ascii").strip()

extensions = ["kerneldoc", "sphinx.ext.graphviz", "bench_plot", "ladder", "paths",
              "module_tables", "umad_tables"]
kerneldoc_bin = str(kernel / "scripts/kernel-doc")
kerneldoc_srctree = str(tree)
kerneldoc_verbosity = 0
graphviz_output_format = "svg"

primary_domain = "c"
# :c:struct: has to name one of the module's; what kernel-doc refers to need not.
nitpicky = True
nitpick_ignore_regex = [("c:(?!struct).*", ".*")]
highlight_language = "none"
smartquotes = False

html_theme = "alabaster"
html_static_path = ["static"]
html_css_files = ["book.css"]
html_theme_options = {
    "description": "User-space access to InfiniBand MADs",
    "fixed_sidebar": True,
    "page_width": "76em",
    "code_font_size": "0.8em",
    "sidebar_width": "17em",
}
html_show_copyright = False
html_copy_source = False
