"""Broadcasting and strided views against NumPy by the same source text, with gradients."""

import numpy as np
import pytest
from same_layout import LINEAR_SOURCES, SOURCES, check_gradient, compare_layout, expressions
from same_source import compare

import numen as nm
import numen.lib
from numen.errors import GradientError
from numen.lib.stride_tricks import as_strided, sliding_window_view

BROADCAST = expressions("""
np.broadcast_to(x, (2, 3)) | np.broadcast_to(x, (4, 2, 3)) | np.broadcast_to(x, 7)
np.broadcast_to(x, (-1, 3)) | np.broadcast_to(x, ()) | np.broadcast_to(x, [2, 2, 3])
np.broadcast_arrays(x) | np.broadcast_arrays(x, x)
""")
STRIDED = expressions("""
np.lib.stride_tricks.as_strided(x, (2,), (0,)) | np.lib.stride_tricks.as_strided(x, 2)
np.lib.stride_tricks.as_strided(x, (2,), (0,), writeable=False)
np.lib.stride_tricks.sliding_window_view(x, 2, 0)
np.lib.stride_tricks.sliding_window_view(x, (2, 2))
np.lib.stride_tricks.sliding_window_view(x, 2, 1, writeable=True)
np.lib.stride_tricks.sliding_window_view(x, 9, 0)
np.lib.stride_tricks.sliding_window_view(x, -1, 0)
np.lib.stride_tricks.sliding_window_view(x, (1, 1), 0)
""")


@pytest.mark.parametrize("name", [n for n in SOURCES if n != "scalar"])
def test_values_errors_and_memory_are_numpys(name):
    for text in BROADCAST + STRIDED:
        if name == "empty" and "as_strided" in text:
            continue  # reads memory that nobody owns
        compare_layout(text, name)


@pytest.mark.parametrize("name", LINEAR_SOURCES)
def test_gradients(name):
    checked = sum(
        check_gradient(text, name, number) for number, text in enumerate(BROADCAST + STRIDED)
    )
    assert checked >= 3


@pytest.mark.parametrize(
    "text",
    [
        "np.broadcast_shapes((2, 1), (3,), 4)",
        "np.broadcast_shapes((2, 1), (3,), (1, 1, 1))",
        "np.broadcast_shapes((2,), (3,))",
        "np.broadcast_shapes()",
        "[a.tolist() for a in np.broadcast_arrays(np.ones((2, 1)), [1, 2, 3])]",
        "[a.shape for a in np.broadcast_arrays(1, np.ones((2, 0)))]",
        "np.broadcast_arrays(np.ones(2), np.ones(3))",
        "np.broadcast(np.ones((2, 1)), np.ones(3)).shape",
        "isinstance(np.broadcast(np.ones(2)), np.broadcast)",
        "[tuple(map(int, p)) for p in np.broadcast(np.array([1, 2]), np.array([[3], [4]]))]",
        "np.broadcast(np.ones(2), np.ones(3))",
    ],
)
def test_forms(text):
    compare(text)


def test_a_broadcast_view_is_read_only_and_sums_its_gradient():
    x = nm.array([1.0, 2.0], requires_grad=True)
    wide, other = nm.broadcast_arrays(x, nm.ones((3, 1)))
    with pytest.raises(ValueError, match="read-only"):
        wide[0, 0] = 1.0
    (wide * other).sum().backward()
    assert x.grad.tolist() == [3, 3]


def test_windows_overlap_in_the_gradient():
    x = nm.arange(5.0).requires_grad_()
    windows = sliding_window_view(x, 3)
    assert windows.base is x
    assert windows.tolist() == [[0, 1, 2], [1, 2, 3], [2, 3, 4]]
    (windows * windows).sum().backward()
    assert x.grad.tolist() == [0, 4, 12, 12, 8]
    with pytest.raises(ValueError, match="read-only"):
        windows[0, 0] = 1.0


def test_second_order_of_windows():
    x = nm.arange(4.0).requires_grad_()
    (sliding_window_view(x, 2) ** 3).sum().backward(create_graph=True)
    first, x.grad = x.grad, None
    first.sum().backward()
    assert x.grad.tolist() == [0, 12, 24, 18]


def test_writes_through_strides():
    x = nm.arange(6.0).reshape(2, 3).requires_grad_()
    y = x * 1.0
    diagonal = as_strided(y, (2,), (32,))
    y[0, 0] = x[1, 2] * 2.0
    assert diagonal.tolist() == [10, 4]
    diagonal *= 3.0
    assert y.tolist() == [[30, 1, 2], [3, 12, 5]]
    y.sum().backward()
    assert x.grad.tolist() == [[0, 1, 1], [1, 3, 7]]


def test_strides_follow_the_elements_of_an_array_laid_out_otherwise():
    x = nm.arange(12.0).reshape(3, 4).requires_grad_()
    part = nm.asfortranarray(x * 1.0)[1:, ::2]  # strides (8, 48)
    turned = as_strided(part, (2, 2), (48, 8))
    assert turned.tolist() == part.detach().T.tolist()
    (turned * nm.array([[1.0, 2.0], [3.0, 4.0]])).sum().backward()
    assert x.grad.tolist() == [[0, 0, 0, 0], [1, 0, 3, 0], [2, 0, 4, 0]]


def test_strides_that_leave_the_array():
    x = nm.arange(6.0)
    part = x[::2]
    assert as_strided(part, (6,), (8,)).tolist() == [0, 1, 2, 3, 4, 5]
    x.requires_grad_()
    with pytest.raises(GradientError, match="no element"):
        as_strided(x[::2], (6,), (8,))
    with pytest.raises(ValueError, match="mismatch"):
        as_strided(x, (2,), (8, 8))


def test_jit_reads_windows():
    def f(x):
        return (sliding_window_view(x, 2, 1) * 2.0).sum(-1)

    compiled, slope = nm.jit(f), nm.jit(nm.grad(lambda x: (f(x) ** 2).sum()))
    for k in range(3):
        x = nm.arange(12.0).reshape(3, 4) + k
        np.testing.assert_array_equal(compiled(x).numpy(), f(x).numpy())
        expected = nm.grad(lambda x: (f(x) ** 2).sum())(x)
        np.testing.assert_allclose(slope(x).numpy(), expected.numpy(), rtol=1e-12)


def test_lib_has_numpys_names():
    assert numen.lib.NumpyVersion is np.lib.NumpyVersion
    assert numen.lib.introspect is np.lib.introspect
    assert numen.lib.mixins.NDArrayOperatorsMixin is np.lib.mixins.NDArrayOperatorsMixin
    assert numen.lib.add_docstring is np.lib.add_docstring
    assert numen.lib.stride_tricks.as_strided is as_strided
    assert {"format", "stride_tricks"} <= set(dir(numen.lib))
    with pytest.raises(AttributeError, match=r"numen\.lib"):
        numen.lib.no_such_name
