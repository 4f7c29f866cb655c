"""Programs over arrays: views, in-place writes, out=, where=, aliasing between inputs, ndarrays,
constants.
"""

from __future__ import annotations

import numpy as np
from tests.tracing.programs import Box, array, call, program

import numen as nm


def matrix():
    return nm.array(np.arange(12.0).reshape(3, 4))


@program(compiled=True)
def writes_through_views_of_views(jit):
    def f(x):
        v = x[1:]
        w = v.T[:, ::-1]
        w += 1
        v[0] *= 2
        u = w[1:3].reshape(2, -1)
        x[:, 1] = u[0, 0]
        return v * 1, w * 1, u * 1, x.sum()

    g = jit(f)
    for _ in range(5):
        x = matrix()
        yield call(g, x), x


@program(compiled=True)
def captured_base_written_through_captured_view(jit):
    base = matrix()
    view = base[1:, ::2]

    def f(x):
        view[0] += x
        return base * 2

    def h(x):
        base[1] *= x
        return view * 2

    g, k = jit(f), jit(h)
    for _ in range(5):
        yield call(g, array(1.0, 2.0)), call(k, array(1.0)), base, view


@program()
def two_captured_views_overlap(jit):
    base = matrix()
    a, b = base[:2], base[1:]

    def f(x):
        a[...] = a + x
        return b * 2

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0)), base, a, b


