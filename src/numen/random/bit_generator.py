"""NumPy's bit generators and SeedSequence, taking Arrays as seeds and giving states of Arrays.

Each class is NumPy's with these conversions, so NumPy's generators take the instances; an instance
of NumPy's own class counts as one of it. Loaded by `numen.random` when asked for, as
`numpy.random` takes a while to import. Next: `generator.py`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from numen.namespace.calling import raw, wrap_results

NAMES = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def plain(value: Any) -> Any:
    """A seed as NumPy takes it."""
    data = raw(value)
    return data[()] if isinstance(data, np.ndarray) and not data.ndim else data


class _AlsoNumPys(type):
    """Lets the instances of NumPy's class of the same name count as instances."""

    _base: Any

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._base)


class _OnArrays(metaclass=_AlsoNumPys):
    """What the bit generators have of numen."""

    _base: ClassVar[Any]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*[plain(a) for a in args], **{k: plain(v) for k, v in kwargs.items()})

    @property
    def state(self) -> Any:
        """The state, a dict of ints and Arrays; set it to go back."""
        return _with_arrays(super().state)  # type: ignore[misc]

    @state.setter
    def state(self, value: Any) -> None:
        self._base.state.__set__(self, raw(value))

    def random_raw(self, size: Any = None, output: bool = True) -> Any:
        """The next raw bits, as an int or an Array of integers."""
        return wrap_results(super().random_raw(raw(size), output), "random_raw")  # type: ignore[misc]

    def _legacy_seeding(self, seed: Any) -> None:
        super()._legacy_seeding(plain(seed))  # type: ignore[misc]


def _with_arrays(state: Any) -> Any:
    if type(state) is dict:
        return {k: _with_arrays(v) for k, v in state.items()}
    return wrap_results(state, "state")


def _make(name: str) -> Any:
    base = getattr(np.random, name)
    doc = f"NumPy's `{name}`, with Arrays for seeds and states.\n\n    See `numpy.random.{name}`."
    body = {"_base": base, "__doc__": doc, "__module__": __name__}
    return _AlsoNumPys(name, (_OnArrays, base), body)


MT19937, PCG64, PCG64DXSM, Philox, SFC64 = map(_make, NAMES)
BitGenerator = np.random.BitGenerator


class SeedSequence(metaclass=_AlsoNumPys):
    """NumPy's `SeedSequence`, made of ints and Arrays of ints.

    Examples
    --------
    >>> import numen as nm
    >>> nm.random.SeedSequence(nm.arange(3)).entropy
    array([0, 1, 2])
    """

    _base: ClassVar[Any] = np.random.SeedSequence

    def __new__(cls, entropy: Any = None, **more: Any) -> Any:
        return np.random.SeedSequence(plain(entropy), **{k: plain(v) for k, v in more.items()})


def __getattr__(name: str) -> Any:
    if name.startswith("_") or not hasattr(np.random.bit_generator, name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(np.random.bit_generator, name)
