"""Quantiles, averages, covariances and histograms against NumPy, recorded forms with gradient."""

import numpy as np
import pytest
from recorded_forms import check
from same_source import compare

import numen as nm

RNG = np.random.default_rng(11)
A = RNG.permutation(np.arange(24) * 0.25 - 2.1).reshape(2, 3, 4)
W = RNG.uniform(0.5, 2.0, (2, 3, 4))
NANS = np.where(RNG.random(A.shape) < 0.25, np.nan, A)
NANS[0] = np.where(np.isnan(NANS).all(0), A[0], NANS[0])
METHODS = [
    *("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf", "averaged_inverted_cdf"),
    *("closest_observation", "interpolated_inverted_cdf", "hazen", "weibull"),
    *("median_unbiased", "normal_unbiased"),
]
LEVELS = np.array([0.0, 0.13, 0.25, 0.5, 0.8, 1.0])

PLAIN = [
    "np.median([3, 1, 2, 4])", "np.median(np.array([[1, 5, 2], [7, 0, 3]]), axis=1)",
    "np.median([])", "np.median(np.array([1, np.nan]))", "np.median(5.0)",
    "np.quantile([1, 2, 4], 0.3)", "np.quantile([1, 2, 4], [0, 1])",
    "np.quantile(np.arange(4, dtype=np.float32), 0.3)",
    "np.quantile(np.arange(4, dtype=np.float32), np.array([0.3]))", "np.quantile([1, 2], 1.5)",
    "np.quantile([1, 2], 0.5, method='no such')", "np.quantile([1j], 0.5)",
    "np.quantile([1, 2, 3], 1)",
    "np.quantile([1., 2, 3], 0.4, weights=[1, 2, 1], method='inverted_cdf')",
    "np.quantile([1., 2], 0.4, weights=[1, 2])",
    "np.percentile([1, 2, 4], [25, 75], method='nearest')",
    "np.percentile(np.arange(6).reshape(2, 3), 50, axis=(0, 1), keepdims=True)",
    "np.nanmedian(np.array([[1, np.nan], [3, 4]]), axis=1)",
    "np.nanquantile(np.array([1, np.nan, 3]), 0.5)",
    "np.nanpercentile(np.array([1, np.nan, 3]), [25, 50])",
    "np.average([1, 2, 3], weights=[1, 1, 2])", "np.average([1, 2], weights=[1, -1])",
    "np.average(np.arange(6).reshape(3, 2), axis=1, weights=[1, 3], returned=True)",
    "np.average([1, 2, 3], weights=[1, 2])",
    "np.average(np.ones((2, 3)), axis=0, keepdims=True, returned=True)",
    "np.cov([0, 1, 2], [2, 1, 0])", "np.cov([1, 2, 4])",
    "np.cov(np.arange(6.).reshape(3, 2), rowvar=False, bias=True)",
    "np.cov([0, 1, 2], fweights=[1, 2, 1])", "np.cov([1.])",
    "np.cov([0, 1, 2], aweights=[.1, 2, 1], ddof=1)", "np.cov([0, 1], fweights=[1, .5])",
    "np.cov([0, 1], aweights=[1, -1])", "np.cov(np.ones((2, 2, 2)))", "np.cov([1j, 2])",
    "np.cov([1, 2], dtype=np.float32)", "np.corrcoef([0, 1, 3], [2, 1, 0])",
    "np.corrcoef([1, 2, 3])", "np.bincount([0, 2, 2])",
    "np.bincount([0, 1], weights=[.5, 1.5], minlength=4)", "np.bincount([-1])",
    "np.bincount([0.5])", "np.bincount([])", "np.histogram([1, 2, 1], bins=[0, 1, 2, 3])",
    "np.histogram(np.arange(5), density=True)", "np.histogram([1., 2], bins='auto')",
    "np.histogram([1, 2], weights=[1, 2], bins=2)", "np.histogram([1, 2], bins=[2, 1])",
    "np.histogram_bin_edges([1, 2, 5], bins=3)", "np.histogram2d([0, 1, 1], [0, 1, 1], bins=2)",
    "np.histogramdd(np.arange(12.).reshape(4, 3), bins=2)",
]  # fmt: skip


