"""Reductions and running reductions: plain calls are NumPy's, recorded ones its value and
gradient."""

import warnings

import numpy as np
import pytest
from recorded_forms import check
from same_source import compare

import numen as nm

RNG = np.random.default_rng(7)
A = RNG.uniform(0.5, 2.0, (2, 3, 4)) * np.where(RNG.random((2, 3, 4)) < 0.5, -1, 1)
MASK = RNG.random((2, 3, 4)) < 0.6
MASK[0] |= ~MASK[1]  # no slice along the first axis is empty

PLAIN = [
    "np.sum(np.ones(3, np.int8))", "np.prod(np.full(3, 100, np.int8))",
    "np.cumsum(np.ones(300, np.uint8))", "np.cumprod(np.full(4, 100, np.uint8))",
    "np.sum([True, True])", "np.prod([])", "np.any([])", "np.all([])",
    "np.sum(np.ones(2, np.int8), dtype=np.int8)", "np.mean(np.arange(4), dtype=np.float32)",
    "np.mean(np.ones(5, np.float16))", "np.sum(np.array([1+2j, 3]))",
    "np.mean(np.array([1+2j, 3]))", "np.var(np.array([1+2j, 3]))",
    "np.max(np.array([], float), initial=3.0)", "np.max([])", "np.min(np.ones((0, 2)), axis=0)",
    "np.max(np.ones((0, 2)), axis=1)", "np.argmax(np.ones((0, 2)), axis=1)", "np.argmax([])",
    "np.argmin(np.array([2, 1, 1]))",
    "np.argmin(np.arange(6).reshape(2, 3), axis=1, keepdims=True)",
    "np.argmax(np.arange(6).reshape(2, 3), keepdims=True)", "np.sum(np.ones((2, 3)), axis=(0, -1))",
    "np.sum(np.ones((2, 3)), axis=(0, 0))", "np.sum(np.ones((2, 3)), axis=2)",
    "np.prod(np.ones((2, 3)), axis=-3)", "np.std([1, 2, 3, 4])", "np.std(np.arange(4.), ddof=1)",
    "np.var(np.arange(4.), correction=1)", "np.var(np.arange(4.), ddof=1, correction=1)",
    "np.var(np.ones(2), ddof=2)", "np.mean(np.ones((0, 3)), axis=0)",
    "np.ptp(np.array([[1, 9], [4, 2]]), axis=0)",
    "np.any(np.array([[0, 1], [0, 0]]), axis=1, keepdims=True)",
    "np.all(np.array([[0, 1], [1, 1]]), axis=1, where=np.array([False, True]))",
    "np.sum(np.arange(4), where=[True, False, True, False])",
    "np.max(np.arange(4), where=[True, False, True, False])",
    "np.max(np.arange(4), where=[True, False, True, False], initial=-1)",
    "np.sum(np.arange(4), initial=10)", "np.prod(np.arange(1, 4), initial=2)",
    "np.cumsum(np.arange(6).reshape(2, 3))", "np.cumsum(np.arange(6).reshape(2, 3), axis=1)",
    "np.cumsum(np.arange(3), axis=1)", "np.cumprod(np.arange(1, 5), dtype=float)",
    "np.cumulative_sum(np.arange(3), include_initial=True)",
    "np.cumulative_prod(np.arange(1, 5).reshape(2, 2), axis=1, include_initial=True)",
    "np.cumulative_sum(np.ones((2, 2)))", "np.max(np.array([np.nan, 1, -np.inf]))",
    "np.min(np.array([3, np.nan]))", "np.argmax(np.array([1, np.nan, 3, np.nan]))",
    "np.any([np.nan, 0])", "np.max(np.array([1+2j, 1+3j]))", "np.sum(np.array([1, 2**70], object))",
    "np.any(np.array([0, 'a', None], object))", "np.max(np.array(['b', 'a'], object))",
    "np.sum(np.array('M8', 'U2'))", "np.sum(np.float32(3))", "np.max(7)",
    "x = np.arange(6.).reshape(2, 3); y = np.zeros(3); r = np.cumsum(x[0], out=y), y",
    "x = np.arange(6.).reshape(2, 3); y = np.zeros(2, int); r = np.max(x, axis=1, out=y), y",
    "x = np.arange(6.).reshape(2, 3); y = np.zeros(3); r = np.std(x, axis=0, out=y), y",
    "x = np.arange(6.).reshape(2, 3); y = np.zeros(3); np.prod(x, axis=1, out=y)",
    "np.arange(6).reshape(2, 3).prod(axis=0)", "np.arange(6.).reshape(2, 3).std(axis=0, ddof=1)",
    "np.arange(6.).var()", "np.arange(6).reshape(2, 3).any(axis=0)",
    "np.arange(6).reshape(2, 3).all(axis=0)", "np.arange(6).cumsum(dtype=np.int8)",
    "np.arange(1, 6).reshape(5, 1).cumprod(axis=0)", "np.arange(3).argmin()",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_plain_calls_are_numpys(text):
    compare(text)


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_recorded_forms_of_every_dtype_are_numpys(text):
    with nm.config(engine="kernels"):
        compare(text, exact=False)


@pytest.mark.parametrize(
    "text",
    [
        "np.max(np.array(['2001-01-02', '2000-01-01'], 'M8[D]'))",
        "np.ptp(np.array(['2001-01-02', '2000-01-01'], 'M8[D]'))",
        "np.mean(np.array([1, 3], 'm8[s]'))",
        "np.sum(np.array([1, 3], 'm8[s]'))",
    ],
)
def test_dates_stay_numpys_scalars(text):
    found, expected = eval(text, {"np": nm}), eval(text, {"np": np})
    assert type(found) is type(expected)
    assert found == expected


AXES = [
    {},
    {"axis": 0},
    {"axis": -1, "keepdims": True},
    {"axis": (0, 2)},
    {"axis": (2, 0), "keepdims": True},
    {"axis": ()},
]


@pytest.mark.parametrize("options", AXES, ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "max", "min", "var", "std", "ptp"])
def test_reductions_over_axes(name, options):
    if options == {"axis": ()} and name in ("std", "ptp", "var"):
        check(lambda np, a: getattr(np, name)(a, **options), A, gradient=False)
    else:
        check(lambda np, a: getattr(np, name)(a, **options), A)


