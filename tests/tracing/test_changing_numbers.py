"""Python numbers that change between calls, and other forms, mean in a replay what they mean
eagerly."""

import operator

import numpy as np
import pytest

import numen as nm

NUMBERS = (1, 1, 2, 3, 1, -1, 300, -129, 1 << 31, 1 << 40, 1 << 63, 1 << 64, -(1 << 64), 2)
DTYPES = ("int8", "uint8", "int32", "uint32", "int64", "uint64", "bool", "float32", "float64")


def outcome(function, *args):
    try:
        return function(*args).tolist()
    except Exception as error:
        return type(error)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["lt", "le", "eq", "ne", "gt", "ge"])
def test_comparisons_with_numbers_out_of_range(dtype, name):
    compare = getattr(operator, name)
    x = nm.array(np.array([0, 1, 2, 100, 127]).astype(dtype))
    changing = nm.jit(lambda x, n: compare(x, n))
    turned = nm.jit(lambda x, n: compare(n, x))
    for n in NUMBERS:
        constant = nm.jit(lambda x, n=n: compare(x, n))
        assert outcome(changing, x, n) == outcome(compare, x, n)
        assert outcome(turned, x, n) == outcome(lambda x, n: compare(n, x), x, n)
        for _ in range(3):
            assert outcome(constant, x) == outcome(compare, x, n)


@pytest.mark.parametrize("dtype", DTYPES[:6])
def test_numbers_that_do_not_fit_raise(dtype):
    def add(x, n):
        return x + n

    def write(x, n):
        y = x * 1
        y[0] = n
        return y

    x = nm.array(np.arange(3).astype(dtype))
    for function in (add, write):
        compiled = nm.jit(function)
        for n in (*NUMBERS[:5], 300, 1, 1 << 31, -1, 1 << 40, 2):
            assert outcome(compiled, x, n) == outcome(function, x, n)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", DTYPES[:7])
def test_floats_written_into_ints_raise_where_they_do_not_fit(dtype):
    def element(x, k):
        y = x * 1
        y[0] = k
        y[1:] = k
        return y

    def mask(x, k):
        y = x * 1
        y[y > 0] = k
        return y

    def put(x, k):
        y = x * 1
        nm.put(y, [0, 1], k)
        return y

    def fill(x, k):
        y = x * 1
        y.fill(k)
        return y

    x = nm.array(np.arange(3).astype(dtype))
    for function in (element, mask, put, fill):
        compiled = nm.jit(function)
        for k in (0.5, 0.5, -0.75, 1.5, -1.5, 2.0, 1e10, float("nan"), float("inf"), 3.5):
            assert outcome(compiled, x, k) == outcome(function, x, k)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function",
    [
        lambda x: nm.nanmedian(x, axis=0).sum(),
        lambda x: nm.compress(x[0] > 0, x, axis=1).sum(),
        lambda x: nm.extract(x > 0, x).sum(),
        lambda x: nm.nanquantile(x, 0.3, axis=1).sum(),
        lambda x: nm.polymul(x[0], x[1]).sum(),
        lambda x: nm.choose(nm.array([0, 1, 1]), [x[0], x[1]]).sum(),
        lambda x: nm.histogram([1.0, 2.0], bins=2, weights=x[0, :2])[0].sum(),
        lambda x: nm.linalg.lstsq(x.T, x[0])[0].sum(),
    ],
)
def test_what_depends_on_values_keeps_its_gradient_in_a_trace(function):
    value = np.array([[0.5, -1.0, 2.0], [1.5, 3.0, -0.5]])

    def gradient(x):
        x.grad = None
        function(x * 1.0).backward()
        return x.grad * 1

    compiled, x = nm.jit(gradient), nm.array(value, requires_grad=True)
    with nm.config(engine="kernels"):
        expected = gradient(x).tolist()
    for _ in range(3):
        assert compiled(x).tolist() == expected


def test_an_array_broadcast_from_a_scalar_stays_read_only():
    def spread(x):
        wide = nm.broadcast_to(x.sum(), (2,))
        return wide, wide.detach()

    compiled = nm.jit(spread)
    for _ in range(4):
        assert [r.flags.writeable for r in compiled(nm.arange(3.0))] == [False, False]


def test_a_refused_write_raises_the_same_class():
    def write(x, v):
        y = x * 1
        y[...] = v
        return y

    x, v = nm.ones((2, 3)), nm.ones(2)
    with pytest.raises(ValueError) as eager:
        write(x, v)
    with pytest.raises(ValueError) as traced:
        nm.jit(write)(x, v)
    assert type(traced.value) is type(eager.value)


@pytest.mark.parametrize("dtypes", [("float16", "float32"), ("float32", "float16")])
def test_products_of_mixed_small_floats_have_the_bits_of_eager_kernels(dtypes):
    rng = np.random.default_rng(0)
    a, b = [nm.array(rng.standard_normal(100).astype(d)) for d in dtypes]
    compiled = nm.jit(lambda a, b: a @ b)
    with nm.config(engine="kernels"):
        expected = a @ b
    for _ in range(4):
        assert compiled(a, b) == expected


def test_a_float16_sum_of_one_negative_zero_is_numpys():
    x = nm.array(np.array([-0.0], np.float16))
    compiled = nm.jit(lambda x: (x * 1).sum())
    signs = [bool(nm.signbit(compiled(x))) for _ in range(4)]
    assert signs == [bool(np.signbit(x.numpy().sum()))] * 4
