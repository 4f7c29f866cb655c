"""RandomState and the functions of `numpy.random`, frozen streams that older programs rely on.

The functions draw from NumPy's own global state, so `numen.random.seed` and `numpy.random.seed` are
one. New programs use `default_rng` (`generator.py`). Loaded by `numen.random` when a name of it is
first asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from numen.dispatch import core, modes
from numen.namespace.calling import raw
from numen.random.bit_generator import MT19937, plain
from numen.random.distributions import Distributions, has_gradient, made_of, untraced
from numen.transforms import draws


class RandomState(Distributions):
    """NumPy's `RandomState`, returning Arrays.

    Parameters
    ----------
    seed : None, int, array_like of int, SeedSequence or BitGenerator
        As NumPy's.

    Examples
    --------
    >>> import numen as nm
    >>> nm.random.RandomState(0).rand(2)
    array([0.5488135 , 0.71518937])
    """

    def __init__(self, seed: Any = None) -> None:
        self._made_in = modes.state.levels
        if hasattr(seed, "capsule"):  # a bit generator
            self._numpy = np.random.RandomState(seed)
        else:
            source = MT19937()
            source._legacy_seeding(seed)
            self._numpy = np.random.RandomState(source)

    def __str__(self) -> str:
        return str(self._numpy)

    def __repr__(self) -> str:
        return f"{self} at 0x{id(self):X}"

    def __getstate__(self) -> Any:
        return self.get_state(legacy=False)

    def __setstate__(self, state: Any) -> None:
        self.set_state(state)

    def __reduce__(self) -> Any:
        return _unpickled, (self._bit_generator,), self.get_state(legacy=False)

    # ------------------------------------------------------------ state

    def seed(self, seed: Any = None) -> None:
        """Start again from a seed."""
        untraced()
        self._numpy.seed(plain(seed))

    def get_state(self, legacy: bool = True) -> Any:
        """The state, for `set_state`: a tuple, or a dict with `legacy=False`."""
        return self._draw("get_state", legacy)

    def set_state(self, state: Any) -> None:
        """Go back to a state."""
        untraced()
        self._numpy.set_state(raw(state))

    # ------------------------------------------------------------ orders and picks

    def shuffle(self, x: Any) -> None:
        """Shuffle an Array (or another mutable sequence) in place along its first axis."""
        self._shuffle(x, 0, {})

    def permutation(self, x: Any) -> Any:
        """A shuffled copy of x, or of arange(x) for an int."""
        if has_gradient(x) and x._d.ndim:
            return x.take(core.ARRAY(self._order(x, 0)), 0)
        return self._draw("permutation", x)

    def choice(self, a: Any, size: Any = None, replace: Any = True, p: Any = None) -> Any:
        """Random picks from a 1-D array, or from arange(a) for an int."""
        if has_gradient(a) and a._d.ndim == 1:
            untraced()
            picks = self._numpy.choice(a._d.shape[0], size, replace, raw(p))
            return a.take(core.ARRAY(np.asarray(picks)) if size is not None else picks, 0)
        return self._draw("choice", a, size, replace, p)

    def rand(self, *args: Any) -> Any:
        """Uniform floats in [0, 1) of a shape given as arguments."""
        return self._draw("rand", *args)

    def randn(self, *args: Any) -> Any:
        """Standard normal numbers of a shape given as arguments."""
        return self._draw("randn", *args)

    def randint(self, low: Any, high: Any = None, size: Any = None, dtype: Any = int) -> Any:
        """Integers from low (inclusive) to high (exclusive)."""
        return self._draw("randint", low, high, size, dtype)

    def random_integers(self, low: Any, high: Any = None, size: Any = None) -> Any:
        """Integers from low to high, both inclusive (deprecated by NumPy)."""
        return self._draw("random_integers", low, high, size)

    def random_sample(self, size: Any = None) -> Any:
        """Uniform floats in [0, 1)."""
        return self._draw("random_sample", size)

    def random(self, size: Any = None) -> Any:
        """Uniform floats in [0, 1)."""
        return self._draw("random", size)

    def tomaxint(self, size: Any = None) -> Any:
        """Integers from 0 to the largest C long."""
        return self._draw("tomaxint", size)

    # ------------------------------------------------------------ distributions of its own

    def multivariate_normal(
        self, mean: Any, cov: Any, size: Any = None, check_valid: Any = "warn", tol: Any = 1e-8
    ) -> Any:
        """Multivariate normal distribution."""
        return self._draw("multivariate_normal", mean, cov, size, check_valid, tol)

    def standard_exponential(self, size: Any = None) -> Any:
        """Standard exponential distribution."""
        return self._draw("standard_exponential", size)

    def standard_gamma(self, shape: Any, size: Any = None) -> Any:
        """Standard gamma distribution."""
        return self._draw("standard_gamma", shape, size)

    def standard_normal(self, size: Any = None) -> Any:
        """Standard normal distribution."""
        return self._draw("standard_normal", size)


def _unpickled(bit_generator: Any) -> RandomState:
    return RandomState(made_of(bit_generator))


def _around(generator: Any) -> RandomState:
    state = RandomState.__new__(RandomState)
    state._numpy = generator
    return state


shared = _around(np.random.mtrand._rand)
"""The state behind the functions: NumPy's own."""


def _version() -> Any:
    state = shared._numpy.get_state(legacy=False)
    return (
        repr(state)
        if "key" not in state["state"]
        else (state["state"]["pos"], state["state"]["key"].tobytes(), state["has_gauss"])
    )


def _saved() -> Any:
    return shared._numpy.get_state(legacy=False)


def _restore(state: Any) -> None:
    shared._numpy.set_state(state)


draws.states.append(draws.RandomState(_version, _saved, _restore))


def seed(seed: Any = None) -> None:
    """Start the global state again from a seed, whichever bit generator it has."""
    untraced()
    np.random.seed(plain(seed))


ranf = sample = shared.random_sample
FUNCTIONS = {
    name: getattr(shared, name)
    for name in dir(RandomState)
    if not name.startswith("_") and name != "tomaxint"
} | {"ranf": ranf, "sample": sample, "seed": seed}
"""What `numen.random` offers as functions; `tomaxint` is a method only, as in NumPy."""
