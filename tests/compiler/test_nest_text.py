"""The printed form of nests, its inverse, and the verifier."""

import math
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from numen.compiler.body import Body
from numen.compiler.nest import Buffer, Instr, Nest, Store
from numen.compiler.nest_text import format_nest, parse_nest, phases, verify_nest
from numen.compiler.scalar import DTYPES, FLOATS, OPS, REDUCTIONS, SCALARS, fault
from numen.errors import InternalError

CONSTANTS = {
    **{d: st.integers(0, 100) for d in DTYPES},
    **{d: st.floats(width=int(d[-2:])) for d in FLOATS},
    "bool": st.booleans(),
}


@st.composite
def nests(draw):
    """Any valid nest: random sources and operations, stores of whatever may be stored."""
    rank = draw(st.integers(0, 3))
    reduced = rank > 0 and draw(st.booleans())
    classes = st.lists(st.sampled_from("01s"), min_size=rank, max_size=rank).map(tuple)
    buffers = draw(
        st.lists(st.builds(Buffer, st.sampled_from(DTYPES), classes), min_size=1, max_size=3)
    )
    scalars = tuple(draw(st.lists(st.sampled_from(SCALARS), max_size=2)))
    b = Body()
    values = [b.load(i, buffer.dtype) for i, buffer in enumerate(buffers)]
    values += [b.scalar(i, dtype) for i, dtype in enumerate(scalars)]
    values += [b.index(axis) for axis in range(rank)]
    for dtype in draw(st.lists(st.sampled_from(DTYPES), max_size=3)):
        values.append(b.const(draw(CONSTANTS[dtype]), dtype))
    for op in draw(st.lists(st.sampled_from(sorted(OPS)), max_size=12)):
        args = tuple(draw(st.sampled_from(values)) for _ in range(OPS[op].arity))
        attr = draw(st.sampled_from(REDUCTIONS)) if op == "reduce" else None
        if not args or (op == "reduce" and not reduced):
            continue
        result = {"bool": "bool", "same": args[-1].dtype}.get(OPS[op].result)
        dtype = result or draw(st.sampled_from(DTYPES))
        if fault(op, [a.dtype for a in args], dtype, attr) is not None:
            continue
        body = (*b.instrs, Instr(op, tuple(a.position for a in args), dtype, attr))
        if _phases_hold(Nest(rank, reduced, tuple(buffers), scalars, body, ())):
            values.append(b.emit(op, args, dtype, attr))
    values.append(b.const(1, "int8"))  # may be stored anywhere
    where = phases(Nest(rank, reduced, tuple(buffers), scalars, b.instrs, ()))
    stored = [v for v in values if where[v.position] != "inside"]
    classes = ("1",) * (rank - 1) + ("0" if reduced else "1",) if rank else ()
    stores = []
    for value in draw(st.lists(st.sampled_from(stored), min_size=1, max_size=2)):
        stores.append(Store(len(buffers), value.position))
        buffers.append(Buffer(value.dtype, classes))
    return Nest(rank, reduced, tuple(buffers), scalars, b.instrs, tuple(stores))


def _phases_hold(nest):
    where = phases(nest)
    for instr in nest.body:
        operands = {where[arg] for arg in instr.args}
        if instr.op == "reduce" and "after" in operands:
            return False
        if instr.op != "reduce" and {"inside", "after"} <= operands:
            return False
    return True


@given(nests())
def test_text_round_trip(nest):
    verify_nest(nest)
    text = format_nest(nest)
    again = parse_nest(text)
    assert again == nest
    assert format_nest(again) == text
    verify_nest(again)


def scaled_sum():
    """Row sums of twice the input, plus one."""
    b = Body()
    doubled = b.multiply(b.load(0, "float32"), b.const(2.0, "float32"))
    total = b.add(b.reduce("sum", doubled), b.const(1.0, "float32"))
    buffers = (Buffer("float32", ("s", "1")), Buffer("float32", ("1", "0")))
    return Nest(2, True, buffers, ("float64",), b.instrs, (Store(1, total.position),))


TEXT = """\
nest rank=2 reduced
  buffer 0 float32 [s 1]
  buffer 1 float32 [1 0]
  scalar 0 float64
  %0 = load 0 : float32
  %1 = const 2.0 : float32
  %2 = multiply %0 %1 : float32
  %3 = reduce sum %2 : float32
  %4 = const 1.0 : float32
  %5 = add %3 %4 : float32
  store 1 %5
"""


def test_text_is_stable():
    assert format_nest(scaled_sum()) == TEXT
    assert parse_nest(TEXT) == scaled_sum()


@pytest.mark.parametrize("value", [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-320, 0.1])
def test_constants_keep_their_bits(value):
    b = Body()
    x = b.const(value, "float64")
    nest = Nest(0, False, (Buffer("float64", ()),), (), b.instrs, (Store(0, x.position),))
    again = parse_nest(format_nest(nest))
    assert repr(again.body[0].attr) == repr(b.instrs[0].attr)
    assert again == nest


