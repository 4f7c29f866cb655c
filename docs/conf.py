"""Sphinx: Markdown pages by MyST, the reference by `make_reference.py`, the theme furo.

`make docs` builds with warnings as errors and needs no network. Next: `index.md`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "src")]

import make_reference

import numen

project = "numen"
author = "the numen authors"
copyright = author
version = release = numen.__version__

extensions = ["myst_parser", "sphinx.ext.githubpages"]
exclude_patterns = ["*.py"]
default_role = "code"
highlight_language = "none"
nitpicky = True
nitpick_ignore_regex = [
    (r"py:.*", r".*")
]  # numpydoc's types are prose: "array_like", "int or None"
toc_object_entries = False

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

html_theme = "furo"
html_title = f"numen {version}"
html_copy_source = False
html_show_sphinx = False


def setup(app: Any) -> None:
    app.connect("builder-inited", lambda _: make_reference.write(HERE / "reference" / "generated"))
