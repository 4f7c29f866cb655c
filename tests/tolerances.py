"""The one table of tolerances, by dtype: how far a result may lie from its reference.

`assert_close` is for derivatives and rounded ops; what is exact is compared with `assert_same`.
"""

import numpy as np

RELATIVE = {
    "float16": 2e-3,
    "bfloat16": 2e-2,
    "float32": 2e-6,
    "float64": 1e-12,
    "complex64": 2e-6,
    "complex128": 1e-12,
}
"""A few units in the last place; integers and bool are exact."""

DIFFERENCES = {"float32": 2e-3, "float64": 2e-6, "complex64": 2e-3, "complex128": 2e-6}
"""Central differences in float64 against a derivative: rounding over step, and step squared."""

STEP = 1e-5
"""Step of the central differences."""


def assert_close(actual, expected, factor=1.0, table=RELATIVE):
    """Compare shape, and values relative to the largest magnitude of the reference."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.shape == expected.shape, f"shape {actual.shape}, expected {expected.shape}"
    worst = min((actual.dtype, expected.dtype), key=lambda dtype: dtype.itemsize).name
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0, where=np.isfinite(expected))))
    bound = table.get(worst, 0.0) * factor * scale
    np.testing.assert_allclose(actual, expected, rtol=0, atol=bound)


def assert_same(actual, expected):
    """Compare dtype, shape and every value, NaN equal to NaN."""
    actual, expected = np.asarray(actual), np.asarray(expected)
    assert actual.dtype == expected.dtype, f"dtype {actual.dtype}, expected {expected.dtype}"
    np.testing.assert_array_equal(actual, expected, strict=True)
