"""Generator: NumPy's random generator, bit for bit, giving Arrays.

`default_rng(seed)` makes one. Every method hands its arguments to NumPy's method of the same name,
which draws on the host; `shuffle` and `out=` write in place. Philox streams, which need no state,
are in `stream.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from numen.dispatch import core, modes, views
from numen.dispatch.core import ArrayCore
from numen.errors import describe

if TYPE_CHECKING:
    pass


class Generator:
    """NumPy's `Generator`, returning Arrays.

    Made by `default_rng`, or from a NumPy bit generator. The streams are NumPy's own; a draw of one
    number gives what NumPy gives (a Python float, or a scalar Array in place of a NumPy scalar).

    Examples
    --------
    >>> import numpy, numen as nm
    >>> ours, theirs = nm.random.default_rng(1), numpy.random.default_rng(1)
    >>> ours.integers(10, size=4).tolist() == theirs.integers(10, size=4).tolist()
    True
    """

    def __init__(self, bit_generator: Any) -> None:
        self._numpy = np.random.Generator(bit_generator)

    @property
    def bit_generator(self) -> Any:
        """NumPy's bit generator, which holds the state."""
        return self._numpy.bit_generator

    def __repr__(self) -> str:
        return f"Generator({type(self.bit_generator).__name__})"

    def __reduce__(self) -> Any:
        return Generator, (self.bit_generator,)

    def spawn(self, n_children: int) -> list[Generator]:
        """Independent generators for workers."""
        return [Generator(child.bit_generator) for child in self._numpy.spawn(n_children)]

    def bytes(self, length: int) -> Any:
        """Random bytes."""
        _untraced(core.ARRAY(np.zeros(0)))
        return self._numpy.bytes(length)

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle an Array (or another mutable sequence) in place along an axis.

        Raises
        ------
        ValueError
            If the array is read-only.
        LeafWriteError
            If it is a leaf that requires a gradient, outside `no_grad`.
        """
        if isinstance(x, ArrayCore):
            _untraced(x)
            _prepare(x, "shuffle")
            self._numpy.shuffle(x._d, axis=axis)
            views.wrote(x, None)
        else:
            self._numpy.shuffle(x, axis=axis)

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """A shuffled copy of x, or of arange(x) for an int."""
        return self._draw("permutation", x, axis=axis)

    def random(self, size: Any = None, dtype: Any = "float64", out: Any = None) -> Any:
        """Uniform floats in [0, 1)."""
        return self._draw("random", size, dtype=dtype, out=out)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = "int64",
        endpoint: Any = False,
    ) -> Any:
        """Integers from low (inclusive) to high (exclusive unless endpoint)."""
        return self._draw("integers", low, high, size, dtype=dtype, endpoint=endpoint)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: Any = True,
        p: Any = None,
        axis: Any = 0,
        shuffle: Any = True,
    ) -> Any:
        """Random picks from a (an array, or an int: from arange)."""
        return self._draw("choice", a, size, replace=replace, p=p, axis=axis, shuffle=shuffle)

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """A copy shuffled along an axis, each slice on its own."""
        return self._draw("permuted", x, axis=axis, out=out)

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Beta distribution."""
        return self._draw("beta", a, b, size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Binomial distribution."""
        return self._draw("binomial", n, p, size)

    def chisquare(self, df: Any, size: Any = None) -> Any:
        """Chi-square distribution."""
        return self._draw("chisquare", df, size)

    def dirichlet(self, alpha: Any, size: Any = None) -> Any:
        """Dirichlet distribution."""
        return self._draw("dirichlet", alpha, size)

    def exponential(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Exponential distribution."""
        return self._draw("exponential", scale, size)

    def f(self, dfnum: Any, dfden: Any, size: Any = None) -> Any:
        """F distribution."""
        return self._draw("f", dfnum, dfden, size)

    def gamma(self, shape: Any, scale: Any = 1.0, size: Any = None) -> Any:
        """Gamma distribution."""
        return self._draw("gamma", shape, scale, size)

    def geometric(self, p: Any, size: Any = None) -> Any:
        """Geometric distribution."""
        return self._draw("geometric", p, size)

    def gumbel(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Gumbel distribution."""
        return self._draw("gumbel", loc, scale, size)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Any = None) -> Any:
        """Hypergeometric distribution."""
        return self._draw("hypergeometric", ngood, nbad, nsample, size)

    def laplace(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Laplace distribution."""
        return self._draw("laplace", loc, scale, size)

    def logistic(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Logistic distribution."""
        return self._draw("logistic", loc, scale, size)

    def lognormal(self, mean: Any = 0.0, sigma: Any = 1.0, size: Any = None) -> Any:
        """Log-normal distribution."""
        return self._draw("lognormal", mean, sigma, size)

    def logseries(self, p: Any, size: Any = None) -> Any:
        """Logarithmic series distribution."""
        return self._draw("logseries", p, size)

    def multinomial(self, n: Any, pvals: Any, size: Any = None) -> Any:
        """Multinomial distribution."""
        return self._draw("multinomial", n, pvals, size)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: Any, size: Any = None, method: Any = "marginals"
    ) -> Any:
        """Multivariate hypergeometric distribution."""
        return self._draw("multivariate_hypergeometric", colors, nsample, size, method=method)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: Any = "warn",
        tol: Any = 1e-8,
        *,
        method: Any = "svd",
    ) -> Any:
        """Multivariate normal distribution."""
        return self._draw(
            "multivariate_normal", mean, cov, size, check_valid=check_valid, tol=tol, method=method
        )

    def negative_binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Negative binomial distribution."""
        return self._draw("negative_binomial", n, p, size)

    def noncentral_chisquare(self, df: Any, nonc: Any, size: Any = None) -> Any:
        """Noncentral chi-square distribution."""
        return self._draw("noncentral_chisquare", df, nonc, size)

    def noncentral_f(self, dfnum: Any, dfden: Any, nonc: Any, size: Any = None) -> Any:
        """Noncentral F distribution."""
        return self._draw("noncentral_f", dfnum, dfden, nonc, size)

    def normal(self, loc: Any = 0.0, scale: Any = 1.0, size: Any = None) -> Any:
        """Normal distribution."""
        return self._draw("normal", loc, scale, size)

    def pareto(self, a: Any, size: Any = None) -> Any:
        """Pareto II (Lomax) distribution."""
        return self._draw("pareto", a, size)

    def poisson(self, lam: Any = 1.0, size: Any = None) -> Any:
        """Poisson distribution."""
        return self._draw("poisson", lam, size)

    def power(self, a: Any, size: Any = None) -> Any:
        """Power distribution on [0, 1]."""
        return self._draw("power", a, size)

    def rayleigh(self, scale: Any = 1.0, size: Any = None) -> Any:
        """Rayleigh distribution."""
        return self._draw("rayleigh", scale, size)

    def standard_cauchy(self, size: Any = None) -> Any:
        """Standard Cauchy distribution."""
        return self._draw("standard_cauchy", size)

    def standard_exponential(
        self, size: Any = None, dtype: Any = "float64", method: Any = "zig", out: Any = None
    ) -> Any:
        """Standard exponential distribution."""
        return self._draw("standard_exponential", size, dtype=dtype, method=method, out=out)

    def standard_gamma(
        self, shape: Any, size: Any = None, dtype: Any = "float64", out: Any = None
    ) -> Any:
        """Standard gamma distribution."""
        return self._draw("standard_gamma", shape, size, dtype=dtype, out=out)

    def standard_normal(self, size: Any = None, dtype: Any = "float64", out: Any = None) -> Any:
        """Standard normal distribution."""
        return self._draw("standard_normal", size, dtype=dtype, out=out)

    def standard_t(self, df: Any, size: Any = None) -> Any:
        """Student's t distribution."""
        return self._draw("standard_t", df, size)

    def triangular(self, left: Any, mode: Any, right: Any, size: Any = None) -> Any:
        """Triangular distribution."""
        return self._draw("triangular", left, mode, right, size)

    def uniform(self, low: Any = 0.0, high: Any = 1.0, size: Any = None) -> Any:
        """Uniform distribution on [low, high)."""
        return self._draw("uniform", low, high, size)

    def vonmises(self, mu: Any, kappa: Any, size: Any = None) -> Any:
        """Von Mises distribution."""
        return self._draw("vonmises", mu, kappa, size)

    def wald(self, mean: Any, scale: Any, size: Any = None) -> Any:
        """Wald (inverse Gaussian) distribution."""
        return self._draw("wald", mean, scale, size)

    def weibull(self, a: Any, size: Any = None) -> Any:
        """Weibull distribution."""
        return self._draw("weibull", a, size)

    def zipf(self, a: Any, size: Any = None) -> Any:
        """Zipf distribution."""
        return self._draw("zipf", a, size)

    def _draw(self, name: str, *args: Any, out: Any = None, **kwargs: Any) -> Any:
        """Call NumPy's method on raw arrays; the result, or `out`, as an Array."""
        raw = [core.unwrap(a) for a in args]
        kwargs = {key: core.unwrap(value) for key, value in kwargs.items()}
        if out is not None:
            if not isinstance(out, ArrayCore):
                raise TypeError(f"{name}: out must be an Array, got {describe(out)}")
            _untraced(out)
            _prepare(out, name)
            getattr(self._numpy, name)(*raw, out=out._d, **kwargs)
            views.wrote(out, None)
            return out
        drawn = getattr(self._numpy, name)(*raw, **kwargs)
        result = core.wrap(drawn) if isinstance(drawn, (np.ndarray, np.generic)) else drawn
        _untraced(result)
        return result


def _prepare(x: ArrayCore, op: str) -> None:
    """Before a write into x."""
    views.check_writable(x, op)
    views.keep_saved_result(x)


def _untraced(x: Any) -> None:
    """Let a trace give up: the next call draws other numbers."""
    recorder = modes.state.recorder if modes.ACTIVE else None
    if recorder is not None:
        recorder.leave(x, "a random draw")


def default_rng(seed: Any = None) -> Generator:
    """Make a generator from a seed, as `numpy.random.default_rng` does.

    Parameters
    ----------
    seed : None, int, sequence of int, SeedSequence, BitGenerator or Generator
        None takes entropy from the system; a Generator is returned itself.

    Examples
    --------
    >>> import numen as nm
    >>> nm.random.default_rng(0).random(3)
    array([0.63696169, 0.26978671, 0.04097352])
    """
    if isinstance(seed, Generator):
        return seed
    return Generator(np.random.default_rng(core.unwrap(seed)).bit_generator)
