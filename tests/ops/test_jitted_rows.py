"""A traced function gives each elementwise row's values and gradients as eager calls do."""

import numpy as np
import pytest
from cases import quiet, samples

import numen as nm
from numen.errors import DTypeError, InternalError, ShapeError
from numen.graph.infer import infer
from numen.graph.types import TensorType
from numen.namespace.array import Array
from numen.ops import floats, table
from numen.ops.registry import FAMILIES
from tolerances import assert_close, assert_same

NAMES = [
    row.name
    for family in FAMILIES
    for row in family.ROWS
    if row.ufunc is not None or family is floats
]


def first_sample(name, dtype):
    """The sample of arrays alone that comes first, else the first with any."""
    chosen = [args for args, _ in samples(name, dtype) if all(np.size(a) for a in args)]
    arrays = [args for args in chosen if all(isinstance(a, np.ndarray) for a in args)]
    return (arrays or chosen)[0]


def compiled(function, args):
    """What a replay of the traced function gives."""
    traced = nm.jit(function)
    for _ in range(3):
        result = quiet(traced, *args)
    return result


@pytest.mark.parametrize("dtype", ["float64", "int32"])
@pytest.mark.parametrize("name", NAMES)
def test_a_trace_has_the_values_of_eager_calls(name, dtype):
    args = [Array(a) for a in first_sample(name, dtype)]

    def function(*arrays):
        return table[name](*arrays)

    try:
        with nm.config(engine="kernels"):
            expected = quiet(function, *args)
    except (TypeError, ValueError) as error:
        with pytest.raises(type(error)):
            compiled(function, args)
        return
    assert_same(compiled(function, args)._d, expected._d)


@pytest.mark.parametrize("name", [n for n in NAMES if table[n].vjp is not None])
def test_a_trace_has_the_gradients_of_eager_calls(name):
    args = [Array(a) for a in first_sample(name, "float64")]
    wrt = tuple(i for i, a in enumerate(args) if a.dtype.kind == "f")

    def function(*arrays):
        def total(*values):
            out = table[name](*values)
            return table["sum"](out * out, axis=tuple(range(out.ndim)), keepdims=False)

        return nm.grad(total, wrt)(*arrays)

    for found, expected in zip(compiled(function, args), function(*args), strict=True):
        assert_close(found._d, expected._d, 10)


def type_of(dtype, *shape):
    return TensorType(np.dtype(dtype), shape)


def test_type_rules_are_the_ufuncs():
    f8, i8 = type_of("f8", 2, 1, 3), type_of("i8", 4, 3)
    assert infer("isnan", [f8], {}) == type_of("bool", 2, 1, 3)
    assert infer("hypot", [f8, type_of("f8", 4, 3)], {}) == type_of("f8", 2, 4, 3)
    assert infer("ldexp", [f8, i8], {}) == type_of("f8", 2, 4, 3)
    assert infer("vecdot", [f8, type_of("f8", 4, 3)], {}) == type_of("f8", 2, 4)
    assert infer("imag", [type_of("c8", 5)], {}) == type_of("f4", 5)


def test_type_rules_refuse_what_the_ufuncs_refuse():
    f8 = type_of("f8", 2, 3)
    for name, types, error in [
        ("hypot", [f8, type_of("f4", 3)], DTypeError),  # not cast
        ("hypot", [f8, type_of("f8", 4)], ShapeError),
        ("sin", [type_of("i8", 3)], DTypeError),
        ("vecdot", [f8, type_of("f8", 4)], ShapeError),
        ("vecdot", [f8, type_of("f8")], ShapeError),
        ("gcd", [f8, f8], InternalError),  # no such loop
        ("sin", [f8, f8], InternalError),
    ]:
        with pytest.raises(error, match=name):
            infer(name, types, {})


def test_a_write_through_a_part_is_replayed():
    def function(z):
        z = z * 1
        table["real"](z)[0] = 7.0
        return z

    result = compiled(function, [Array(np.array([1 + 2j, 3 - 4j]))])
    assert result.tolist() == [7 + 2j, 3 - 4j]


def test_the_other_part_is_read_after_a_write_through_one():
    def function(z):
        z = z * 1
        across, up = z.real, z.imag
        across += 1.0
        pairs = z.view(float)
        up *= 2.0
        return across * up, pairs[::-1]

    result = compiled(function, [Array(np.array([1 + 2j, 3 - 4j]))])
    assert [r.tolist() for r in result] == [[8.0, -32.0], [-8.0, 4.0, 4.0, 2.0]]
