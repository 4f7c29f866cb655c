"""Interop: what other libraries need before they know numen's arrays.

`imports.py` waits for a library to be imported and then registers numen with it; nothing here
imports one. NumPy, SciPy, scikit-learn and DLPack need no registration: `namespace/protocols.py`.
"""

from numen.interop import imports

imports.when_imported("einops._backends", "numen.interop.einops_backend")

__all__ = ["imports"]
