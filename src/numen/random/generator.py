"""Generator: NumPy's random generator, bit for bit, giving Arrays.

`default_rng(seed)` makes one. Every method hands its arguments to NumPy's method of the same name,
which draws on the host; `shuffle` and `out=` write in place. The distributions are in
`distributions.py`; Philox streams, which need no state, in `stream.py`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.namespace.calling import raw
from numen.random.distributions import Distributions, has_gradient, made_of, untraced


class Generator(Distributions):
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
        self._made_in = modes.state.levels

    def __str__(self) -> str:
        return f"Generator({type(self.bit_generator).__name__})"

    @property
    def bit_generator(self) -> Any:
        """NumPy's bit generator, which holds the state."""
        return self._numpy.bit_generator

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    def __reduce__(self) -> Any:
        return _unpickled, (self.bit_generator,), None

    def spawn(self, n_children: int) -> list[Generator]:
        """Independent generators for workers."""
        return [Generator(child.bit_generator) for child in self._numpy.spawn(n_children)]

    # ------------------------------------------------------------ orders and picks

    def shuffle(self, x: Any, axis: int = 0) -> None:
        """Shuffle an Array (or another mutable sequence) in place along an axis; gradients follow
        the slices.

        Raises
        ------
        ValueError
            If the array is read-only.
        LeafWriteError
            If it is a leaf that requires a gradient, outside `no_grad`.
        """
        self._shuffle(x, axis, {"axis": axis})

    def permutation(self, x: Any, axis: int = 0) -> Any:
        """A shuffled copy of x, or of arange(x) for an int."""
        if has_gradient(x) and x._d.ndim:
            return x.take(core.ARRAY(self._order(x, axis)), axis)
        return self._draw("permutation", x, axis=axis)

    def permuted(self, x: Any, *, axis: Any = None, out: Any = None) -> Any:
        """A copy shuffled along an axis, each slice on its own."""
        return self._draw("permuted", x, axis=axis, out=out)

    def choice(
        self,
        a: Any,
        size: Any = None,
        replace: Any = True,
        p: Any = None,
        axis: Any = 0,
        shuffle: Any = True,
    ) -> Any:
        """Random picks from a (an array, or an int: from arange); gradients flow back to a."""
        if has_gradient(a) and a._d.ndim:
            untraced()
            n = a._d.shape[axis]
            picks = self._numpy.choice(n, size, replace=replace, p=raw(p), shuffle=shuffle)
            return a.take(core.ARRAY(np.asarray(picks)) if size is not None else picks, axis)
        return self._draw("choice", a, size, replace=replace, p=p, axis=axis, shuffle=shuffle)

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

    # ------------------------------------------------------------ distributions of its own

    def random(self, size: Any = None, dtype: Any = "float64", out: Any = None) -> Any:
        """Uniform floats in [0, 1)."""
        return self._draw("random", size, dtype=dtype, out=out)

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


def default_rng(seed: Any = None) -> Generator:
    """Make a generator from a seed, as `numpy.random.default_rng` does.

    Parameters
    ----------
    seed : None, int, sequence of int, SeedSequence, BitGenerator, Generator or RandomState
        None takes entropy from the system; a Generator is returned itself.

    Examples
    --------
    >>> import numen as nm
    >>> nm.random.default_rng(0).random(3)
    array([0.63696169, 0.26978671, 0.04097352])
    """
    if isinstance(seed, Generator):
        return seed
    if isinstance(seed, Distributions):
        seed = seed._numpy
    numpys = (np.random.BitGenerator, np.random.Generator, np.random.RandomState)
    if isinstance(seed, numpys):
        return Generator(np.random.default_rng(seed).bit_generator)
    from numen.random.bit_generator import PCG64

    return Generator(PCG64(seed))


def _unpickled(bit_generator: Any) -> Generator:
    return Generator(made_of(bit_generator))
