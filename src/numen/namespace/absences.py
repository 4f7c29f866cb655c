"""Names of NumPy's that numen does not have, each with its reason. A test reads the whole table."""

from __future__ import annotations

ABSENT = {
    "ndarray.__array_struct__": "read before `__array__`, which says when a gradient would be lost",
    "core": "NumPy's internals, deprecated there",
    "f2py": "builds Fortran extensions and knows no arrays",
    "test": "runs NumPy's own tests; numen's are run with pytest",
}
