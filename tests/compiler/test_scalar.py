"""The instruction table and the builder that obeys it."""

import math

import pytest

from numen.compiler.body import Body, canonical
from numen.compiler.codegen.python.scalars import APPLY
from numen.compiler.nest import Instr
from numen.compiler.scalar import DTYPES, ITEMSIZE, OPS, fault
from numen.errors import InternalError


def test_rows_are_consistent():
    for name, row in OPS.items():
        assert row.name == name
        assert set(row.dtypes) <= set(DTYPES)
        assert row.result == "stated" or row.arity > 0
    assert set(ITEMSIZE) == set(DTYPES)


def test_every_row_has_a_meaning():
    own = {"const", "load", "scalar", "index", "reduce"}
    assert set(APPLY) == set(OPS) - own


@pytest.mark.parametrize(
    ("op", "args", "dtype", "attr", "word"),
    [
        ("sin", ["float32"], "float32", None, "unknown"),
        ("add", ["float32"], "float32", None, "takes 2"),
        ("add", ["float32", "float64"], "float64", None, "one dtype"),
        ("add", ["bool", "bool"], "bool", None, "not defined"),
        ("add", ["float32", "float32"], "float64", None, "gives float32"),
        ("divide", ["int32", "int32"], "int32", None, "not defined"),
        ("less", ["int8", "int8"], "int8", None, "gives bool"),
        ("select", ["int8", "int8", "int8"], "int8", None, "bool condition"),
        ("select", ["bool", "int8", "int16"], "int16", None, "one dtype"),
        ("shl", ["float32", "float32"], "float32", None, "not defined"),
        ("bitcast", ["float32"], "int64", None, "bitcast"),
        ("index", [], "int32", 0, "not defined"),
        ("scalar", [], "float32", 0, "not defined"),
        ("cast", ["float32"], "float16", None, "not defined"),
        ("reduce", ["float32"], "float32", "product", "unknown reduction"),
        ("reduce", ["bool"], "bool", "sum", "cast first"),
        ("reduce", ["float32"], "float32", "argmax", "int64"),
        ("reduce", ["float32"], "float64", "sum", "float32"),
    ],
)
def test_faults(op, args, dtype, attr, word):
    assert word in fault(op, args, dtype, attr)


def test_builder_gives_each_instruction_once():
    b = Body()
    x = b.load(0, "float32")
    one = b.const(1.0, "float32")
    y = b.add(x, one)
    assert b.add(b.load(0, "float32"), b.const(1, "float32")) == y
    assert b.add(one, x) != y
    assert b.instrs[:3] == (
        Instr("load", (), "float32", 0),
        Instr("const", (), "float32", 1.0),
        Instr("add", (0, 1), "float32"),
    )


def test_builder_tells_constants_apart():
    b = Body()
    zero, minus = b.const(0.0, "float64"), b.const(-0.0, "float64")
    assert zero != minus
    assert b.const(math.nan, "float64") == b.const(-math.nan, "float64")
    assert b.const(1, "int8") != b.const(1, "int16") != b.const(True, "bool")
    assert b.const(0.1, "float32") == b.const(0.10000000149011612, "float32")


def test_builder_refuses_wrong_dtypes():
    b = Body()
    x = b.load(0, "float32")
    with pytest.raises(InternalError, match="one dtype"):
        b.add(x, b.const(1.0, "float64"))
    with pytest.raises(InternalError, match="bitcast"):
        b.bitcast(x, "int64")
    assert b.cast(x, "float32") == x


@pytest.mark.parametrize(
    ("value", "dtype"),
    [(0.5, "int64"), (128, "int8"), (-1, "uint8"), (math.nan, "int32"), (2, "bool")],
)
def test_constants_must_fit(value, dtype):
    with pytest.raises(InternalError, match="no constant"):
        canonical(value, dtype)


def test_constants_are_rounded_to_the_dtype():
    assert canonical(0.1, "float32") == 0.10000000149011612
    assert canonical(1e300, "float32") == math.inf
    assert canonical(2**63, "uint64") == 2**63
    assert canonical(3.0, "int8") == 3
    assert type(canonical(1, "float64")) is float