@pytest.mark.parametrize("options", AXES[:4], ids=str)
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std"])
def test_masked_reductions(name, options):
    check(lambda np, a: getattr(np, name)(a, where=np.array(MASK), **options), A)


@pytest.mark.parametrize("options", AXES[:4], ids=str)
@pytest.mark.parametrize("name", ["max", "min"])
def test_masked_extrema_start_from_initial(name, options):
    start = {"max": -1.1, "min": 1.1}[name]
    check(lambda np, a: getattr(np, name)(a, where=np.array(MASK), initial=start, **options), A)
    check(lambda np, a: getattr(np, name)(a, initial=start, **options), A)
    check(lambda np, a, b: getattr(np, name)(a, initial=b, **options), A, np.array(start))


def test_sums_and_products_start_from_initial():
    check(lambda np, a: np.sum(a, axis=1, initial=2.5), A)
    check(lambda np, a: np.prod(a, axis=1, initial=2.5), A)
    check(lambda np, a: np.sum(a, initial=1, where=np.array(MASK[0, 0])), A)


@pytest.mark.parametrize(
    "options", [{"ddof": 1}, {"correction": 1}, {"ddof": 0.5, "axis": 1}], ids=str
)
def test_degrees_of_freedom(options):
    check(lambda np, a: np.var(a, **options), A)
    check(lambda np, a: np.std(a, **options), A)
    check(lambda np, a: np.var(a, where=np.array(MASK), **options), A)


def test_a_given_mean():
    check(lambda np, a: np.var(a, axis=1, mean=np.full((2, 1, 4), 0.25)), A)
    check(lambda np, a: np.std(a, axis=1, mean=np.mean(a, axis=1, keepdims=True)), A)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("name", ["sum", "prod", "mean", "var", "std", "max", "ptp", "cumsum"])
def test_recorded_dtypes_are_numpys(name, dtype):
    tolerance = 1e-2 if dtype == "float16" else 1e-5
    a = A.astype(dtype)
    check(lambda np, a: getattr(np, name)(a, axis=1), a, gradient=False, tolerance=tolerance)
    if name not in ("max", "ptp"):
        check(lambda np, a: getattr(np, name)(a, axis=1, dtype="float64"), a, gradient=False,
              tolerance=tolerance)  # fmt: skip


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "max", "std", "cumsum"])
def test_out_takes_the_gradient_along(name):
    x = nm.array(A[0], requires_grad=True)
    out = nm.zeros((3, 4) if name == "cumsum" else 4)
    assert getattr(nm, name)(x, axis=0, out=out) is out
    out.sum().backward()
    y = nm.array(A[0], requires_grad=True)
    getattr(nm, name)(y, axis=0).sum().backward()
    assert x.grad.tolist() == y.grad.tolist()
    np.testing.assert_allclose(out.detach().numpy(), getattr(np, name)(A[0], axis=0))


def test_product_and_running_product_of_zeros():
    x = nm.array([2.0, 0.0, 3.0, 4.0], requires_grad=True)
    nm.prod(x).backward()
    assert x.grad.tolist() == [0.0, 24.0, 0.0, 0.0]
    x.grad = None
    nm.cumprod(x).sum().backward()
    assert x.grad.tolist() == [1.0, 32.0, 0.0, 0.0]
    x.grad = None
    nm.prod(nm.array([0.0, 0.0, 3.0], requires_grad=True)).backward()
    hessian = nm.grad(lambda v: nm.grad(nm.prod)(v)[0])(nm.array([0.0, 0.0, 3.0]))
    assert hessian.tolist() == [0.0, 3.0, 0.0]


@pytest.mark.parametrize("options", [{}, {"axis": 0}, {"axis": -1}], ids=str)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_reductions(name, options):
    check(lambda np, a: getattr(np, name)(a, **options), A[0])
    zeroed = np.where(MASK[0], A[0], 0.0)
    check(lambda np, a: getattr(np, name)(a, **options), zeroed)


