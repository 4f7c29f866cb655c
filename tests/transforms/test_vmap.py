"""vmap: axes, containers, nesting, writes, random draws, errors, threads, jit."""

import copy
import gc
import itertools
import threading

import numpy as np
import pytest

import numen as nm
from numen.dispatch import backends, modes
from numen.errors import GradientError, ShapeError, TransformError

X = np.arange(24.0).reshape(2, 3, 4)


def same(found, expected):
    np.testing.assert_allclose(found.detach().numpy(), np.asarray(expected), 1e-12)


def test_axes():
    a, b = nm.array(X), nm.array(np.moveaxis(X, (0, 1, 2), (2, 1, 0)).copy())
    same(nm.vmap(nm.matmul, (0, 2))(a, b), np.einsum("nij,njk->nik", X, X.transpose(0, 2, 1)))
    m = nm.array(X[0])
    same(nm.vmap(lambda v: v.sum())(m), X[0].sum(1))
    same(nm.vmap(lambda v: v.sum(), 1)(m), X[0].sum(0))
    same(nm.vmap(lambda v: v.sum(), -1)(m), X[0].sum(0))
    same(nm.vmap(lambda v, w: v * w, (0, None))(m, m[0]), X[0] * X[0, 0])
    same(nm.vmap(lambda v, w: v * w, (None, 1))(m[:, 0], m), X[0].T * X[0, :, 0])
    same(nm.vmap(lambda v: v * 2, out_axes=1)(m), X[0].T * 2)
    same(nm.vmap(lambda v: v * 2, 1, -1)(m), X[0] * 2)
    same(nm.vmap(lambda v: nm.ones(2))(m), np.ones((3, 2)))
    same(nm.vmap(lambda v: nm.ones(2), out_axes=None)(m), np.ones(2))
    same(nm.vmap(lambda v: 3.0)(m), np.full(3, 3.0))
    assert nm.vmap(lambda v: v.shape[0] * v.ndim)(m).tolist() == [4, 4, 4]
    same(nm.vmap(lambda k: k * 2, axis_size=3)(k=m), X[0] * 2)
    same(nm.vmap(lambda v, k: v + k, (0,))(m, k=m), X[0] * 2)


def test_containers():
    tree = {"w": nm.array(X), "b": [nm.array(X[:, 0]), nm.arange(2.0)]}

    def f(p, scale):
        return {"out": p["w"] @ p["b"][0] + p["b"][1] * scale, "more": (p["b"][1], None)}

    found = nm.vmap(f, (0, None))(tree, 2.0)
    same(found["out"], np.einsum("nij,nj->ni", X, X[:, 0]) + np.arange(2.0)[:, None] * 2)
    assert found["more"][1] is None
    found = nm.vmap(f, ({"w": 0, "b": [0, None]}, None))({**tree, "b": [tree["b"][0], 1.0]}, 1.0)
    same(found["out"], np.einsum("nij,nj->ni", X, X[:, 0]) + 1)
    out, both = nm.vmap(lambda v: (v, (v, v)), out_axes=(0, (1, 2)))(nm.array(X))
    assert (out.shape, both[0].shape, both[1].shape) == ((2, 3, 4), (3, 2, 4), (3, 4, 2))


def test_nesting():
    a, b = nm.arange(3.0), nm.arange(4.0)
    outer = nm.vmap(nm.vmap(lambda x, y: x * y + 1, (None, 0)), (0, None))
    same(outer(a, b), np.outer(np.arange(3.0), np.arange(4.0)) + 1)
    three = nm.vmap(nm.vmap(nm.vmap(lambda x: x**2)))(nm.array(X))
    same(three, X**2)

    def pairwise(xs, ys):
        return nm.vmap(lambda x: nm.vmap(lambda y: nm.sqrt(((x - y) ** 2).sum()))(ys))(xs)

    points = np.random.default_rng(0).normal(size=(4, 3))
    expected = np.linalg.norm(points[:, None] - points[None], axis=-1)
    same(pairwise(nm.array(points), nm.array(points)), expected)
    # the outer variable is seen inside, unbatched there
    found = nm.vmap(lambda x: nm.vmap(lambda y: x[1] * y)(x))(nm.array(X[0]))
    same(found, X[0, :, 1:2] * X[0])


