"""ufuncs called every way NumPy allows: values, dtypes, outputs, masks, loops and errors."""

import copy
import doctest
import inspect
import pickle

import numpy as np
import pytest
from same_source import compare

import numen as nm

NAMES = sorted(
    name
    for name in dir(np)
    if isinstance(getattr(np, name), np.ufunc) and getattr(np, name).signature is None
)
VALUES = {
    "?": "[True, False, True]",
    "i1": "[1, -2, 100]",
    "u8": "[1, 2, 3]",
    "i8": "[7, -1, 2]",
    "e": "[.5, -1.5, 2]",
    "f": "[.5, -0.0, np.nan]",
    "d": "[.5, -1.5, np.inf]",
    "D": "[1+2j, -1j, 0]",
}
ODD_OPERANDS = ["2", "-1", "0.5", "True", "1j", "300", "np.float32(2)", "[1, 2, 3]", "'a'"]


def array(dtype):
    return f"np.array({VALUES[dtype]}, '{dtype}')"


@pytest.mark.parametrize("name", NAMES)
def test_values_dtypes_and_errors(name):
    ufunc = getattr(np, name)
    if ufunc.nin == 1:
        operands = [array(t) for t in VALUES] + ODD_OPERANDS
    else:
        pairs = [(array(s), array(t)) for s in VALUES for t in ("?", "u8", "f")]
        pairs += [p for t in ("i1", "f", "D") for k in ODD_OPERANDS for p in ((array(t), k),)]
        pairs += [(k, array(t)) for t in ("u8", "e") for k in ODD_OPERANDS]
        pairs += [("1", "2"), ("np.ones(3)", "np.ones(2)"), ("np.ones((2, 1))", "np.ones(3)")]
        operands = [f"{a}, {b}" for a, b in pairs]
    for text in operands:
        compare(f"np.{name}({text})")
    plain = ", ".join([array("d")] * ufunc.nin)
    for options in ("dtype='f'", "casting='no'", "foo=1", "axis=0", "sig='l->l'", "where=1"):
        compare(f"np.{name}({plain}, {options})")
    compare(f"np.{name}()")
    compare(f"np.{name}(1, 2, 3, 4, 5)")


def test_the_names_and_aliases_of_numpy():
    for name in NAMES + ["matmul", "vecdot"]:
        ours = getattr(nm, name)
        assert isinstance(ours, nm.ufunc)
        assert ours is getattr(nm, getattr(np, name).__name__)
        assert nm.ufunc.of(getattr(np, name)) is ours


SETUP = """x = np.arange(6.).reshape(2, 3) + 1
y = np.array([1., 2., 4.])
i = np.arange(6).reshape(2, 3)
m = np.array([True, False, True])
o = np.zeros((2, 3))
oi = np.zeros((2, 3), int)
"""

OUTPUTS = """np.add(x, y, out=o)
np.add(x, y, o)
np.add(x, y, (o,))
np.add(x, y, out=(o,))
np.add(x, y, out=o) is o
np.add(x, y, out=x) is x
np.add(x, y, out=oi)
np.add(x, i, out=oi, casting='unsafe')
np.add(i, i, out=o)
np.add(x, y, out=y)
np.add(x, y, out=(o, o))
np.add(x, y, o, out=o)
np.add(x, y, None)
np.add(x, y, out=5)
np.add(x, y, out=[1, 2])
np.add(y, y, out=o)
np.add(1, 2, out=np.array(0))
np.add(x, y, out=np.broadcast_to(0., (2, 3)))
np.add(x[:, :2], x[:, 1:], out=x[:, 1:])
np.multiply(x[::-1], 2, out=x)
np.add(x, y, out=o, where=m)
np.add(x, y, o, where=m)
np.add(x, y, where=m)[:, m]
np.add(x, y, where=m[:2])
np.add(x, y, where=[True, False, True], out=o)
np.add(x, y, where=1)
np.sqrt(x, out=o, where=x > 2)
np.add(1, 2, where=False, out=None).shape
np.divmod(x, y)
np.divmod(x, y, out=(o, None))
np.divmod(x, y, o)
np.divmod(x, y, o, np.ones((2, 3)))
np.divmod(x, y, out=(None, o))[1] is o
np.divmod(x, y, out=None)
np.divmod(x, y, where=m)[0][:, m]
np.modf(x / 4, out=(o, o.copy()))
np.modf(x, out=o)
np.frexp(x)
np.frexp(x, out=(o, oi))""".splitlines()

