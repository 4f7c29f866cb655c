"""Distributions: the methods that NumPy's two generators share, giving Arrays.

Each hands its arguments to NumPy's method of the same name, which draws on the host. `generator.py`
and `legacy.py` inherit this class and add what they have of their own.
"""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from numen.dispatch import core, frames, modes, views
from numen.dispatch.core import ArrayCore
from numen.errors import describe
from numen.namespace.calling import run_host


class Distributions:
    """Methods over a NumPy generator, kept in `_numpy`.

    Arguments may be Arrays; results are Arrays, or what NumPy returns for a single number (a Python
    float or int).
    """

    _numpy: Any
    _made_in: tuple[Any, ...] = ()
    """The transforms that ran when the generator was made."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or not name.startswith("_") or name == "_numpy":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        return getattr(self._numpy, name)

    def beta(self, a: Any, b: Any, size: Any = None) -> Any:
        """Beta distribution."""
        return self._draw("beta", a, b, size)

    def binomial(self, n: Any, p: Any, size: Any = None) -> Any:
        """Binomial distribution."""
        return self._draw("binomial", n, p, size)

    def bytes(self, length: int) -> Any:
        """Random bytes."""
        return self._draw("bytes", length)

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

    # ------------------------------------------------------------ how a method draws

    def _draw(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call NumPy's method on raw arguments; a trace gives up, as the next call draws others."""
        if kwargs.get("out") is None:
            kwargs.pop("out", None)
        elif not isinstance(kwargs["out"], ArrayCore):
            raise TypeError(f"{name}: out must be an Array, got {describe(kwargs['out'])}")
        untraced()
        function = getattr(self._numpy, name)
        if modes.state.level and name != "get_state" and "out" not in kwargs:
            if not any([frames.level_of(a) for a in (*args, *kwargs.values())]):
                draw = functools.partial(run_host, function, name, args, kwargs)
                return frames.draw_by_example(draw, name, self._made_in)
        return run_host(function, name, args, kwargs)

    def _shuffle(self, x: Any, axis: int, more: dict[str, Any]) -> None:
        """Shuffle in place. Where a gradient is concerned the rows move instead of the memory: the
        order is drawn as NumPy draws it."""
        if has_gradient(x):
            from_rows = core.ARRAY(self._order(x, axis))
            views.write(x, x.take(from_rows, axis), "shuffle")
            return
        untraced()
        if isinstance(x, ArrayCore):
            run_host(self._numpy.shuffle, "shuffle", (x,), more, writes=(0,))
        else:  # the sequence itself, not one of ndarrays
            self._numpy.shuffle(x, **more)

    def _order(self, x: Any, axis: int) -> Any:
        """A drawn order of x's slices along an axis, as shuffling x itself would have it."""
        untraced()
        order = np.arange(x._d.shape[axis])
        self._numpy.shuffle(order)
        return order


def made_of(bit_generator: Any) -> Any:
    """A bit generator, which pickles may name only."""
    if not isinstance(bit_generator, str):
        return bit_generator
    return getattr(importlib.import_module("numen.random.bit_generator"), bit_generator)()


def has_gradient(x: Any) -> bool:
    """Whether what is done to x is recorded."""
    return isinstance(x, ArrayCore) and x._n is not None and (not modes.NO_GRAD or modes.state.grad)


def untraced() -> None:
    """Let a trace give up: the next call draws other numbers."""
    recorder = modes.state.recorder if modes.ACTIVE else None
    if recorder is not None:
        recorder.refuse("a random draw inside the traced function")