def test_values_of_unbatched_arrays_may_steer():
    def f(x, n):
        for _ in range(int(n)):
            x = x * 2
        return x if n > 1 else -x

    same(nm.vmap(f, (0, None))(nm.arange(3.0), nm.array(2)), [0, 4, 8])
    with pytest.raises(TransformError, match=r"bool\(\).*2 examples.*where"):
        nm.vmap(lambda x: x if x > 0 else -x)(nm.arange(2.0))
    for ask in (float, int, bool, lambda x: x.item(), lambda x: x.tolist(), lambda x: x.numpy()):
        with pytest.raises(TransformError, match="vmap"):
            nm.vmap(lambda x, ask=ask: ask(x))(nm.arange(2.0))


def test_writes():
    def f(x):
        y = nm.zeros(4)
        y[1] = x.sum()
        y[2:] += x[:2]
        view = y[::-1]
        view *= 2
        grid = y.reshape(2, 2)
        grid[0, 0] = x[0]
        total = nm.ones(())
        total += x[1]
        part = x[1:]
        part *= 0  # the example's own memory
        return y, total, grid, view, x

    x = nm.array(X[0])
    results = nm.vmap(f)(x)
    rows = [f(nm.array(row)) for row in X[0]]
    for i, found in enumerate(results):
        same(found, np.stack([row[i].numpy() for row in rows]))
    assert x[:, 1:].tolist() == [[0, 0, 0]] * 3  # as a loop over x would leave it


def test_writes_through_rows_of_outer_memory():
    table = nm.zeros((3, 4))

    def f(x):
        table[0] = 1.0  # the same for all examples: allowed
        return table[0] * x

    same(nm.vmap(f)(nm.array(X[0])), X[0])
    assert table[0].tolist() == [1] * 4

    def g(x):
        table[1] = x
        return x

    with pytest.raises(TransformError, match=r"setitem.*from\s+outside"):
        nm.vmap(g)(nm.array(X[0]))
    assert table[1].tolist() == [0] * 4
    with pytest.raises(TransformError, match="outside"):
        nm.vmap(lambda x: nm.add(x, 1, out=table[1]))(nm.array(X[0]))


def test_writes_in_nested_transforms():
    def inner(x, y):
        out = nm.zeros(2)
        out[0] = x
        out[1] = x * y
        return out

    def outer(x, ys):
        rows = nm.zeros((3, 2))
        rows[:] = nm.vmap(inner, (None, 0))(x, ys)
        rows[1] *= x
        return rows

    xs, ys = np.arange(1.0, 3.0), np.arange(3.0)
    expected = np.zeros((2, 3, 2))
    expected[:, :, 0] = xs[:, None]
    expected[:, :, 1] = np.outer(xs, ys)
    expected[:, 1] *= xs[:, None]
    same(nm.vmap(outer, (0, None))(nm.array(xs), nm.array(ys)), expected)


def test_gradients_inside_and_outside():
    w = nm.array([1.0, 2.0, 3.0, 4.0], requires_grad=True)

    def loss(x):
        return (nm.tanh(x * w)).sum()

    total = nm.vmap(loss)(nm.array(X[0] / 10)).sum()
    total.backward()
    expected = (X[0] / 10 * (1 - np.tanh(X[0] / 10 * w.detach().numpy()) ** 2)).sum(0)
    np.testing.assert_allclose(w.grad.numpy(), expected)

    def f(w, x):
        y = x * w
        y[0] *= y[1]  # rules meet values that were written
        return (y**2).sum()

    ws = nm.array([0.5, 1.5, -1.0, 2.0])
    per_example = nm.vmap(nm.grad(f), (None, 0))(ws, nm.array(X[0]))
    same(per_example, np.stack([nm.grad(f)(ws, nm.array(row)).numpy() for row in X[0]]))
    same(
        nm.grad(lambda w: nm.vmap(f, (None, 0))(w, nm.array(X[0])).sum())(ws),
        per_example.numpy().sum(0),
    )
    second = nm.vmap(nm.grad(lambda x: nm.grad(lambda y: y**4)(x) * x))(nm.array([1.0, 2.0]))
    same(second, [16, 128])


def test_gradient_of_a_captured_leaf_is_not_lost_or_doubled():
    w = nm.array(2.0, requires_grad=True)
    g = nm.vmap(nm.grad(lambda x: w * x * x))(nm.arange(3.0))
    same(g, [0, 4, 8])
    g.sum().backward()
    assert w.grad.item() == 6