@pytest.mark.parametrize("text", PLAIN)
@pytest.mark.parametrize("engine", ["auto", "kernels"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_errors_and_dtypes_are_numpys(text, engine):
    with nm.config(engine=engine):
        compare(text, exact=engine == "auto")


OPTIONS = [{}, {"axis": 1}, {"axis": (0, -1)}, {"axis": 0, "keepdims": True}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", ["median", "nanmedian"])
def test_medians(name, options):
    check(lambda np, a: getattr(np, name)(a, **options), A)
    check(lambda np, a: getattr(np, name)(a, **options), NANS, gradient=name == "nanmedian")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_quantiles_by_every_method(name, method):
    def f(np, a, axis=None):
        return getattr(np, name)(a, LEVELS, method=method, axis=axis)

    check(f, A)
    check(lambda np, a: f(np, a, 2), A)
    check(lambda np, a: f(np, a, (0, 1)), NANS, gradient=name == "nanquantile")


@pytest.mark.parametrize("name", ["percentile", "nanpercentile"])
def test_percentiles(name):
    for q in (30, 12.5, [5, 60], np.array([[5.0, 60.0], [0.0, 100.0]])):
        for options in OPTIONS if np.ndim(q) < 2 else OPTIONS[:2]:
            check(lambda np, a: getattr(np, name)(a, q, **options), A[:, :2])  # noqa: B023


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("q", [0.3, [0.3, 0.5], 1])
@pytest.mark.parametrize("name", ["quantile", "nanquantile", "percentile"])
def test_quantiles_of_other_floats_have_numpys_dtype(name, q, dtype):
    a = A.astype(dtype)
    check(lambda np, a: getattr(np, name)(a, q, axis=1), a, gradient=False, tolerance=1e-2)
    check(lambda np, a: np.median(a, axis=1), a, gradient=False, tolerance=1e-2)


def test_quantiles_into_an_out():
    x = nm.array(A, requires_grad=True)
    out = nm.zeros((2, 4))
    assert nm.quantile(x, 0.4, axis=1, out=out) is out
    out.sum().backward()
    assert float(x.grad.sum()) == pytest.approx(8)
    np.testing.assert_allclose(out.detach().numpy(), np.quantile(A, 0.4, axis=1))


def test_weighted_quantiles():
    def f(np, a, w=W):
        return np.quantile(a, [0.2, 0.5], axis=1, weights=w, method="inverted_cdf")

    check(f, A)
    check(lambda np, a: np.quantile(a, 0.3, weights=W, method="inverted_cdf"), A)
    check(lambda np, a: np.percentile(a, 30, axis=2, weights=W[0, 0], method="inverted_cdf"), A)


def test_averages():
    check(lambda np, a, w: np.average(a, weights=w), A, W)
    check(lambda np, a, w: np.average(a, axis=1, weights=w, keepdims=True), A, W)
    check(
        lambda np, a, w: np.average(a, axis=(2, 0), weights=w, returned=True), A, W[:, 0].T.copy()
    )
    check(lambda np, a, w: np.average(a, axis=-1, weights=w, returned=True), A, W[0, 0])
    check(lambda np, a: np.average(a, axis=0, returned=True), A)
    check(lambda np, a: np.average(a, weights=np.arange(24).reshape(2, 3, 4)), A)
    with pytest.raises(ZeroDivisionError):
        nm.average(nm.array([1.0, 2.0], requires_grad=True), weights=[1, -1])
    with pytest.raises(TypeError):
        nm.average(nm.array([1.0, 2.0], requires_grad=True), weights=[1])


@pytest.mark.parametrize(
    "options",
    [
        *({}, {"bias": True}, {"ddof": 0}, {"rowvar": False}),
        *({"fweights": np.array([1, 2, 1, 3])}, {"fweights": np.array([1, 2, 1, 3]), "ddof": 0}),
    ],
    ids=str,
)
def test_covariances(options):
    check(lambda np, a: np.cov(a, **options), A[0] if "rowvar" not in options else A[0].T.copy())
    check(lambda np, a, b: np.cov(a, b, **{**options, "rowvar": True}), A[0], A[1])


def test_covariances_by_weights_that_matter():
    check(lambda np, a, w: np.cov(a, aweights=w), A[0], W[0, 0])
    f = np.array([1, 2, 1, 3])
    check(lambda np, a, w: np.cov(a, aweights=w, fweights=f), A[0], W[0, 0])
    check(lambda np, a, b: np.cov(a, b), A[0, 0], A[0, 1])
    check(lambda np, a: np.cov(a), A[0, 0])


def test_correlations():
    check(lambda np, a: np.corrcoef(a), A[0])
    check(lambda np, a, b: np.corrcoef(a, b), A[0, 0], A[0, 1])
    check(lambda np, a: np.corrcoef(a, rowvar=False), A[:, :, 0].copy())
    check(lambda np, a: np.corrcoef(a), A[0, 0], gradient=False)


def test_too_few_samples_warn():
    with (
        np.errstate(all="ignore"),
        pytest.warns(RuntimeWarning, match="Degrees of freedom"),
    ):
        nm.cov(nm.array([1.0], requires_grad=True))


@pytest.mark.parametrize("density", [None, True])
def test_histograms_have_gradients_by_their_weights(density):
    x = np.array([0.1, 0.5, 1.0, 2.9, 3.0, -4.0])
    y = np.array([0.3, 0.5, 2.0, 0.0, 1.0, 1.0])
    w = RNG.uniform(0.5, 1.5, 6)
    inside = {"range": (0, 3), "density": density}
    check(lambda np, w: np.histogram(x, 3, weights=w, **inside), w)
    check(lambda np, w: np.histogram(x, [0, 1, 3], density=density, weights=w), w)
    check(lambda np, w: np.histogram(x.reshape(2, 3), weights=w.reshape(2, 3)), w)
    check(lambda np, w: np.histogram2d(x, y, [2, 3], density=density, weights=w), w)
    check(lambda np, w: np.histogram2d(x, y, [0, 1, 3], density=density, weights=w), w)
    points = np.stack([x, y, x * y], 1)
    check(lambda np, w: np.histogramdd(points, 2, density=density, weights=w), w)


def test_bincount_has_gradients_by_its_weights():
    places = np.array([3, 0, 3, 1])
    check(lambda np, w: np.bincount(places, w), W[0, 0])
    check(lambda np, w: np.bincount(places, weights=w, minlength=6), W[0, 0])
    with pytest.raises(ValueError):
        nm.bincount([-1], nm.array([1.0], requires_grad=True))


def test_traced_statistics_are_the_eager_ones():
    def f(x):
        return (
            nm.median(x)
            + nm.quantile(x, [0.1, 0.7], axis=0).sum()
            + nm.average(x, weights=x * x)
            + nm.corrcoef(x)[0, 1]
        )

    x = nm.array(A[0])
    compiled, slope = nm.jit(f), nm.jit(nm.grad(f))
    for _ in range(2):
        assert compiled(x).item() == pytest.approx(f(x).item(), rel=1e-12)
        np.testing.assert_allclose(slope(x).numpy(), nm.grad(f)(x).numpy(), rtol=1e-10)
