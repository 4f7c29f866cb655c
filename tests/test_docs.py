"""The code in README.md and docs/ runs as it stands there, each page in a fresh process."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
PAGES = ["README.md", *sorted(str(p.relative_to(ROOT)) for p in ROOT.glob("docs/howto/*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)")


def code_of(page):
    """A page's Python blocks in order, each on the lines it has in the page."""
    text = (ROOT / page).read_text()
    lines = []
    for block in BLOCK.finditer(text):
        lines += [""] * (text.count("\n", 0, block.start(1)) - len(lines))
        lines += block.group(1).splitlines()
    return "\n".join(lines) + "\n"


@pytest.mark.parametrize("page", PAGES)
def test_the_code_of_a_page_runs(page, tmp_path):
    code = code_of(page)
    assert code.strip(), f"{page} has no Python block"
    script = tmp_path / (Path(page).stem + ".py")
    script.write_text(code)
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT / "src")},
    )
    assert done.returncode == 0, f"{page}:\n{done.stderr}"


def test_the_readme_shows_the_promised_number_of_lines():
    lines = [line for line in code_of("README.md").splitlines() if line.strip()]
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
