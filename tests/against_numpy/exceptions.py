"""What is not NumPy's by decision, with the reason; everything else must agree.

Keys are expressions or names of programs. `test_expressions.py` checks that these, and only these,
differ.
"""

from __future__ import annotations

import sys

PLAIN = {
    "scalar_type": "a NumPy scalar is a 0-d Array, so its class is Array",
}
"""With arrays that carry no gradient."""

GRADIENT = dict(PLAIN)
"""With floating inputs that require gradients."""

if sys.version_info < (3, 12):
    BUFFER = "a Python class can offer the buffer protocol from Python 3.12 on"
    PLAIN["buffer"] = GRADIENT["buffer"] = BUFFER

LEAVES = "memory of an array that requires a gradient is handed out only after detach()"
MASKED = "np.ma.masked_array(v, v > 3).sum()"
GRADIENT.update(dict.fromkeys(("dlpack", "np_asarray", "array_iface", MASKED), LEAVES))
GRADIENT["repr(v)"] = "the text says requires_grad=True"