@program()
def arguments_overlap_by_detach_and_views(jit):
    def f(a, b):
        a += 1
        return b * 2

    g = jit(f)
    for i in range(12):
        x = array(1.0, 2.0)
        y = (array(5.0, 6.0), x.detach(), x[:], x[::-1])[(i // 2) % 4 if i > 4 else 0]
        yield call(g, x, y), x, y


@program()
def detached_twins_first(jit):
    def f(a, b):
        a += 1
        return b * 2

    g = jit(f)
    for i in range(6):
        x = array(1.0, 2.0)
        yield call(g, x, x.detach() if i < 3 else array(3.0, 4.0)), x


@program()
def views_returned_and_kept(jit):
    box = Box()

    def f(x):
        box.view = x[1:]
        box.flipped = x[::-1]
        y = x * 2
        box.y = y
        return y[:1], y.T, x.reshape(-1), x.detach(), y.detach()

    g = jit(f)
    for _ in range(5):
        x = array(1.0, 2.0, 3.0)
        yield call(g, x), x, box.view, box.flipped, box.y


@program(compiled=True)
def inplace_on_aliases(jit):
    def f(x):
        y = x
        y += 1
        z = x.detach()
        z *= 2
        t = x[...]
        t -= 1
        x[:2] += x[1:]
        x[1:] = x[:2]
        x[...] += x
        return x, y, z, t

    g = jit(f)
    for _ in range(5):
        x = array(1.0, 2.0, 3.0)
        yield call(g, x), x


@program(compiled=True)
def out_arguments(jit):
    buffer = array(0.0, 0.0, 0.0)

    def f(x, y):
        nm.add(x, y, out=buffer)
        r = nm.exp(x, out=y)
        t = nm.zeros(3)
        nm.multiply(t, 2, out=t)
        nm.maximum(x, 2, out=t)
        x.sum(axis=0, keepdims=True, out=buffer[:1])
        nm.negative(x[:2], out=x[1:])
        return r, t, r is y

    g = jit(f)
    for _ in range(5):
        x, y = array(1.0, 2.0, 3.0), array(4.0, 5.0, 6.0)
        yield call(g, x, y), x, y, buffer


@program(compiled=True)
def where_arguments(jit):
    def f(x, m):
        t = nm.ones(3)
        nm.add(x, 1, out=t, where=m)
        return nm.add(x, 5, where=m), nm.exp(x, where=x > 1.5), t

    g = jit(f)
    for i in range(5):
        yield call(g, array(1.0, 2.0, 3.0), nm.array([True, i % 2 == 0, False]))


@program(compiled=True)
def writes_before_and_after_queries(jit):
    total = array(0.0, 0.0)

    def f(x):
        v = total[1:]
        total[...] = total + x
        if x.sum() > 2:
            v += 10
            x *= 2
        if total[0] > 5:
            total[...] = v - 1
        w = x[:1]
        w -= 1
        return total.sum(), w

    g = jit(f)
    for i in range(14):
        x = array(float(i % 4), 1.0)
        yield call(g, x), x, total


@program()
def scalars_and_zero_d(jit):
    def f(x):
        s = x.sum()
        before = s
        s += 1
        z = x[..., 0]
        z += 5
        t = nm.asarray(3.0)
        t += x[1]
        e = x[1]
        return (
            s,
            before,
            z,
            t,
            e,
            x.max(),
            x[0] * 2,
            (x[0] + x[1]).reshape(1),
            nm.where(x[0] > 1, x[0], 0.0),
        )

    g = jit(f)
    for i in range(5):
        x = array(1.0 + i, 2.0)
        yield call(g, x), x


@program()
def scalar_flagged_and_plain_zero_d_arguments(jit):
    def f(x, y):
        x += 1
        return x * y, x

    g = jit(f)
    for i in range(12):
        a = array(1.0, 2.0)
        x = (a[0], a[..., 0], nm.array(1.0))[i % 3]
        yield call(g, x, array(1.0)), x, a
        yield call(g, x, x), x


@program()
def readonly_arguments(jit):
    def f(x):
        x += 1
        return x

    g = jit(f)
    for i in range(6):
        x = array(1.0, 2.0) if i % 2 else nm.broadcast_to(nm.array(1.0), (2,))
        yield call(g, x), x


@program()
def ndarray_arguments_are_read_anew(jit):
    data = np.array([1.0, 2.0])

    def f(x, nd):
        return x * nd + float(nd[0])

    def h(nd):
        return nm.array(nd) * 2, nm.asarray(nd) + 1, np.sum(nd), nd

    g, k = jit(f), jit(h)
    for i in range(6):
        data[0] = float(i // 3)
        yield call(g, array(1.0, 1.0), data), call(k, data), call(k, np.arange(3.0) + i)


@program()
def captured_ndarrays_change(jit):
    data, big = np.array([1.0, 2.0]), np.ones(100_000)
    box = Box(table=np.arange(3))

    def f(x):
        return x * data + float(data[0]) + nm.asarray(data) + box.table[:2]

    g = jit(f)
    h = jit(lambda x: x * float(big[0]) + big[:2])
    for i in range(9):
        data[0] = float(i // 3)
        big[0] = float(i // 3)
        if i == 6:
            box.table = np.arange(3) * 2
        yield call(g, array(1.0, 1.0)), call(h, array(1.0, 1.0))


@program()
def captured_ndarray_is_written(jit):
    data = np.array([1.0, 2.0])

    def f(x):
        a = nm.asarray(data)
        a += 1
        data[1] *= 2
        return x * a

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0, 1.0)), data


@program()
def asarray_of_an_ndarray_is_returned(jit):
    data = np.array([1.0, 2.0])
    f = jit(lambda x: nm.asarray(data))
    for i in range(5):
        data[0] = float(i // 3)
        out = call(f, array(1.0))
        yield out, bool(np.shares_memory(out._d, data))


@program(compiled=True)
def ndarrays_made_inside(jit):
    f = jit(lambda x: x * np.linspace(0.0, 1.0, 3) + np.eye(3)[0] + [1, 2, 3])
    for _ in range(4):
        yield call(f, array(1.0, 2.0, 3.0))


@program(compiled=True)
def constants_are_fresh_each_time(jit):
    box = Box()

    def f(x):
        z = nm.zeros(3)
        z[0] = x[0]
        z += 1
        box.ones = nm.ones(2)
        e = nm.empty(2)
        e[...] = 4
        return z, nm.arange(3), nm.ones_like(x), e

    g = jit(f)
    for i in range(5):
        out = call(g, array(1.0 + i, 2.0))
        yield out, box.ones
        out[1][0] = 77
        box.ones[0] = 88


@program()
def masks_and_index_arrays(jit):
    def f(x, i):
        y = x[i]
        x[i] = 9.0
        x[nm.array([0, 1])] += 1
        return y, nm.scatter_add(x, i, 1.0), nm.take(x, i)

    def h(x):
        x[x > 1.5] = 0.0
        return x[x < 1], x

    g, k = jit(f), jit(h)
    for n in range(5):
        x, z = array(1.0, 2.0, 3.0), array(1.0, 2.0, 3.0 - n)
        yield call(g, x, nm.array([0, -1, n % 3])), x, call(k, z), z


@program()
def index_errors(jit):
    f = jit(lambda x, i: x[i] * 2)
    for i in (0, 1, 2, 5, nm.array([0]), nm.array([7]), nm.array([1]), 1.5, "a", None):
        yield call(f, array(1.0, 2.0, 3.0), i)


@program()
def dtypes(jit):
    def f(x, y):
        return (
            x + y,
            x * 2,
            x * y,
            x.sum(),
            -x if x.dtype != np.bool_ else x,
            x < y,
            x.astype("float32"),
            x.max(),
        )

    g = jit(f)
    names = (
        "bool",
        "int8",
        "uint8",
        "int16",
        "int32",
        "int64",
        "uint64",
        "float16",
        "float32",
        "float64",
        "complex64",
    )
    for _ in range(3):
        for name in names:
            yield call(
                g,
                nm.array(np.array([1, 0, 3]).astype(name)),
                nm.array(np.array([1, 2, 3]).astype("float32")),
            )
            yield call(
                g,
                nm.array(np.array([1, 0, 3]).astype(name)),
                nm.array(np.array([1, 2, 3]).astype(name)),
            )


@program()
def inplace_casts(jit):
    def f(x, y):
        x += y
        x[1:] = y[1:] * 1.5
        return x

    g = jit(f)
    for _ in range(3):
        for a, b in (
            ("int32", "int64"),
            ("float32", "float64"),
            ("int32", "float64"),
            ("uint8", "int8"),
            ("float64", "int8"),
        ):
            x, y = (
                nm.array(np.array([1, 2, 3]).astype(a)),
                nm.array(np.array([1, 2, 200]).astype(np.int64).astype(b)),
            )
            yield call(g, x, y), x


@program()
def shapes_and_orders(jit):
    def f(x):
        return (
            x.T,
            x.reshape(-1),
            x.copy(),
            x * 1,
            x.T.copy(),
            x.T * 1 + 0,
            x.sum(axis=0),
            x[::-1] * 2,
        )

    g = jit(f)
    for make in (
        matrix,
        lambda: matrix().T,
        lambda: matrix()[:, ::2],
        lambda: matrix()[::-1],
        lambda: matrix()[0:0],
    ):
        for _ in range(4):
            out = call(g, make())
            yield out, [a.strides for a in out], [a.flags.c_contiguous for a in out]


@program()
def empty_and_zero_d_reductions(jit):
    f = jit(lambda x: (x.sum(), x.mean(), x.sum(axis=0) if x.ndim else x))
    g = jit(lambda x: x.max())
    for _ in range(3):
        for x in (nm.zeros(0), nm.zeros((0, 3)), nm.array(2.0), nm.ones((3, 0))):
            yield call(f, x), call(g, x)


@program()
def array_protocols(jit):
    def f(x):
        total = 0.0
        for row in x:
            total = total + row.sum()
        return total, len(x), x.shape, x.dtype, x.ndim, list(x[0]), [*x][1]

    g = jit(f)
    for _ in range(4):
        yield call(g, matrix())


@program()
def identity_functions(jit):
    w = array(1.0)
    f = jit(lambda x, y: (x, y, x, w))
    g = jit(lambda x: x)
    h = jit(lambda x: None)
    for _ in range(4):
        x, y = array(1.0), array(2.0)
        yield call(f, x, y), x, y, w, call(f, x, x), call(g, x), call(h, x), call(f, x, w)


@program()
def large_and_shared_results(jit):
    def f(x):
        y = x * 2
        return [y, y, y[1:], {"y": y}], (y,)

    g = jit(f)
    for _ in range(4):
        yield call(g, array(1.0, 2.0))


@program()
def copies_and_casts_share_nothing(jit):
    def f(x):
        return (
            x.copy(),
            x.astype("float64"),
            x.astype("float64", copy=False),
            nm.array(x),
            nm.asarray(x),
            x * 1,
            +x,
        )

    g = jit(f)
    for _ in range(4):
        x = array(1.0, 2.0)
        yield call(g, x), x


@program()
def stacks(jit):
    items = [array(1.0), array(2.0)]

    def f(x):
        return nm.stack([x, *items]), nm.concatenate(items), nm.array([1.0, 2.0]) + x

    g = jit(f)
    for i in range(9):
        if i == 3:
            items[0] = array(9.0)
        if i == 6:
            items.append(array(3.0))
        yield call(g, array(5.0))


@program()
def replaced_array_of_another_kind(jit):
    box = Box(h=array(1.0, 2.0))

    def f(x):
        return box.h * x

    g = jit(f)
    kinds = (
        lambda: nm.ones(2, nm.float32),
        lambda: nm.ones((2, 2)),
        lambda: matrix()[:2, 0],
        lambda: array(1.0, 2.0, requires_grad=True),
        lambda: nm.nn.Parameter(np.ones(2)),
        lambda: nm.array(5.0),
        lambda: array(1.0, 2.0)[0],
        lambda: 3.0,
        lambda: np.ones(2),
        lambda: None,
    )
    for make in kinds:
        for _ in range(3):
            box.h = make()
            yield call(g, array(1.0, 2.0))


@program(compiled=True)
def returned_constants_are_written_by_the_caller(jit):
    f = jit(lambda x: (nm.zeros(2), nm.ones(2), nm.array([1.0, 2.0]), nm.ones(2) * 1))
    for _ in range(6):
        out = call(f, array(1.0))
        yield out
        for a in out:
            a += 5


@program()
def memory_becomes_read_only(jit):
    w = array(1.0, 2.0)

    def f(x):
        w[...] = w + x
        return w.sum()

    g = jit(f)
    for i in range(9):
        w._d.flags.writeable = i // 3 != 1
        yield call(g, array(1.0, 1.0)), w


@program(compiled=True)
def written_arguments_of_every_layout(jit):
    def f(x, y):
        x += y
        x[1:] -= x[:-1]
        return x.sum(), y

    g = jit(f)
    for make in (
        matrix,
        lambda: matrix().T,
        lambda: matrix()[::-1, ::2],
        lambda: matrix()[:, 1:3],
        lambda: matrix()[0:1],
    ):
        for _ in range(4):
            x = make()
            yield call(g, x, nm.ones(x.shape)), x, x.base


@program()
def overlapping_and_broadcast_arguments(jit):
    def f(x, y):
        y[...] = x * 2
        return y, x

    g = jit(f)
    for i in range(12):
        base = array(1.0, 2.0, 3.0, 4.0)
        x, y = (
            (base[:3], base[1:]),
            (base[1:], base[:3]),
            (nm.broadcast_to(base[0:1], (3,)), array(0.0, 0.0, 0.0)),
        )[i % 3]
        yield call(g, x, y), base


@program(compiled=True)
def empty_arrays_are_written(jit):
    def f(x, y):
        x[1:] += 1
        x[...] = x * 2
        y[:0] = x[:0]
        return x, y

    g = jit(f)
    for n in (0, 0, 0, 1, 1, 1, 2, 2, 2):
        yield call(g, nm.zeros(n), nm.ones((n, 2))[:, 0])


@program(compiled=True)
def argument_views_captured_memory(jit):
    base = array(1.0, 2.0, 3.0)

    def f(x):
        return base * 2 + x.sum()

    def h(x):
        base[...] = base + 1
        return x * 2

    g, k = jit(f), jit(h)
    for _ in range(4):
        yield call(g, array(1.0)), call(g, base), call(g, base[1:])
    for _ in range(4):
        yield call(k, array(1.0, 1.0)), base


@program()
def argument_views_written_captured_memory(jit):
    base = array(1.0, 2.0, 3.0)

    def h(x):
        base[...] = base + 1
        return x * 2

    k = jit(h)
    for x in (
        array(1.0, 1.0),
        array(1.0, 1.0),
        array(1.0, 1.0),
        base[1:],
        base[:2],
        array(2.0, 1.0),
        base.detach()[1:],
    ):
        yield call(k, x), base
    m = jit(h)
    for x in (array(1.0, 1.0, 1.0),) * 3 + (base, base.detach(), base[:], base[::-1]):
        yield call(m, x), base


@program(compiled=True)
def lists_of_arrays_of_changing_length(jit):
    f = jit(lambda xs, d: (sum(xs), [x * 2 for x in xs], {k: v + 1 for k, v in d.items()}))
    for i in range(12):
        xs = [array(1.0 * j) for j in range(1 + i % 3)]
        d = {"a": array(1.0), "b": array(2.0)} if i % 2 else {"b": array(2.0), "a": array(1.0)}
        yield call(f, xs, d)


@program(compiled=True)
def transposed_and_reversed_results(jit):
    def f(x):
        y = x.T * 2
        return (
            y,
            y.T,
            y[::-1],
            y.reshape(-1),
            (x + x.T[:3].T if x.shape[0] == x.shape[1] else x),
            x[:, None].T,
        )

    g = jit(f)
    for make in (lambda: nm.array(np.arange(9.0).reshape(3, 3)), matrix, lambda: matrix().T):
        for _ in range(4):
            out = call(g, make())
            yield out, [a.strides for a in out]


@program(compiled=True)
def detached_views_of_memory_written_by_every_call(jit):
    h = array(1.0, 2.0, 3.0)

    def f(x):
        v = h.T
        s = h[0] * x
        d = v.detach()[...]
        d += s
        return v * 1, d

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0)), h
