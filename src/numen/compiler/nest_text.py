"""The printed form of a nest, its exact inverse, and the verifier.

`format_nest` is stable and tells apart all nests that differ (0.0 from -0.0 too, which == on Nest
does not), so its text serves as the key of a kernel. `verify_nest` runs after each pass that makes
nests, in tests, and before codegen. Next: `codegen/python/execute.py`, which says what a nest
means.
"""

from __future__ import annotations

import re
from typing import cast

from numen.compiler.body import Attr, canonical
from numen.compiler.nest import Buffer, Instr, Nest, Store, Stride
from numen.compiler.scalar import DTYPES, FLOATS, REDUCTIONS, SCALARS, fault
from numen.errors import InternalError

# The form:
#
#   nest rank=2 reduced
#     buffer 0 float32 [s 1]
#     buffer 1 float32 [1 0]
#     scalar 0 float64
#     %0 = load 0 : float32
#     %1 = const 2.0 : float32
#     %2 = multiply %0 %1 : float32
#     %3 = reduce sum %2 : float32
#     store 1 %3


def format_nest(nest: Nest) -> str:
    """Print a nest, one line a part."""
    lines = [f"nest rank={nest.rank}" + (" reduced" if nest.reduced else "")]
    for i, buffer in enumerate(nest.buffers):
        lines.append(f"  buffer {i} {buffer.dtype} [{' '.join(buffer.strides)}]")
    lines += [f"  scalar {i} {dtype}" for i, dtype in enumerate(nest.scalars)]
    lines += [format_instr(position, instr) for position, instr in enumerate(nest.body)]
    lines += [f"  store {store.buffer} %{store.value}" for store in nest.stores]
    return "\n".join(lines) + "\n"


def format_instr(position: int, instr: Instr) -> str:
    """Print one instruction."""
    words = [instr.op]
    if instr.attr is not None:
        # repr is exact for floats and tells bool, int and float apart.
        words.append(instr.attr if isinstance(instr.attr, str) else repr(instr.attr))
    words += [f"%{arg}" for arg in instr.args]
    return f"  %{position} = {' '.join(words)} : {instr.dtype}"


_HEAD = re.compile(r"nest rank=(\d+)( reduced)?")
_BUFFER = re.compile(r"buffer (\d+) (\w+) \[([01s ]*)\]")
_SCALAR = re.compile(r"scalar (\d+) (\w+)")
_INSTR = re.compile(r"%(\d+) = (\w+)((?: [^%\s:]\S*)?)((?: %\d+)*) : (\w+)")
_STORE = re.compile(r"store (\d+) %(\d+)")


