"""The code in README.md and docs/ runs as it stands there, each page in a fresh process.

A ```text block right after a ```python block is what it prints.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
FOLDERS = ("howto", "tutorial", "explanation")
CODE = [p for folder in FOLDERS for p in sorted(ROOT.glob(f"docs/{folder}/*.md"))]
PAGES = ["README.md", "docs/index.md", *[str(p.relative_to(ROOT)) for p in CODE]]
BLOCK = re.compile(
    r"^```python\n(?P<code>.*?)^```$(?:\n\n```text\n(?P<output>.*?)^```$)?",
    re.MULTILINE | re.DOTALL,
)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")
MARK = "\x1e"


def code_of(page):
    """A page's Python blocks in order, each on the lines it has in the page; after each a mark is
    printed."""
    text = (ROOT / page).read_text()
    lines = []
    for block in BLOCK.finditer(text):
        lines += [""] * (text.count("\n", 0, block.start("code")) - len(lines))
        lines += [*block["code"].splitlines(), f"print({MARK!r}, end='', flush=True)"]
    return "\n".join(lines) + "\n"


def outputs_of(page):
    """What each Python block of a page says it prints, None where it says nothing."""
    return [block["output"] for block in BLOCK.finditer((ROOT / page).read_text())]


def run(script, *arguments, cwd):
    return subprocess.run(
        [sys.executable, "-W", "error", str(script), *arguments],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=cwd,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page, tmp_path):
    code = code_of(page)
    assert code.strip(), f"{page} has no Python block"
    script = tmp_path / (Path(page).stem + "_page.py")
    script.write_text(code)
    done = run(script, cwd=tmp_path)
    assert done.returncode == 0, f"{page}:\n{done.stderr}"
    printed = done.stdout.split(MARK)
    for output, expected in zip(printed, outputs_of(page), strict=False):
        if expected is not None:
            assert output == expected, page


def test_the_readme_shows_the_promised_number_of_lines():
    lines = [
        line for line in code_of("README.md").splitlines() if line.strip() and MARK not in line
    ]
    assert len(lines) <= 22


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_between_pages_lead_somewhere(page):
    for target in LINK.findall(page.read_text()):
        assert (page.parent / target).exists(), f"{page} links to {target}"


def test_the_printed_boxes_of_the_architecture_page_are_up_to_date():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/make_architecture.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=240,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, done.stderr


def test_the_reference_has_every_public_name():
    """Each name of numen and of its modules is on a page, in a directive or in a table."""
    code = """
import sys, importlib
sys.path.insert(0, sys.argv[1])
import make_reference, numen
text = "".join(page for _, page in make_reference.pages())
names = [f"numen.{n}" for n in numen.__all__ if not n.startswith("_")]
modules = [name for name in names if name[6:] in make_reference.MODULES]
for path in make_reference.MODULES:
    module = importlib.import_module(f"numen.{path}")
    names += [f"{module.__name__}.{n}" for n in make_reference.names_of(module)]
words = set(make_reference.re.findall(r"numen[\\w.]*", text))
missing = [n for n in names if n not in words and n not in modules]
assert len(names) > 1000 and not missing, missing
silent = [n for n, v in make_reference.members(numen.Array) if not make_reference.doc_of(v)]
assert not silent, silent
"""
    done = run("-c", code, str(ROOT / "docs"), cwd=ROOT)
    assert done.returncode == 0, done.stderr
