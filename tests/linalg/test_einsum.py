"""einsum: every form of its labels, values, views, errors and gradients."""

import numpy as np
import pytest
from recorded import check_recorded, uniform
from same_source import compare

import numen as nm

FORMS = [
    ("ij,jk", (2, 3), (3, 4)), ("ij,kj->ik", (2, 3), (4, 3)), ("ba", (2, 3)), ("ii", (3, 3)),
    ("ii->", (3, 3)), ("ii->i", (3, 3)), ("iij->ij", (2, 2, 4)), ("iij->i", (2, 2, 4)),
    ("tiijj->ij", (2, 3, 3, 2, 2)), ("iii->i", (3, 3, 3)), ("iji->j", (2, 3, 2)), ("ij->", (2, 3)),
    ("i,i", (3,), (3,)), ("i,j->ji", (3,), (2,)), ("i,j->", (3,), (2,)), ("i,->i", (3,), ()),
    (",", (), ()), ("ij,j->i", (2, 3), (3,)), ("ij,ij->ij", (2, 3), (2, 3)), ("ij->ij", (2, 3)),
    ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("i...,j...", (2, 4, 5), (3, 5)),
    ("...", (3, 2)), ("...i->...", (2, 3)), ("i...->...i", (2, 3, 4)), ("...,...", (2, 3), (3,)),
    ("bij,bjk->bik", (2, 3, 4), (2, 4, 5)), ("ij,jk,kl->il", (2, 3), (3, 4), (4, 2)),
    ("ij,jk,kl,lm", (2, 3), (3, 4), (4, 2), (2, 5)), ("ij,ik,il->jkl", (3, 2), (3, 3), (3, 4)),
    ("i,i,i->i", (3,), (3,), (3,)), ("ii,jj->ij", (2, 2), (3, 3)), ("i,ij,j", (2,), (2, 3), (3,)),
    ("ij,jk", (2, 0), (0, 3)), ("ii->i", (0, 0)), ("ij,j->ij", (2, 3), (1,)),
    ("i j -> j i", (2, 3)), ("ij,jk->ik", (2, 1), (3, 4)), ("aB,Bc->ac", (2, 3), (3, 4)),
    ("", ()), ("->", ()),
    ("...->...", ()),
]  # fmt: skip


def text_of(labels, shapes, dtype="float64", more=""):
    arrays = [
        f"(np.arange({np.prod(s, dtype=int)}) % 4).astype(np.{dtype}).reshape({s})" for s in shapes
    ]
    return f"r = np.einsum({labels!r}, {', '.join(arrays)}{more})"


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "float32", "float64", "complex64"])
def test_values(dtype):
    for labels, *shapes in FORMS:
        compare(text_of(labels, shapes, dtype))


@pytest.mark.parametrize("optimize", [True, "greedy", "optimal"])
def test_optimized_values(optimize):
    for labels, *shapes in FORMS:
        compare(text_of(labels, shapes, more=f", optimize={optimize!r}"), exact=False)


@pytest.mark.parametrize(("labels", "shapes"), [(f, s) for f, *s in FORMS])
def test_gradients(labels, shapes):
    inputs = {
        name: uniform(*s, seed=i) for i, (name, s) in enumerate(zip("abcd", shapes, strict=False))
    }
    check_recorded(f"np.einsum({labels!r}, {', '.join(inputs)})", step=0.5, **inputs)


def test_the_gradient_of_a_trace_is_the_identity():
    x = nm.array(np.arange(9.0).reshape(3, 3), requires_grad=True)
    nm.einsum("ii->", x).backward()
    assert x.grad.tolist() == np.eye(3).tolist()


def test_repeated_labels_on_known_numbers():
    x = nm.arange(16).reshape(2, 2, 4)
    assert nm.einsum("iij->ij", x).tolist() == [[0, 1, 2, 3], [12, 13, 14, 15]]
    assert nm.einsum("iij->i", x).tolist() == [6, 54]


@pytest.mark.parametrize(
    "text",
    [
        "np.einsum(a, [0, 1])", "np.einsum(a, [1, 0])", "np.einsum(a, [0, 1], [1, 0])",
        "np.einsum(a, [0, 1], b, [1, 2])", "np.einsum(a, [0, 1], b, [1, 2], [0, 2])",
        "np.einsum(a, [Ellipsis, 1], [1, Ellipsis])", "np.einsum(a, [0, 27], b, [27, 51], [51, 0])",
    ],
)  # fmt: skip
def test_lists_of_ints(text):
    values = {"a": uniform(2, 3), "b": uniform(3, 4, seed=1)}
    used = {k: v for k, v in values.items() if f"{k}, [" in text}
    check_recorded(text, step=0.5, **used)
    scope = {k: nm.array(v) for k, v in used.items()}
    found = eval(text, {"np": nm, **scope}).numpy()
    assert np.array_equal(found, eval(text, {"np": np, **used}))


