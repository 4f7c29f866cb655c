"""Programs over Python and NumPy scalars: as arguments and state, in every position, and what
escapes.
"""

from __future__ import annotations

import enum
import math

import numpy as np
from tests.tracing.programs import Box, array, call, program

import numen as nm

VALUES = (1, 2, 3, 4, 5, 6, 7, 8)
FLOATS = (0.5, 1.5, 2.5, 3.5, -1.0, 0.0, -0.0, 1e300, float("inf"), float("nan"))


def each(name, f, values, compiled=None):
    """A program that calls f(x, value) for each value three times, then once more."""

    def runs(jit):
        g = jit(f)
        for v in (values[0], *[v for v in values for _ in range(3)], *values):
            yield call(g, array(1.0, 2.0, 3.0), v)

    runs.__name__ = name
    program(compiled=compiled)(runs)


INT_USES = {
    "shift": lambda x, n: x * (n << 1) + (n >> 1),
    "bits": lambda x, n: x * ((n & 3) | 4) + (n ^ 1) + (~n),
    "reflected_bits": lambda x, n: x * ((8 & n) | (16 | n)) + (3 ^ n) + (1 << n) + (256 >> n),
    "divmod": lambda x, n: x * divmod(n, 3)[0] + divmod(17, n)[1],
    "floordiv_mod": lambda x, n: x * (n // 3) + n % 3,
    "power_of_int": lambda x, n: x * 2**n + n**2,
    "three_argument_pow": lambda x, n: x * pow(n, 3, 5) + pow(2, n, 7),
    "negative_power": lambda x, n: x * n**-1,
    "exponent": lambda x, n: x**n,
    "base": lambda x, n: n**x,
    "int_array": lambda x, n: nm.arange(4) * n - n,
    "int_array_power": lambda x, n: nm.arange(4) ** n,
    "int_array_divide": lambda x, n: nm.arange(4) / n,
    "small_int_array": lambda x, n: nm.arange(4, dtype=nm.int8) + n,
    "uint_array": lambda x, n: nm.arange(4, dtype=nm.uint8) * n,
    "bool_array": lambda x, n: nm.array([True, False]) * n,
    "axis": lambda x, n: x.reshape(1, 1, 1, 1, 1, 1, 1, 1, 3).sum(axis=n),
    "shape": lambda x, n: nm.zeros((n, 2)) + 1,
    "reshape": lambda x, n: nm.arange(24.0).reshape(-1, n),
    "index": lambda x, n: x[n % 3] + x[-(n % 2)],
    "slice": lambda x, n: x[n % 3 :] + n,
    "set_item": lambda x, n: _set(x, n),
    "range": lambda x, n: _repeat(x, n),
    "list_index": lambda x, n: x * [1.0, 2.0, 3.0][n % 3],
    "dict_lookup": lambda x, n: x * {1: 10.0, 2: 20.0}.get(n, 0.0),
    "tuple_of_scalars": lambda x, n: (x * n, n, (n + 1, [n * 2]), {"n": n, n: 1}),
    "set_of_scalars": lambda x, n: ({n, n + 1}, x),
    "is_even": lambda x, n: x if n % 2 == 0 else -x,
    "truth": lambda x, n: x if n else -x,
    "chain": lambda x, n: x * 2 if 2 < n <= 5 else x,
    "min_max": lambda x, n: x * min(n, 4) + max(3, n),
    "sum_builtin": lambda x, n: x * sum([n, n, 1]),
    "isinstance": lambda x, n: x * (2 if isinstance(n, int) else 3),
    "type_is": lambda x, n: x * (2 if type(n) is int else 3),
    "bit_length": lambda x, n: x * n.bit_length(),
    "as_integer_ratio": lambda x, n: x * n.as_integer_ratio()[0],
    "real": lambda x, n: x * n.real + n.imag + n.numerator,
    "text": lambda x, n: (x * n, f"{n:03d} {n} {n!r}"),
    "text_decides": lambda x, n: x * (2 if str(n).endswith("3") else 3),
    "complex_of": lambda x, n: complex(n, 1),
    "numpy_function": lambda x, n: x * float(np.sqrt(n)) + np.float32(n) + np.maximum(n, 3),
    "numpy_array_of": lambda x, n: x + nm.array([n, 1.0, 2.0]),
    "full": lambda x, n: x + nm.full(3, n),
    "math": lambda x, n: x * math.sqrt(n) + math.factorial(n) + math.log(n) + math.gcd(n, 4),
    "round": lambda x, n: (
        x * round(n, -1) + round(n) + math.floor(n) + math.ceil(n) + math.trunc(n)
    ),
    "identity": lambda x, n: n is n and n == n,
    "where": lambda x, n: nm.where(x > n % 3, x, n),
    "maximum": lambda x, n: nm.maximum(x, n),
    "compare": lambda x, n: (x < n, n <= x, x == n),
    "float_of": lambda x, n: x * float(n) + int(n),
    "hash": lambda x, n: x * (hash(n) % 7),
    "in_list": lambda x, n: x * (2 if n in [1, 2] else 3),
    "matmul_scaled": lambda x, n: (x * n) @ x,
    "subtract_reflected": lambda x, n: n - x + (10 - n) * x + n / x + 7 // n,
    "scalar_of_array": lambda x, n: x.sum().item() * n + n,
    "compare_items": lambda x, n: x if x.sum().item() > n else -x,
    "string_repeat": lambda x, n: (x, "ab" * n, [0] * n),
    "enumerate": lambda x, n: (x, list(enumerate("ab", n))),
    "bytes": lambda x, n: (x, bytes(n)),
    "format_old": lambda x, n: (x, "%d" % n),  # noqa: UP031
    "unsupported": lambda x, n: n + "a",
    "call_it": lambda x, n: n(),
    "no_attribute": lambda x, n: n.missing,
    "subscript": lambda x, n: n[0],
    "len": lambda x, n: len(n),
    "iterate": lambda x, n: list(n),
    "matmul_scalar": lambda x, n: x @ n,
}

FLOAT_USES = {
    "scale": lambda x, v: x * v + v,
    "float32": lambda x, v: nm.ones(3, nm.float32) * v + v * 2,
    "reciprocal": lambda x, v: x * (1 / v),
    "power": lambda x, v: x * v**2 + x * 0.9**v,
    "exponent": lambda x, v: x**v,
    "is_integer": lambda x, v: x * v.is_integer(),
    "hex": lambda x, v: v.hex(),
    "math": lambda x, v: x * math.exp(v) + math.fabs(v) + math.copysign(1, v),
    "int_of": lambda x, v: x * int(v),
    "round": lambda x, v: x * round(v, 1) + round(v),
    "compare": lambda x, v: (x < v, v < 1.0, v == v, v != 1.0),
    "returned": lambda x, v: (v, -v, abs(v), +v, v * 2),
    "int_array": lambda x, v: nm.arange(3) * v,
    "bool_array": lambda x, v: nm.array([True, False, True]) * v,
    "negative_zero": lambda x, v: x * 0.0 * v,
    "index": lambda x, v: x[v],
    "range": lambda x, v: list(range(v)),
    "floordiv": lambda x, v: x * (v // 2) + v % 2,
    "complex": lambda x, v: x * (v + 1j),
}


def _set(x, n):
    x[n % 3] = n
    x[0] += n
    return x


def _repeat(x, n):
    for i in range(n):
        x = x * 1.5 + i
    return x


for _name, _use in INT_USES.items():
    each(f"int_{_name}", _use, VALUES)
for _name, _use in FLOAT_USES.items():
    each(f"float_{_name}", _use, FLOATS)


@program()
def large_ints(jit):
    f = jit(lambda x, n: (x * n, n + 1))
    g = jit(lambda x, n: x * n)
    for n in (
        1,
        2**62,
        2**63,
        2**64,
        2**70,
        -(2**70),
        10**400,
        10**5000,
        3,
        2**53 + 1,
        2**60 + 2**36 + 1,
    ):
        yield call(f, array(1.0, 2.0), n), call(f, nm.ones(2, nm.float32), n)
        yield (
            call(g, nm.arange(3), n),
            call(g, nm.arange(3, dtype=nm.uint64), n),
            call(g, nm.arange(3, dtype=nm.uint8), n),
        )


@program()
def kinds_of_scalars(jit):
    f = jit(lambda x, s: x * s)
    g = jit(lambda x, s: s)
    values = (
        True,
        False,
        1,
        1.0,
        np.float32(1.5),
        np.float64(2.5),
        np.int64(3),
        np.bool_(True),
        1 + 2j,
        1 - 0j,
        1 + 0j,
    )
    for s in values * 3:
        for x in (nm.ones(2, nm.float32), nm.arange(2)):
            yield call(f, x, s), call(g, x, s)


@program()
def numpy_scalars_that_change(jit):
    f = jit(lambda x, s: (x * s, s + 1, float(s)))
    for i in range(40):
        yield call(f, nm.ones(2, nm.float32), np.float32(i))


@program()
def numpy_scalars_in_state(jit):
    box = Box(lr=np.float64(0.1), n=np.int64(0))

    def f(x):
        box.n = box.n + 1
        return x * box.lr

    g = jit(f)
    for i in range(8):
        box.lr = np.float64(0.1 * (i // 2))
        yield call(g, array(1.0)), box.n


@program()
def numpy_scalars_made_inside(jit):
    f = jit(lambda x: x * np.float32(0.5) + np.float64(2) + np.sqrt(2.0))
    for _ in range(4):
        yield call(f, nm.ones(2, nm.float32))


@program()
def complex_scalars_in_state(jit):
    box = Box(z=1 + 2j)
    f = jit(lambda x: x * box.z)
    for i in range(6):
        box.z = complex(i // 2, -0.0 if i % 2 else 0.0)
        yield call(f, array(1.0, -1.0))


@program()
def strings_none_and_enums(jit):
    class Mode(enum.IntEnum):
        A = 1
        B = 2

    f = jit(
        lambda x, mode: (
            x * {"a": 1.0, "b": 2.0, None: 3.0, b"c": 4.0, Mode.A: 5.0, Mode.B: 6.0}.get(mode, 7.0)
        )
    )
    for mode in ("a", "b", None, b"c", Mode.A, Mode.B, ..., 1, 2, "a") * 3:
        yield call(f, array(1.0), mode)


@program()
def many_strings(jit):
    f = jit(lambda x, name: x * len(name))
    for i in range(40):
        yield call(f, array(1.0), "x" * i)


@program(compiled=True)
def keyword_order_and_defaults(jit):
    def f(x, *rest, scale=1.0, shift=0.0, **more):
        return x * scale + shift + sum(rest) + sum(more.values())

    g = jit(f)
    for i in range(5):
        s = float(i)
        yield call(g, array(1.0), scale=s, shift=2.0), call(g, array(1.0), shift=s, scale=3.0)
        yield call(g, array(1.0), 1.0, 2.0, extra=s), call(g, x=array(1.0), z=1, y=s)


@program()
def wrong_arguments(jit):
    f = jit(lambda x, y=1: x * y)
    for _ in range(3):
        yield call(f), call(f, 1, 2, 3), call(f, array(1.0), z=3), call(f, array(1.0))


@program()
def state_scalar_in_every_role(jit):
    box = Box(n=0, rate=1.0, flag=True, name="a", items=[0, 1.0], table={"k": 0})

    def f(x):
        box.n += 1
        box.rate *= 0.9
        box.items[0] += 2
        box.items[1] = box.rate / 2
        box.table["k"] = box.n * 2 + 1
        if box.n % 3 == 0:
            box.flag = not box.flag
        return x * box.rate + box.items[0] if box.flag else x - box.table["k"]

    g = jit(f)
    for _ in range(12):
        yield call(g, array(1.0, 2.0)), vars(box)


@program()
def division_by_a_state_scalar_that_becomes_zero(jit):
    box = Box(n=4, average=0.0, total=array(0.0))

    def f(x):
        box.total += x
        box.n -= 1
        box.average = 1.0 / box.n
        return x * 2

    g = jit(f)
    for _ in range(8):
        yield call(g, array(1.0)), box.n, box.average, box.total


@program()
def item_divided_by_zero_into_state(jit):
    box = Box(total=array(0.0), average=0.0)

    def f(x, y):
        box.total += x
        box.average = 1.0 / y.sum().item()
        return x * 2

    g = jit(f)
    for y in (1.0, 2.0, 3.0, 0.0, 4.0):
        yield call(g, array(1.0), array(y)), box.average, box.total


@program()
def overflow_of_a_host_scalar(jit):
    box = Box(rate=10.0, total=array(0.0))

    def f(x):
        box.total += x
        box.rate = box.rate**3
        return x * box.rate

    g = jit(f)
    for _ in range(9):
        yield call(g, array(1.0)), box.rate, box.total


@program()
def items_in_every_role(jit):
    box = Box(best=math.inf, count=0, history={})

    def f(x):
        loss = (x * x).sum().item()
        if loss < box.best:
            box.best = loss
        box.count += 1
        box.history["last"] = loss * 2
        return x / loss, loss, round(x[0].item(), 2), int(x[1].item())

    g = jit(f)
    for i in range(8):
        yield call(g, array(1.0 + i % 3, 2.0)), vars(box)


@program()
def int_items(jit):
    def f(x, i):
        n = i.sum().item()
        return x * n, x[n % 2], n // 2, n << 1, [n] * 2

    g = jit(f)
    for k in range(6):
        yield call(g, array(1.0, 2.0), nm.array([k, 1]))


@program()
def conversions_of_arrays(jit):
    def f(x):
        a = float(x[0]) + int(x[1]) + bool(x[2]) + complex(x[0]).real
        return (
            x * a,
            round(x[0], 1),
            x[0] ** 2,
            math.floor(x[1]),
            hash(x[0]),
            x[0] in [1.0],
            f"{x[0]:.2f}",
        )

    g = jit(f)
    for i in range(7):
        yield call(g, array(1.0 + i % 2, 2.5, 0.0))