@pytest.mark.parametrize("initial", [False, True])
@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_array_api_running_reductions(name, initial):
    check(lambda np, a: getattr(np, name)(a, axis=1, include_initial=initial), A[0])
    check(lambda np, a: getattr(np, name)(a, include_initial=initial), A[0, 0])


def test_extrema_share_ties_and_a_flat_std_has_no_slope():
    x = nm.array([2.0, 2.0, 1.0], requires_grad=True)
    nm.ptp(x).backward()
    assert x.grad.tolist() == [0.5, 0.5, -1.0]
    y = nm.array([3.0, 3.0], requires_grad=True)
    nm.std(y).backward()
    assert y.grad.tolist() == [0.0, 0.0]


NANS = np.where(MASK, A, np.nan)


@pytest.mark.parametrize("options", AXES[:5], ids=str)
@pytest.mark.parametrize(
    "name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmax", "nanmin"]
)
def test_nan_is_skipped_and_has_no_gradient(name, options):
    x = nm.array(NANS, requires_grad=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        getattr(nm, name)(x, **options).sum().backward()
    assert (x.grad.numpy()[~MASK] == 0).all()
    options = {"axis": (0, 1)} if options == {"axis": 0} else options  # no slice is all NaN
    full = NANS.copy()
    full[0] = np.where(np.isnan(full[0]), 0.25 + np.arange(12).reshape(3, 4) / 16, full[0])
    check(lambda np, a: getattr(np, name)(a, **options), full)


@pytest.mark.parametrize("name", ["nansum", "nanprod", "nanmean", "nanvar", "nanstd"])
def test_nan_functions_with_a_mask(name):
    mask = MASK | (np.arange(4) % 2 == 0)
    check(lambda np, a: getattr(np, name)(a, axis=(0, 1), where=np.array(mask)), NANS)


@pytest.mark.parametrize("name", ["nancumsum", "nancumprod"])
def test_running_reductions_of_nan(name):
    check(lambda np, a: getattr(np, name)(a, axis=1), NANS)
    check(lambda np, a: getattr(np, name)(a), NANS)


@pytest.mark.parametrize("name", ["nanmean", "nanvar", "nanstd", "nanmax", "nanmin", "nanmedian"])
@pytest.mark.parametrize("grad", [False, True])
def test_slices_of_nan_warn_as_numpy(name, grad):
    a = np.array([[np.nan, np.nan], [1.0, 2.0]])
    with pytest.warns(RuntimeWarning) as theirs:
        expected = getattr(np, name)(a, axis=1)
    with pytest.warns(RuntimeWarning) as ours:
        found = getattr(nm, name)(nm.array(a, requires_grad=grad), axis=1)
    np.testing.assert_array_equal(found.detach().numpy(), expected)
    assert [str(w.message).rstrip(".") for w in ours] == [
        str(w.message).rstrip(".") for w in theirs
    ]


@pytest.mark.parametrize("grad", [False, True])
def test_nothing_to_average_warns_as_numpy(grad):
    x = nm.array(np.ones((0, 2)), requires_grad=grad)
    with np.errstate(invalid="ignore"), pytest.warns(RuntimeWarning, match="Mean of empty slice"):
        nm.mean(x, axis=0)
    with np.errstate(invalid="ignore"), pytest.warns(RuntimeWarning, match="Degrees of freedom"):
        nm.var(nm.array([1.0], requires_grad=grad), ddof=1)
    with pytest.raises(ValueError, match="zero-size array to reduction operation maximum"):
        nm.max(x, axis=0)


def test_nan_places_are_numpys():
    for name in ("nanargmax", "nanargmin"):
        compare(f"np.{name}(np.array([[np.nan, 2, 1], [5, np.nan, 7]]), axis=1)")
        compare(f"np.{name}(np.array([np.nan, np.nan]))")
        x = nm.array([[np.nan, 2.0, 1.0]], requires_grad=True)
        assert not getattr(nm, name)(x).requires_grad


def test_large_arrays_give_the_same_as_small_ones():
    x = np.arange(20_000.0) % 7
    for name in ("sum", "mean", "max", "min", "argmax", "prod", "any", "argmin"):
        assert float(getattr(nm, name)(nm.array(x))) == float(getattr(np, name)(x))
    assert np.signbit(nm.max(nm.full(8193, -0.0)).item())
    assert np.isnan(nm.min(nm.array(np.where(x == 3, np.nan, x))).item())


def test_traced_reductions_are_the_eager_ones():
    def f(x):
        y = nm.cumprod(x, axis=1) + nm.prod(x, axis=1, keepdims=True)
        return (y * nm.std(x, axis=0)).sum() + nm.nanmean(x) + nm.ptp(x) + nm.cumsum(x)[3]

    x = nm.array(A[0])
    compiled = nm.jit(f)
    for _ in range(3):
        assert compiled(x).item() == pytest.approx(f(x).item(), rel=1e-12)
    slope = nm.jit(nm.grad(f))
    for _ in range(2):
        np.testing.assert_allclose(slope(x).numpy(), nm.grad(f)(x).numpy(), rtol=1e-12)
