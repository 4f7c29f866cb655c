"""vmap of NumPy code equals a loop over its examples: every text of the same-source probe."""

import warnings

import numpy as np
import pytest
from tests.transforms import texts

import numen as nm
from numen.errors import TransformError

COUNT = 3
DIFFERENT_SHAPES = "the result's shape depends on the values"
VALUES = "Python asks for values that differ between the examples"

REFUSED = {
    "a[m]": DIFFERENT_SHAPES,
    "a[a > 0].sum()": DIFFERENT_SHAPES,
    "t[m[:2, :3]]": DIFFERENT_SHAPES,
    "x[m[:, 3], 1]": DIFFERENT_SHAPES,
    "np.arange(x[0, 1], 9.0)": DIFFERENT_SHAPES,
    "np.apply_along_axis(lambda r: float(r.sum()), 1, x)": VALUES,
    "np.geomspace(x[1], x[2], 3)": VALUES,
    "round(x[0, 1] / 3, 2)": VALUES,
    "np.piecewise(x, [m], [lambda v: v * 2, -1.0])": VALUES,
    "np.place(x, m, [1.0, 2.0])": VALUES,
    "\nx = a.copy()\nnp.place(x, m, [1, 2])\nr = x\n": VALUES,
    "\nx = a.copy()\nx[m] = np.arange(int(m.sum())) * 1.0\nr = x\n": VALUES,
    "x[m[:, 1], 2] = 3": VALUES,
    "np.maximum.at(x, [0], 5.0)": "a function without rows writes in place",
    "x.resize(2, 3, refcheck=False)": "an example does not own its memory",
}
"""Texts that vmap refuses, with the reason; they must keep failing, so that the list stays true."""


def plain_results(text):
    """What a loop gives for each example; None where it fails or gives no arrays of numbers."""
    results = []
    for k in range(COUNT):
        arrays = {name: nm.array(data) for name, data in texts.example(text, k).items()}
        try:
            found = texts.run(text, arrays)
        except Exception:
            return None
        if not texts.are_numbers(found):
            return None
        results.append([texts.data_of(x) for x in found])
    return results


def batched(text, function=lambda f: f):
    """vmap of a text over its arrays of numbers."""
    examples = [texts.example(text, k) for k in range(COUNT)]
    numbers = [n for n, data in examples[0].items() if data.dtype.kind in texts.NUMBERS]
    others = {n: nm.array(d) for n, d in examples[0].items() if n not in numbers}
    stacked = {n: nm.array(np.stack([e[n] for e in examples])) for n in numbers}
    return function(nm.vmap(lambda arrays: texts.run(text, {**arrays, **others})))(stacked)


@pytest.mark.parametrize("family", sorted(texts.FAMILIES))
def test_vmap_is_the_loop(family):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for text in texts.FAMILIES[family]:
            results = plain_results(text)
            if results is None or len({tuple(r.shape for r in row) for row in results}) > 1:
                continue
            if text in REFUSED:
                with pytest.raises((TransformError, ValueError)):
                    batched(text)
                continue
            if "pickle" in text or "np.save" in text:
                with pytest.raises(TransformError, match="vmap"):
                    batched(text)
                continue
            found = batched(text)
            for i, x in enumerate(found):
                expected = np.stack([row[i] for row in results])
                assert x.dtype == expected.dtype, text
                rtol = 1e-9 if x.dtype.itemsize >= 8 else 1e-4
                np.testing.assert_allclose(texts.data_of(x), expected, rtol, 1e-12, err_msg=text)


def test_most_texts_are_compared():
    every = [text for family in texts.FAMILIES.values() for text in family]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sum(plain_results(text) is not None for text in every) > 540


def test_the_list_of_refusals_names_texts():
    every = {text for family in texts.FAMILIES.values() for text in family}
    assert set(REFUSED) <= every
