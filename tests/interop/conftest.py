"""Lets the tests of this folder import its helper, the comparison with NumPy and the tolerances."""

import sys
from pathlib import Path

HERE = Path(__file__).parent
for folder in (HERE, HERE.parent / "namespace", HERE.parent):
    if str(folder) not in sys.path:
        sys.path.append(str(folder))