BAD = [
    ("i->ii", (3,)), ("ij->ik", (2, 2)), ("ii", (2, 3)), ("ii->i", (1, 3)), ("i,i", (2,), (3,)),
    ("ij", (3,)), ("i", (2, 3)), ("...i->i", (2, 3)), ("ij,jk", (2, 3)), ("i.j->ij", (2, 3)),
    ("A1", (2, 3)), ("ij->ij->", (2, 3)), ("i,j->i-", (2,), (3,)), ("ij,jk->ik,", (2, 3), (3, 4)),
    ("...i...", (2, 3)), ("i..", (2,)),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "shapes"), [(f, s) for f, *s in BAD])
def test_bad_labels(labels, shapes):
    compare(text_of(labels, shapes))
    with pytest.raises(ValueError):
        np.einsum(labels, *[np.ones(s) for s in shapes])
    with pytest.raises(ValueError):
        nm.einsum(labels, *[nm.ones(s, requires_grad=True) for s in shapes])


@pytest.mark.parametrize("text", ["np.einsum()", "np.einsum('i')", "np.einsum(np.ones(2), [60])"])
def test_bad_calls(text):
    compare(text)


def test_one_operand_gives_a_view():
    x = nm.zeros((3, 3))
    for labels in ("ii->i", "ij->ji", "ij", "...i->i..."):
        view = nm.einsum(labels, x)
        assert view.base is x, labels
        assert view.flags.writeable
    assert nm.einsum("ii->i", x.T).base is x
    nm.einsum("ii->i", x)[:] = 1
    assert x.tolist() == np.eye(3).tolist()
    assert nm.einsum("ij->i", x).base is None
    compare("a = np.arange(16).reshape(4, 4)\nnp.einsum('ii->i', a[::2, ::2])[:] = -1\nr = a")


def test_a_gradient_written_through_the_diagonal():
    x, w = nm.zeros((2, 2)), nm.array([2.0, 3.0], requires_grad=True)
    nm.einsum("ii->i", x)[:] = w
    (x * nm.array([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert w.grad.tolist() == [1, 4]


def test_dtype_out_and_casting():
    ints = "a = np.arange(6, dtype=np.int8).reshape(2, 3) * 40\n"
    compare(ints + "r = np.einsum('ij->i', a)")
    compare(ints + "r = np.einsum('ij->i', a, dtype=np.float32)")
    compare(ints + "r = np.einsum('ij,ij->i', a, a, dtype=np.int64)")
    compare(ints + "r = np.einsum('ij->i', a * 1.5, dtype=np.int64)")
    compare(ints + "r = np.einsum('ij->i', a * 1.5, dtype=np.float32, casting='unsafe')")
    compare("o = np.zeros(2)\nnp.einsum('ij->i', np.ones((2, 3)), out=o)\nr = o")
    compare("r = np.einsum('ij->i', np.ones((2, 3)), out=np.zeros(3))")
    out, x = nm.zeros(2), nm.ones((2, 3), requires_grad=True)
    assert nm.einsum("ij->i", x, out=out) is out
    out.sum().backward()
    assert x.grad.tolist() == np.ones((2, 3)).tolist()


def test_einsum_path():
    for optimize in ("'greedy'", "'optimal'", "True", "False"):
        compare(
            "a, b, c = np.ones((2, 3)), np.ones((3, 4)), np.ones((4, 5))\n"
            f"r = np.einsum_path('ij,jk,kl->il', a, b, c, optimize={optimize})"
        )


def test_a_traced_einsum_equals_the_eager_one():
    def f(a, b):
        return nm.einsum("bij,jk->bk", a, b) + nm.einsum("ii->i", b)[:1]

    a, b = nm.array(uniform(2, 3, 4)), nm.array(uniform(4, 4, seed=1))
    compiled = nm.jit(f)
    for _ in range(3):
        np.testing.assert_allclose(compiled(a, b).numpy(), f(a, b).numpy(), rtol=1e-14)
