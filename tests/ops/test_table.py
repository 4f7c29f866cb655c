"""Every row is complete: an empty cell has its reason here."""

import inspect

import numpy as np
import pytest
from cases import ROWS

from numen.dispatch import slots
from numen.ops import table

NO_DERIVATIVE = {
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),  # bool results
    "argmax",  # integer result
}
NO_ERRORS = {"copy"}  # takes every array
ROUNDED = {"exp", "log", "tanh", "power", "sum", "mean", "matmul"}
OWN_ZERO_OR_NAN = {"max", "min", "argmax", "maximum", "minimum", "relu"}


@pytest.mark.parametrize("name", ROWS)
def test_a_row_has_every_cell(name):
    row = table[name]
    assert row.name == name
    assert (row.vjp is None) == (name in NO_DERIVATIVE)
    assert (row.jvp is None) <= (name in NO_DERIVATIVE)
    assert row.batch is not None
    assert row.samples is not None
    assert (row.errors is None) == (name in NO_ERRORS)
    assert row.exact == (name not in ROUNDED | OWN_ZERO_OR_NAN)
    assert row.view == (name in {"reshape", "transpose", "broadcast_to", "getitem"})
    if row.ufunc is not None:
        assert row.ufunc.__name__ == name


@pytest.mark.parametrize("name", ROWS)
def test_a_rule_says_what_it_saves(name):
    row = table[name]
    if row.saves_for is not None:
        arity = len(inspect.signature(row.vjp).parameters) - 3 if row.vjp else 2
        assert len(row.saves_for) in (arity, row.impl.nin if hasattr(row.impl, "nin") else arity)


def test_dispatch_finds_every_row():
    assert all(slots.primitive(name) is row for name, row in table.items())


@pytest.mark.parametrize("name", ROWS)
def test_samples_cover_scalars_and_empty_arrays_somewhere(name):
    args = [
        a for args, _ in table[name].samples(np.random.default_rng(0), np.dtype("f8")) for a in args
    ]
    assert all(isinstance(a, (np.ndarray, int, float)) for a in args)