LOOPS = """np.add(x, y, dtype='f')
np.add(x, y, dtype=int)
np.add(i, 2, dtype='i1')
np.add(i, i, dtype='i1', casting='unsafe')
np.add(i, i, dtype='i1', casting='same_kind')
np.add(x, y, signature='ff->f')
np.add(x, y, signature=('f', 'f', 'f'), casting='same_kind')
np.add(x, y, sig='ii->i')
np.add(x, y, dtype='O')
np.add(x, y, order='F').flags.f_contiguous
np.add(x, y, order='Z')
np.add(x, y, casting='foo')
np.add(x, y, keepdims=True)
np.add(x, y, subok=False)
np.add.resolve_dtypes((np.dtype('f4'), int, None))""".splitlines()

PRODUCTS = """np.matmul(x, x.T)
np.matmul(x, y)
np.matmul(y, y)
np.matmul(x, x)
np.matmul(x, 2)
np.matmul(i, x.T)
np.matmul(x, x.T, out=np.zeros((2, 2)))
np.matmul(x, x, axes=[(0, 1), (1, 0), (0, 1)])
np.matmul(x, x.T, dtype='f')
np.matmul(x, x.T, axis=0)
np.matmul(x, x.T, where=True)
np.vecdot(x, y)
np.vecdot(x, x, axis=0)
np.vecdot(x, x, axis=0, keepdims=True)
np.vecdot(y, y)
np.vecdot(x, x, axes=[0, 0])
np.vecdot(y * 1j, y)
np.matvec(x, y)
np.matvec(x, x)
np.vecmat(y * 1j, x.T)
np.matvec(np.ones((4, 2, 3)), np.ones((4, 3)), axes=[(1, 2), 1, 0])""".splitlines()

OTHER_KINDS = """np.add(np.array(['a', 'b'], object), 'c')
np.add(np.array(['a', 'b']), np.array(['c', 'd']))
np.add(np.array(['2020-01-01'], 'M8[D]'), np.array([1, 2]))
np.isnat(np.array(['NaT'], 'M8[s]'))
np.subtract(np.array(['2020-01-03'], 'M8[D]'), np.array(['2020-01-01'], 'M8[D]'))
np.add(np.array(1, object), 2)
np.add({}, 1)
np.sqrt(object())
np.add(np.zeros(2, 'i,i'), 1)""".splitlines()


@pytest.mark.parametrize("text", OUTPUTS + LOOPS + PRODUCTS + OTHER_KINDS)
def test_forms_of_a_call(text):
    if not hasattr(np, "matvec") and ("matvec" in text or "vecmat" in text):
        pytest.skip("this NumPy has neither matvec nor vecmat")
    compare(SETUP + f"r = {text}")


def test_skipped_elements_are_zero():
    x = nm.array([1.0, 4.0, -1.0])
    assert nm.sqrt(x, where=x > 0).tolist() == [1, 2, 0]
    quotient, rest = nm.divmod(x, 2, where=x > 1)
    assert quotient.tolist() == [0, 2, 0]
    assert rest.tolist() == [0, 0, 0]
    assert repr(nm.add(1, 2, where=False)) == "np.int64(0)"


def test_an_ndarray_as_output_shares_its_memory():
    target = np.zeros(3)
    x = nm.arange(3.0)
    assert nm.add(x, 1, out=target) is target
    assert target.tolist() == [1, 2, 3]
    x.requires_grad_()
    with pytest.raises(nm.GradientError, match="add: an ndarray as output would lose"):
        nm.add(x, 1, out=target)
    with nm.no_grad():
        nm.add(x, 5, out=target)
    assert target.tolist() == [5, 6, 7]


def test_numpy_s_ufuncs_on_arrays_and_ndarrays():
    x = nm.arange(3.0, requires_grad=True)
    y = np.multiply(np.array([1.0, 2.0, 3.0]), x)
    assert isinstance(y, nm.Array)
    np.multiply.outer(y, y).sum().backward()
    assert x.grad.tolist() == [16, 32, 48]


def test_attributes():
    assert repr(nm.add) == "<ufunc 'add'>"
    for name in ("add", "sin", "divmod", "matmul", "true_divide"):
        ours, theirs = getattr(nm, name), getattr(np, name)
        for field in ("nin", "nout", "nargs", "types", "ntypes", "identity", "signature"):
            assert getattr(ours, field) == getattr(theirs, field)
        assert ours.__name__ == theirs.__name__ == ours.__qualname__
    assert (nm.relu.nin, nm.relu.nout, nm.relu.nargs, nm.relu.signature) == (1, 1, 2, None)
    assert "d->d" in nm.relu.types
    assert len({nm.add: 1, nm.subtract: 2, nm.add: 3}) == 2