def test_random_draws():
    x = nm.ones((3, 1000))
    dropout = nm.nn.functional.dropout
    nm.manual_seed(3)
    different = nm.vmap(dropout)(x).numpy()
    assert (different[0] != different[1]).any()
    assert 0.4 < (different == 0).mean() < 0.6
    nm.manual_seed(3)
    np.testing.assert_array_equal(dropout(x).numpy(), different)  # the same stream
    shared = nm.vmap(dropout, randomness="same")(x).numpy()
    np.testing.assert_array_equal(shared[0], shared[1])
    with pytest.raises(TransformError, match="random"):
        nm.vmap(dropout, randomness="error")(x)
    nested = nm.vmap(nm.vmap(dropout), randomness="same")(nm.ones((2, 3, 100))).numpy()
    np.testing.assert_array_equal(nested[0], nested[1])
    assert (nested[0, 0] != nested[0, 1]).any()
    ours, theirs = nm.random.default_rng(0), np.random.default_rng(0)
    found = nm.vmap(lambda x: x[0] * ours.normal(size=2))(x)
    same(found, [theirs.normal(size=2) for _ in range(3)])
    fresh = nm.vmap(lambda x: x[0] * nm.random.default_rng(5).random(2))(x)
    same(fresh, [np.random.default_rng(5).random(2)] * 3)
    step = nm.jit(nm.vmap(dropout))
    draws = [step(x).numpy() for _ in range(4)]
    assert all((a != b).any() for a, b in itertools.pairwise(draws))


def test_chunks():
    x = nm.array(X.reshape(6, 4))
    f = lambda v: (v.cumsum(), v.max())  # noqa: E731
    whole, parts = nm.vmap(f, out_axes=(1, 0))(x), nm.vmap(f, out_axes=(1, 0), chunk_size=4)(x)
    for a, b in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_sizes_zero_and_one():
    assert nm.vmap(lambda v: (v * 2).sum())(nm.zeros((0, 3))).shape == (0,)
    same(nm.vmap(lambda v: nm.sort(v)[::-1])(nm.array([[3.0, 1.0]])), [[3, 1]])


def test_errors_are_those_of_one_example():
    v, m = nm.ones(3), nm.ones((3, 2))
    with pytest.raises(ValueError, match="matmul"):
        nm.vmap(lambda a, b: a @ b)(v, m)  # a batch axis is no vector's axis
    with pytest.raises(ValueError, match="vecdot"):
        nm.vmap(nm.vecdot)(v, v)
    with pytest.raises(ValueError, match="setitem"):
        nm.vmap(lambda a: a.__setitem__(slice(0, 2), nm.ones((2, 1))))(m)
    with pytest.raises(IndexError):
        nm.vmap(lambda a: a[2])(m)
    with pytest.raises(np.exceptions.AxisError):
        nm.vmap(lambda a: a.sum(axis=1))(m)
    with pytest.raises(ValueError, match="shape"):
        nm.vmap(lambda a: a.reshape(3))(m)
    with pytest.raises(ValueError, match="broadcast"):
        nm.vmap(lambda a: a + nm.ones(3))(m)
    with pytest.raises(TypeError, match="len"):
        nm.vmap(len)(v)


def test_functions_without_rows_run_example_by_example():
    x = nm.array(X[0] % 5)
    same(
        nm.vmap(lambda v: nm.bincount(v.astype(int), minlength=6))(x),
        [np.bincount(r.astype(int), minlength=6) for r in X[0] % 5],
    )
    with pytest.raises(TransformError, match="shape of"):
        nm.vmap(nm.unique)(nm.array([[1.0, 1.0], [1.0, 2.0]]))


def test_bad_arguments():
    x = nm.ones((2, 3))
    with pytest.raises(ValueError, match="in_axes has 1 entries for 2"):
        nm.vmap(nm.add, (0,))(x, x)
    with pytest.raises(ValueError, match="axis 2 of in_axes is out of bounds"):
        nm.vmap(nm.sin, 2)(x)
    with pytest.raises(ShapeError, match=r"different numbers of examples: \[2, 3\]"):
        nm.vmap(nm.add, (0, 1))(x, x)
    with pytest.raises(ValueError, match="no argument has examples"):
        nm.vmap(nm.sin, None)(x)
    with pytest.raises(ValueError, match="out_axes is None"):
        nm.vmap(nm.sin, out_axes=None)(x)
    with pytest.raises(ValueError, match="axis 3 of out_axes"):
        nm.vmap(nm.sin, out_axes=3)(x)
    with pytest.raises(ValueError, match="does not fit"):
        nm.vmap(lambda d: d["a"], ({"b": 0},))({"a": x})
    with pytest.raises(ValueError, match="randomness"):
        nm.vmap(nm.sin, randomness="maybe")
    with pytest.raises(ValueError, match="chunk_size"):
        nm.vmap(nm.sin, chunk_size=0)
    with pytest.raises(TransformError, match="must return arrays"):
        nm.vmap(lambda v: "text")(x)
    with pytest.raises(ValueError, match="axis"):
        nm.vmap(nm.sin)(nm.array(1.0))