def test_text_tells_signed_zeros_apart():
    texts = set()
    for value in (0.0, -0.0):
        b = Body()
        b.const(value, "float32")
        nest = Nest(0, False, (Buffer("float32", ()),), (), b.instrs, (Store(0, 0),))
        texts.add(format_nest(nest))
    assert len(texts) == 2


@pytest.mark.parametrize(
    "text",
    [
        "",
        "nest",
        "nest rank=1\n  %1 = load 0 : float32",
        "nest rank=1\n  buffer 1 float32 [1]",
        "nest rank=1\n  %0 = load",
        "nest rank=1\n  %0 = load x : float32",
        "nest rank=1\n  nonsense",
    ],
)
def test_bad_text_is_refused(text):
    with pytest.raises(InternalError):
        parse_nest(text)


def changed(nest, position, **fields):
    """The nest with other fields in one instruction."""
    body = list(nest.body)
    body[position] = replace(body[position], **fields)
    return replace(nest, body=tuple(body))


GOOD = scaled_sum()
OUT = Buffer("float32", ("1", "0"))
VARYING = replace(GOOD, body=(*GOOD.body, Instr("add", (2, 3), "float32")))
TWICE = replace(GOOD, body=(*GOOD.body, Instr("reduce", (5,), "float32", "sum")))


@pytest.mark.parametrize(
    ("nest", "words"),
    [
        (changed(GOOD, 2, args=(0, 2)), ["does not come before", "%2 = multiply"]),
        (changed(GOOD, 2, args=(-1, 1)), ["does not come before"]),
        (changed(GOOD, 2, args=(0,)), ["takes 2 operands"]),
        (changed(GOOD, 2, op="sin"), ["unknown scalar op"]),
        (changed(GOOD, 2, dtype="float64"), ["gives float32"]),
        (changed(GOOD, 2, attr=1), ["unexpected attribute"]),
        (changed(GOOD, 0, attr=2), ["load of number 2"]),
        (changed(GOOD, 0, attr=True), ["load of number True"]),
        (changed(GOOD, 0, dtype="float64"), ["from a buffer of float32"]),
        (changed(GOOD, 0, op="scalar", dtype="int64"), ["from a scalar of float64"]),
        (changed(GOOD, 0, op="index", dtype="int64", attr=2), ["index of number 2"]),
        (changed(GOOD, 1, attr=0.1), ["should be 0.100000001"]),
        (changed(GOOD, 1, attr=2), ["should be 2.0"]),
        (changed(GOOD, 1, attr="2"), ["no constant"]),
        (changed(GOOD, 3, attr="product"), ["unknown reduction"]),
        (replace(GOOD, rank=0), ["rank 0 is too small"]),
        (replace(GOOD, reduced=False), ["reduce in a nest without"]),
        (replace(GOOD, scalars=("float32",)), ["scalar 0"]),
        (replace(GOOD, buffers=(Buffer("float16", ("s", "1")), OUT)), ["float16"]),
        (replace(GOOD, buffers=(Buffer("float32", ("1",)), OUT)), ["2 stride classes"]),
        (replace(GOOD, buffers=(Buffer("float32", ("x", "1")), OUT)), ["stride classes"]),
        (VARYING, ["meets one inside the loop", "%6 = add %2 %3"]),
        (TWICE, ["reduce of a reduced value", "%6 = reduce sum %5"]),
        (replace(GOOD, stores=()), ["stores nothing"]),
        (replace(GOOD, stores=(Store(1, 5), Store(1, 3))), ["stored to twice"]),
        (replace(GOOD, stores=(Store(2, 5),)), ["no such buffer"]),
        (replace(GOOD, stores=(Store(1, 6),)), ["no such buffer or value"]),
        (replace(GOOD, stores=(Store(1, 2),)), ["varies along the reduced axis"]),
        (replace(GOOD, stores=(Store(0, 5),)), ["moves along the reduced axis"]),
        (
            replace(GOOD, buffers=(GOOD.buffers[0], Buffer("float64", ("1", "0")))),
            ["a float32 value into a float64 buffer"],
        ),
    ],
)
def test_verifier_refuses(nest, words):
    with pytest.raises(InternalError) as caught:
        verify_nest(nest)
    for word in words:
        assert word in str(caught.value)
    assert "nest rank=" in str(caught.value)


def test_values_that_do_not_vary_may_be_stored():
    b = Body()
    bias = b.add(b.load(0, "int64"), b.index(0))
    nest = Nest(
        2,
        True,
        (Buffer("int64", ("1", "0")), Buffer("int64", ("1", "0"))),
        (),
        b.instrs,
        (Store(1, bias.position),),
    )
    verify_nest(nest)
    assert phases(nest) == ["both"] * 3
    assert phases(GOOD) == ["inside", "both", "inside", "after", "both", "after"]
