"""ParameterList and ParameterDict: parameters by position or key, found like attributes.

Arrays that are put in become Parameters; other values are kept as they are. Next: `containers.py`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import index as as_index
from typing import Any, Self

from numen.dispatch.core import ArrayCore
from numen.nn.module import Module
from numen.nn.parameter import Parameter

__all__ = ["ParameterDict", "ParameterList"]


def _parameter(value: Any) -> Any:
    if isinstance(value, ArrayCore) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _text(value: Any) -> str:
    if isinstance(value, Parameter):
        size = "x".join(map(str, value.shape))
        return f"Parameter containing: [{value.dtype} of size {size}]"
    return repr(value)


class _Holder(Module):
    """Values in attributes, whose names `_keys` lists."""

    _keys: tuple[str, ...] = ()

    def _set(self, key: str, value: Any) -> None:
        if key not in self._keys:
            self._check_name(type(self).__name__, key)
            self._keys = (*self._keys, key)
        setattr(self, key, _parameter(value))

    def _drop(self, key: str) -> Any:
        value = getattr(self, key)
        delattr(self, key)
        self._keys = (*[k for k in self._keys if k != key],)
        return value

    def __len__(self) -> int:
        return len(self._keys)

    def _lines(self) -> list[str]:
        return [f"({key}): {_text(getattr(self, key))}" for key in self._keys]


class ParameterList(_Holder):
    """A list of parameters.

    Parameters
    ----------
    values : iterable, optional
        Arrays become Parameters.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.ParameterList([nm.ones(2), nm.zeros((2, 3))])
    ParameterList(
      (0): Parameter containing: [float64 of size 2]
      (1): Parameter containing: [float64 of size 2x3]
    )
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self.extend(values or ())

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._set(str(len(self)), value)
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values at the end."""
        for value in list(values):
            self.append(value)
        return self

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def __iter__(self) -> Iterator[Any]:
        return iter([getattr(self, key) for key in self._keys])

    def _key(self, index: int) -> str:
        n = len(self)
        if not -n <= as_index(index) < n:
            raise IndexError(f"ParameterList: index {index} is out of range for {n} values")
        return self._keys[index]

    def __getitem__(self, index: int | slice) -> Any:
        """A value by position, or a list of some of them.

        Raises
        ------
        IndexError
            If there is no such position.
        """
        if isinstance(index, slice):
            return ParameterList([getattr(self, key) for key in self._keys[index]])
        return getattr(self, self._key(index))

    def __setitem__(self, index: int, value: Any) -> None:
        self._set(self._key(index), value)


class ParameterDict(_Holder):
    """A dict of parameters.

    Parameters
    ----------
    parameters : mapping of str, or iterable of pairs, optional
        Arrays become Parameters.

    Examples
    --------
    >>> import numen as nm
    >>> gains = nm.nn.ParameterDict({"left": nm.ones(2), "right": nm.zeros(2)})
    >>> list(gains), [name for name, _ in gains.named_parameters()]
    (['left', 'right'], ['left', 'right'])
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys:
            raise KeyError(key)
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._set(key, value)

    def __delitem__(self, key: str) -> None:
        self.pop(key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """The keys, in the order they were set."""
        return self._keys

    def values(self) -> Iterable[Any]:
        """The values."""
        return [getattr(self, key) for key in self._keys]

    def items(self) -> Iterable[tuple[str, Any]]:
        """(key, value)."""
        return [(key, getattr(self, key)) for key in self._keys]

    def update(self, parameters: Any) -> None:
        """Set values from a mapping or from pairs."""
        pairs = parameters.items() if hasattr(parameters, "items") else parameters
        for key, value in dict(pairs).items():
            self[key] = value

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or a default."""
        return getattr(self, key) if key in self._keys else default

    def pop(self, key: str) -> Any:
        """Take a value out and return it.

        Raises
        ------
        KeyError
            If there is no such key.
        """
        if key not in self._keys:
            raise KeyError(key)
        return self._drop(key)

    def clear(self) -> None:
        """Take all values out."""
        for key in self._keys:
            self._drop(key)
