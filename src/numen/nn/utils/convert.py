"""Parameters as one vector, and back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from numen.dispatch import views
from numen.dispatch.modes import no_grad
from numen.errors import ShapeError, describe
from numen.namespace import concatenate


def parameters_to_vector(parameters: Iterable[Any]) -> Any:
    """The elements of all parameters, one after another; gradients flow back.

    Examples
    --------
    >>> import numen as nm
    >>> nm.nn.utils.parameters_to_vector([nm.ones((2, 1)), nm.zeros(1)]).tolist()
    [1.0, 1.0, 0.0]
    """
    return concatenate([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Any, parameters: Iterable[Any]) -> None:
    """Write the elements of a vector into the parameters, in place.

    Raises
    ------
    ShapeError
        If the vector does not hold as many elements as they do; nothing is written then.

    Examples
    --------
    >>> import numen as nm
    >>> w, b = nm.ones((2, 1)), nm.ones(1)
    >>> nm.nn.utils.vector_to_parameters(nm.array([1.0, 2.0, 3.0]), [w, b])
    >>> w.tolist(), b.tolist()
    ([[1.0], [2.0]], [3.0])
    """
    targets = list(parameters)
    total = sum(p.size for p in targets)
    if vec.shape != (total,):
        raise ShapeError(f"vector_to_parameters: expected shape ({total},), got {describe(vec)}")
    at = 0
    with no_grad():
        for p in targets:
            part = vec[at : at + p.size].reshape(p.shape)
            views.write(p, part, "vector_to_parameters", casting="same_kind")
            at += p.size
