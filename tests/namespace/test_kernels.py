"""The texts of `test_same_source.py` with compiled kernels: the results stay NumPy's."""

import numpy as np
import pytest
import test_same_source as texts
from same_source import compare

import numen as nm
from numen.dispatch import primitive


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


@pytest.mark.parametrize("shapes", [((9000, 1), (1, 50)), ((64, 150, 1), (64, 1, 140))])
def test_a_large_result_of_smaller_operands_runs_a_kernel(shapes, monkeypatch):
    ran = []
    kernel = primitive.run_kernel

    def noted(row, *rest):
        result = kernel(row, *rest)
        ran.append((row.name, result is not None))
        return result

    monkeypatch.setattr(primitive, "run_kernel", noted)
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(shape).astype(np.float32) for shape in shapes)
    np.testing.assert_array_equal((nm.array(a) * nm.array(b)).numpy(), a * b)
    assert ran == [("multiply", True)]
    ran.clear()
    narrow = b[..., :2]
    np.testing.assert_array_equal((nm.array(a) * nm.array(narrow)).numpy(), a * narrow)
    assert ran == []