def test_values_that_leave():
    kept = []
    nm.vmap(lambda v: kept.append(v) or v)(nm.ones((2, 3)))
    with pytest.raises(TransformError, match="left its vmap"):
        kept[0] + 1
    assert "vmap" in repr(kept[0])


def test_an_error_inside_leaves_no_transform_running():
    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            nm.vmap(lambda v: 1 / 0)(nm.ones(2))
    assert modes.state.level == 0
    assert not backends.in_use()
    x = nm.ones(2)
    assert type((x + x)._d) is np.ndarray


def test_copies_and_repr_inside():
    seen = []

    def f(v):
        seen.append((repr(v), str(v), f"{v.shape}"))
        return copy.deepcopy(v) + copy.copy(v)

    same(nm.vmap(f)(nm.array(X[0])), X[0] * 2)
    assert "vmap" in seen[0][0]
    assert "3 examples" in seen[0][0]


def test_jit():
    def f(w, x):
        h = nm.tanh(x @ w)
        h[0] *= 2
        return (h**2).sum()

    rng = np.random.default_rng(0)
    w, xs = nm.array(rng.normal(size=(4, 3))), nm.array(rng.normal(size=(5, 4)))
    plain = nm.vmap(nm.grad(f), (None, 0))
    fast = nm.jit(plain)
    for _ in range(3):
        found = fast(w, xs)
    np.testing.assert_allclose(found.numpy(), plain(w, xs).numpy(), 1e-13)
    assert "1 compiled, 0 eager" in str(nm.explain(fast))
    inner = nm.vmap(nm.jit(f), (None, 0))
    np.testing.assert_allclose(inner(w, xs).numpy(), nm.vmap(f, (None, 0))(w, xs).numpy(), 1e-13)


def test_sixteen_threads():
    xs = nm.array(np.random.default_rng(0).normal(size=(4, 3)))
    f = nm.vmap(nm.grad(lambda x: (nm.sin(x) * x).sum()))
    expected = f(xs).numpy()
    bad = []

    def work(i):
        for k in range(30):
            if i % 4 == 3:
                y = nm.ones(3) + k  # plain ops of other threads
                ok = (y + y).tolist() == [2.0 + 2 * k] * 3
            else:
                ok = (f(xs).numpy() == expected).all()
            if not ok:
                bad.append((i, k))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not bad
    assert not backends.in_use()


def test_memory_is_let_go():
    f = nm.vmap(nm.grad(lambda x: (x**3).sum()))
    f(nm.ones((2, 3)))
    gc.collect()
    before = len(gc.get_objects())
    for _ in range(20):
        f(nm.ones((2, 3)))
    gc.collect()
    assert len(gc.get_objects()) < before + 200


def test_a_write_below_the_transform_is_seen_by_the_backward_pass():
    for outer in (nm.vmap, lambda f: lambda x: nm.jvp(f, (x,), (nm.ones_like(x),))[1]):
        held = nm.ones((2, 3))

        def f(v, held=held):
            y = v * v
            held[0] = 9.0  # the very memory of v
            return y.sum()

        with pytest.raises(GradientError, match=r"multiply saved .* written in place"):
            outer(nm.grad(f))(held)


def test_axes_errors_and_masks_inside():
    m = nm.ones((3, 2, 2))
    with pytest.raises(np.exceptions.AxisError):
        nm.vmap(lambda a: nm.swapaxes(a, 0, 2))(m)
    with pytest.raises(ValueError, match="axes"):
        nm.vmap(lambda a: nm.transpose(a, (0, 1, 2)))(m)
    with pytest.raises(TransformError, match="the count of a boolean mask"):
        nm.vmap(lambda a: a[a > 0])(m)
    mask = nm.array([True, False])  # the same for all examples
    assert nm.vmap(lambda a: a[mask])(m).shape == (3, 1, 2)


def test_numbers_out_of_range_are_as_in_one_example():
    bytes_ = nm.array(np.array([[1, 2], [3, 4]], np.uint8))

    def added(a):
        nm.add.at(a, [0], -1)
        return a

    expected = bytes_.numpy().copy()
    for row in expected:
        np.add.at(row, [0], -1)
    same(nm.vmap(added)(bytes_.copy()), expected)
    with pytest.raises(OverflowError, match="out of bounds"):
        nm.vmap(lambda a: nm.copyto(a, -1, where=a > 0, casting="unsafe"))(bytes_.copy())