def test_copies_and_pickles_are_the_object_itself():
    for ufunc in (nm.add, nm.relu, nm.matmul, nm.pow):
        assert pickle.loads(pickle.dumps(ufunc)) is ufunc
        assert copy.copy(ufunc) is copy.deepcopy(ufunc) is ufunc
    with pytest.raises(pickle.PicklingError):
        pickle.dumps(nm.frompyfunc(abs, 1, 1))


def test_a_signature_for_documentation():
    if hasattr(np.add, "__signature__"):
        assert list(inspect.signature(nm.add).parameters)[:3] == ["x1", "x2", "out"]


def test_the_examples_in_docstrings():
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
    ran = 0
    for name in [*NAMES, "matmul", "vecdot", "relu"]:
        text = getattr(nm, name).__doc__
        assert "Parameters" in text
        test = parser.get_doctest(text, {}, name, None, 0)
        ran += len(test.examples)
        runner.run(test)
    assert ran > 20
    assert not runner.failures


def test_relu():
    assert nm.relu(np.array([-1.0, 2.0])).tolist() == [0, 2]
    assert nm.relu([-1, 2], out=nm.zeros(2)).tolist() == [0, 2]
    assert nm.relu(nm.array([-1.0, 2.0]), dtype="f4").dtype == np.float32
    with pytest.raises(TypeError):
        nm.relu(nm.array(["a"]))
    with pytest.raises(ValueError, match="reduce only supported for binary functions"):
        nm.relu.reduce([1, 2])


@pytest.mark.parametrize(
    "text",
    [
        "np.frompyfunc(lambda a, b: a + b, 2, 1)(x, 1)",
        "np.frompyfunc(lambda a: (a, -a), 1, 2)(y)",
        "np.frompyfunc(lambda a, b: a + b, 2, 1).reduce([1, 2, 3])",
        "np.frompyfunc(lambda a, b: a * b, 2, 1, identity=1).reduce(np.array([], object))",
        "np.frompyfunc(oct, 1, 1)(8)",
        "np.frompyfunc(lambda a, b: a + b, 2, 1).outer(y, y)",
        "np.frompyfunc(1, 1, 1)",
    ],
)
def test_frompyfunc(text):
    compare(SETUP + f"r = {text}")


# ------------------------------------------------------------ gradients


def test_outputs_and_masks_carry_gradients():
    x = nm.array([[1.0, -2.0], [3.0, 4.0]], requires_grad=True)
    z = x * 1
    nm.multiply(z, x, out=z)  # x^2
    nm.add(z, x, out=z, where=x.detach() > 0)  # + x where positive
    z.sum().backward()
    assert x.grad.tolist() == [[3, -4], [7, 9]]


def test_a_cast_carries_the_gradient():
    x = nm.array([1.0, 2.0], requires_grad=True)
    y = nm.multiply(x, x, dtype="f4", casting="same_kind")
    assert y.dtype == np.float32
    y.sum().backward()
    assert x.grad.tolist() == [2, 4]
    with pytest.raises(TypeError):
        nm.multiply(x, x, dtype=int)


def test_outputs_of_two_results():
    x = nm.array([1.25, -2.5], requires_grad=True)
    whole, rest = nm.zeros(2), nm.zeros(2)
    result = nm.divmod(x, 2.0, out=(whole, rest))
    assert result[0] is whole
    assert result[1] is rest
    (rest * 3 + whole).sum().backward()
    assert x.grad.tolist() == [3, 3]
    fraction, integer = nm.modf(x)
    (fraction * 2 + integer).sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_products_with_axes_carry_gradients():
    rng = np.random.default_rng(0)
    a, w = rng.normal(size=(2, 3, 4)), rng.normal(size=(4, 4))
    x = nm.array(a, requires_grad=True)
    y = nm.matmul(x, x, axes=[(0, 2), (2, 0), (0, 1)])
    np.testing.assert_allclose(y.detach().numpy(), np.matmul(a, a, axes=[(0, 2), (2, 0), (0, 1)]))
    z = nm.vecdot(x, x * 2, axis=1, keepdims=True)
    assert z.shape == (2, 1, 4)
    z.sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), 4 * a)
    x.grad = None
    nm.vecmat(nm.matvec(w, x), w).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.broadcast_to(w.T @ w.sum(1), a.shape))


def test_calls_compile():
    def f(a, b):
        quotient, rest = nm.divmod(a, b)
        return nm.hypot(quotient, rest, where=a > 0).sum() + nm.add(a, b, dtype="f4").sum()

    a, b = nm.array([5.0, -7.0, 9.0]), nm.array([2.0, 2.0, 4.0])
    compiled = nm.jit(f)
    for _ in range(3):
        assert compiled(a, b).item() == f(a, b).item()
