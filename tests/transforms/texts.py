"""NumPy code as functions of their arrays, to be transformed: the texts of `tests/against_numpy`
and of `tests/backends/forms.py`.

A text is a function of a dict of arrays; its result is the list of the Arrays it gives.
"""

from __future__ import annotations

import functools

import numpy as np
from tests.against_numpy.expressions import EXPRESSIONS
from tests.against_numpy.inputs import ndarrays
from tests.against_numpy.programs import PROGRAMS
from tests.backends import forms

import numen as nm
from numen.dispatch.core import ArrayCore

FAMILIES = {
    **{name: list(texts) for name, texts in EXPRESSIONS.items()},
    **{f"programs: {name}": list(texts.values()) for name, texts in PROGRAMS.items()},
    "writes": list(forms.WRITES),
    "forms": list(forms.FORMS),
}
STATEMENTS = frozenset(forms.WRITES)
OWN_ARRAYS = frozenset((*forms.WRITES, *forms.FORMS))
NUMBERS = "biufc"


def example(text: str, k: int) -> dict[str, np.ndarray]:
    """The arrays that a text names, other values for each k."""
    if text in OWN_ARRAYS:
        x = np.arange(12.0).reshape(3, 4) + k * 0.1
        return {"x": x, "m": x > 5, "i": x.astype(int)}
    rng = np.random.default_rng(k)
    arrays = {}
    for name, data in ndarrays().items():
        moves = data.dtype.kind in "fc" and k > 0
        shift = rng.normal(size=data.shape) * 0.3 if moves else np.zeros(())
        arrays[name] = data + shift.astype(data.dtype) if moves else data
    return arrays


@functools.cache
def _code(text: str):
    whole = text in STATEMENTS or "\n" in text
    return compile(text.strip() if whole else text, "<text>", "exec" if whole else "eval")


def run(text: str, arrays: dict) -> list:
    """The Arrays that a text gives on these arrays, in order."""
    names = {"np": nm, **arrays}
    with np.errstate(all="ignore"):
        result = eval(_code(text), names)
    if text in STATEMENTS or "\n" in text:
        result = names.get("r", names.get("x"))
    return leaves(result)


def leaves(value) -> list:
    if isinstance(value, ArrayCore):
        return [value]
    if isinstance(value, (list, tuple)):
        return [leaf for v in value for leaf in leaves(v)]
    if isinstance(value, dict):
        return [leaf for v in value.values() for leaf in leaves(v)]
    return [value]


def are_numbers(values: list) -> bool:
    """Whether all are Arrays of numbers."""
    return all(isinstance(v, ArrayCore) and v.dtype.kind in NUMBERS for v in values)


def data_of(x) -> np.ndarray:
    return np.asarray(x.detach().numpy())
