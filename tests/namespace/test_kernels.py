"""The texts of `test_same_source.py` with compiled kernels: the results stay NumPy's."""

import pytest
import test_same_source as texts
from same_source import compare

import numen as nm


@pytest.mark.parametrize("text", texts.NAMED + texts.ROUNDED + texts.WRITES)
def test_same(text):
    with nm.config(engine="kernels"):
        compare(text, exact=False)


@pytest.mark.parametrize("dtype", texts.DTYPES)
def test_operators(dtype):
    setup = f"a = np.array([0, 1, 3], np.{dtype}); b = np.array([1, 1, 2], np.{dtype})"
    with nm.config(engine="kernels"):
        for text in texts.OPERATORS:
            if dtype != "bool" or text != "a ** 2":
                compare(f"{setup}\nr = {text}", exact=False)


@pytest.mark.parametrize("key", texts.KEYS)
def test_indexing(key):
    with nm.config(engine="kernels"):
        compare(f"{texts.SETUP}r = x[{key}]")
        compare(f"{texts.SETUP}y = x * 1.0; y[{key}] += 0.5; r = y")
