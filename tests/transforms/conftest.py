"""Lets the tests of this folder import its helpers and the table of tolerances."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent, HERE.parent / "ops"):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
