"""Check text files: no blanks at line ends, one newline at the end, TOML and YAML that parse.

Files come as arguments; faults are printed as `path:line: what` and make the exit status 1. Called
by .pre-commit-config.yaml.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

try:
    import yaml
except ImportError:  # comes with pre-commit, not with numen's extras
    yaml = None


def faults(path: Path) -> Iterator[str]:
    """What is wrong with a file, as `path:line: what`."""
    text = path.read_text(encoding="utf-8")
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip(" \t\r"):
            yield f"{path}:{number}: blanks at the end of the line"
    if text and (not text.endswith("\n") or text.endswith("\n\n")):
        yield f"{path}: expected one newline at the end"
    try:
        if path.suffix == ".toml":
            tomllib.loads(text)
        elif path.suffix in (".yaml", ".yml") and yaml is not None:
            list(yaml.safe_load_all(text))
    except Exception as error:  # each parser has its own
        yield f"{path}: {error}"


if __name__ == "__main__":
    found = [fault for name in sys.argv[1:] for fault in faults(Path(name))]
    print("\n".join(found))
    sys.exit(bool(found))
