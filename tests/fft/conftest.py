"""Lets the tests of this folder import the comparison of recorded forms and the tolerances."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE.parent / "linalg", HERE.parent):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
