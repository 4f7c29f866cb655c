"""Every row is complete: an empty cell has its reason here."""

import inspect

import numpy as np
import pytest
from cases import INTEGERS, ROWS

from numen.dispatch import slots
from numen.ops import table

NO_DERIVATIVE = {
    *("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"),  # bool results
    *("argmax", "argmin", "argsort", "argpartition"),  # integer results
    *("any", "all"),  # bool results
    *("isnan", "isinf", "isfinite", "isnat", "signbit"),
    *("logical_and", "logical_or", "logical_xor", "logical_not"),
    *("frexp_exponent", *INTEGERS),
    *("max_pool_index", "philox_uniform"),  # integers, random numbers
    *("lstm_scan_back", "gru_scan_back"),  # only where no derivative is asked for
}
NO_ERRORS = {"copy", "real", "imag"}  # take every array
ROUNDED = {
    *("exp", "log", "tanh", "power", "sum", "mean", "matmul", "vecdot", "matvec", "vecmat"),
    *("exp2", "expm1", "log2", "log10", "log1p", "logaddexp", "logaddexp2"),
    *("sin", "cos", "tan", "arcsin", "arccos", "arctan", "arctan2", "hypot"),
    *("sinh", "cosh", "arcsinh", "arccosh", "arctanh", "cbrt", "float_power"),
    *("sigmoid", "softplus", "erf", "normalize"),
}
OWN_ZERO_OR_NAN = {"max", "min", "argmax", "maximum", "minimum", "relu", "fmax", "fmin"}

VIEWS = {"reshape", "transpose", "broadcast_to", "getitem", "real", "imag", "diagonal"}
VIEWS |= {"as_strided", "view_dtype"}


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
    assert row.view == (name in VIEWS)
    if row.ufunc is not None:
        assert row.ufunc.__name__ == name


@pytest.mark.parametrize("name", ROWS)
def test_a_rule_says_what_it_saves(name):
    row = table[name]
    if row.saves_for is not None and (row.vjp or row.ufunc):
        nin = row.ufunc.nin if row.ufunc is not None else None
        arity = nin
        if row.vjp:
            kinds = [p.kind for p in inspect.signature(row.vjp).parameters.values()]
            arity = sum(k <= inspect.Parameter.VAR_POSITIONAL for k in kinds) - 3
        assert len(row.saves_for) in (arity, nin or arity)


def test_every_ufunc_of_one_result_has_its_row():
    ufuncs = {f for f in vars(np).values() if isinstance(f, np.ufunc) and f.nout == 1}
    assert {f.__name__ for f in ufuncs} <= set(table)
    assert all(table[f.__name__].ufunc is f for f in ufuncs)


def test_dispatch_finds_every_row():
    assert all(slots.primitive(name) is row for name, row in table.items())


@pytest.mark.parametrize("name", ROWS)
def test_samples_cover_scalars_and_empty_arrays_somewhere(name):
    args = [
        a for args, _ in table[name].samples(np.random.default_rng(0), np.dtype("f8")) for a in args
    ]
    assert all(isinstance(a, (np.ndarray, int, float)) for a in args)