def parse_nest(text: str) -> Nest:
    """Read what `format_nest` printed. Raises InternalError naming a line that has another form."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    head = _HEAD.fullmatch(lines[0]) if lines else None
    if head is None:
        raise InternalError("the text of a nest starts with a line `nest rank=...`")
    buffers: list[Buffer] = []
    scalars: list[str] = []
    body: list[Instr] = []
    stores: list[Store] = []
    for line in lines[1:]:
        if m := _BUFFER.fullmatch(line):
            _in_order(m[1], len(buffers), line)
            buffers.append(Buffer(m[2], tuple(cast(Stride, s) for s in m[3].split())))
        elif m := _SCALAR.fullmatch(line):
            _in_order(m[1], len(scalars), line)
            scalars.append(m[2])
        elif m := _INSTR.fullmatch(line):
            _in_order(m[1], len(body), line)
            args = tuple(int(arg[1:]) for arg in m[4].split())
            body.append(Instr(m[2], args, m[5], _parse_attr(m[3].strip(), m[2], m[5], line)))
        elif m := _STORE.fullmatch(line):
            stores.append(Store(int(m[1]), int(m[2])))
        else:
            raise InternalError(f"no line of a nest: {line!r}")
    return Nest(
        rank=int(head[1]),
        reduced=head[2] is not None,
        buffers=tuple(buffers),
        scalars=tuple(scalars),
        body=tuple(body),
        stores=tuple(stores),
    )


def _in_order(number: str, expected: int, line: str) -> None:
    if int(number) != expected:
        raise InternalError(f"expected number {expected} in line {line!r}")


def _parse_attr(word: str, op: str, dtype: str, line: str) -> Attr:
    if not word:
        return None
    if op == "reduce":
        return word
    try:
        if word in ("True", "False"):
            return word == "True"
        if op == "const" and dtype in FLOATS:
            return canonical(float(word), dtype)
        return int(word)
    except ValueError:
        raise InternalError(f"bad attribute {word!r} in line {line!r}") from None


def verify_nest(nest: Nest) -> None:
    """Check every rule of a nest. Raises InternalError with instruction and nest printed."""
    try:
        _verify_header(nest)
        for position, instr in enumerate(nest.body):
            wrong = _instr_fault(nest, position, instr)
            if wrong:
                raise InternalError(f"{wrong} in\n{format_instr(position, instr)}")
        _verify_phases(nest)
        _verify_stores(nest)
    except InternalError as error:
        raise InternalError(f"{error}\nof the nest\n{format_nest(nest)}") from None


def _verify_header(nest: Nest) -> None:
    if nest.rank < (1 if nest.reduced else 0):
        raise InternalError(f"rank {nest.rank} is too small")
    for i, buffer in enumerate(nest.buffers):
        if buffer.dtype not in DTYPES:
            raise InternalError(f"buffer {i} has dtype {buffer.dtype}, which no kernel holds")
        if len(buffer.strides) != nest.rank or not set(buffer.strides) <= {"0", "1", "s"}:
            raise InternalError(f"buffer {i} needs {nest.rank} stride classes out of 0, 1, s")
    for i, dtype in enumerate(nest.scalars):
        if dtype not in SCALARS:
            raise InternalError(f"scalar {i} has dtype {dtype}, not one of {SCALARS}")


def _instr_fault(nest: Nest, position: int, instr: Instr) -> str | None:
    if not all(0 <= arg < position for arg in instr.args):
        return "an operand does not come before its use"
    operands = [nest.body[arg].dtype for arg in instr.args]
    return fault(instr.op, operands, instr.dtype, instr.attr) or _attr_fault(nest, instr)


def _attr_fault(nest: Nest, instr: Instr) -> str | None:
    """Check the attribute; the operands and dtypes are right already."""
    attr = instr.attr
    if instr.op == "const":
        return _const_fault(attr, instr.dtype)
    if instr.op == "reduce":
        return None if nest.reduced and attr in REDUCTIONS else "reduce in a nest without reduction"
    if instr.op not in ("load", "scalar", "index"):
        return None if attr is None else f"unexpected attribute {attr!r}"
    counts = {"load": len(nest.buffers), "scalar": len(nest.scalars), "index": nest.rank}
    if not isinstance(attr, int) or isinstance(attr, bool) or not 0 <= attr < counts[instr.op]:
        return f"{instr.op} of number {attr!r}, out of {counts[instr.op]}"
    if instr.op == "load" and instr.dtype != nest.buffers[attr].dtype:
        return f"load as {instr.dtype} from a buffer of {nest.buffers[attr].dtype}"
    if instr.op == "scalar" and instr.dtype != nest.scalars[attr]:
        return f"{instr.dtype} from a scalar of {nest.scalars[attr]}"
    return None


def _const_fault(attr: Attr, dtype: str) -> str | None:
    if attr is None or isinstance(attr, str):
        return f"no constant: {attr!r}"
    try:
        exact = canonical(attr, dtype)
    except InternalError as error:
        return str(error)
    # repr: an int attr for a float dtype, or a float64 value for float32, would print as another
    # constant.
    return None if repr(exact) == repr(attr) else f"constant {attr!r} should be {exact!r}"


def phases(nest: Nest) -> list[str]:
    """Where each instruction stands in a reduced nest: "inside" the loop, "after" it, or "both".

    "both" are those that do not vary along the reduced axis and depend on no reduce. In a map all
    are "both".
    """
    result: list[str] = []
    last = nest.rank - 1
    for instr in nest.body:
        operands = {result[arg] for arg in instr.args}
        if instr.op == "reduce" or "after" in operands:
            result.append("after")
        elif nest.reduced and (
            "inside" in operands
            or (instr.op == "index" and instr.attr == last)
            or (instr.op == "load" and nest.buffers[cast(int, instr.attr)].strides[last] != "0")
        ):
            result.append("inside")
        else:
            result.append("both")
    return result


def _verify_phases(nest: Nest) -> None:
    where = phases(nest)
    for position, instr in enumerate(nest.body):
        operands = {where[arg] for arg in instr.args}
        text = format_instr(position, instr)
        if instr.op == "reduce" and "after" in operands:
            raise InternalError(f"a reduce of a reduced value in\n{text}")
        if instr.op != "reduce" and {"after", "inside"} <= operands:
            raise InternalError(f"a reduced value meets one inside the loop in\n{text}")


def _verify_stores(nest: Nest) -> None:
    if not nest.stores:
        raise InternalError("a nest stores nothing")
    if len(set(nest.outputs)) != len(nest.outputs):
        raise InternalError("a buffer is stored to twice")
    where = phases(nest)
    for store in nest.stores:
        name = f"store {store.buffer} %{store.value}"
        if not 0 <= store.buffer < len(nest.buffers) or not 0 <= store.value < len(nest.body):
            raise InternalError(f"{name}: no such buffer or value")
        buffer, value = nest.buffers[store.buffer], nest.body[store.value]
        if buffer.dtype != value.dtype:
            raise InternalError(f"{name}: a {value.dtype} value into a {buffer.dtype} buffer")
        if nest.reduced and buffer.strides[-1] != "0":
            raise InternalError(f"{name}: the buffer moves along the reduced axis")
        if where[store.value] == "inside":
            raise InternalError(f"{name}: the value varies along the reduced axis")
