"""check_grads, gradcheck and gradgradcheck: derivatives against finite differences.

`check_grads` (JAX's) looks along random directions, forwards, backwards and at higher orders;
`gradcheck` (PyTorch's) compares whole Jacobians. Both name the element that is wrong. The finite
differences are in `differences.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import modes
from numen.dispatch.convert import as_array
from numen.dispatch.core import ArrayCore
from numen.errors import NumenError
from numen.testing.differences import Flat, pairing, random_like, units_of, values_of
from numen.transforms.batching import vmap
from numen.transforms.forward import jvp
from numen.transforms.reverse import vjp

TOLERANCES = {"float64": 1e-5, "float32": 4e-3, "float16": 5e-2, "bfloat16": 3e-1}
"""By the coarsest dtype among arguments and results; complex as their parts, others as float16."""

DIRECTIONS = 3


class GradientCheckError(NumenError, AssertionError, RuntimeError):
    """A derivative differs from the finite difference."""


# ------------------------------------------------------------ along random directions


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 1,
    modes: Sequence[str] = ("fwd", "rev"),
    atol: float | None = None,
    rtol: float | None = None,
    eps: float | None = None,
) -> None:
    """Compare f's derivatives with finite differences along random directions.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or tuples, lists and dicts of them; what is not floating or
        complex is passed on.
    args : sequence
        The point, one entry for each positional argument.
    order : int
        Up to which order; the derivative of order n is checked as the derivative of that below.
    modes : sequence of "fwd" and "rev"
        Forward mode, reverse mode or both; at higher orders all their combinations.
    atol, rtol : float, optional
        Tolerances; by default 1e-5 in float64, 4e-3 in float32, coarser below.
    eps : float, optional
        Step of the differences; by default the cube root of the dtype's resolution.

    Raises
    ------
    GradientCheckError
        An AssertionError, if a derivative is wrong: it names the argument and element.
    ValueError
        If f has no differentiable argument or result.

    Examples
    --------
    >>> import numen as nm
    >>> nm.testing.check_grads(lambda x: nm.sin(x) * x, (nm.array([0.5, 2.0]),), order=2)
    """
    if isinstance(modes, str):
        modes = (modes,)
    wrong = [mode for mode in modes if mode not in ("fwd", "rev")]
    if wrong or not modes:
        raise ValueError(f'check_grads: modes are "fwd" and "rev", got {modes!r}')
    rng = np.random.default_rng(0)
    _check(Flat(f, args), order, tuple(modes), (atol, rtol, eps), rng, "f")


def _check(
    flat: Flat,
    order: int,
    wanted: tuple[str, ...],
    given: tuple[float | None, float | None, float | None],
    rng: Any,
    name: str,
) -> None:
    outs = _outputs(flat, "check_grads")
    atol, rtol, eps = _tolerances(flat, outs, given)
    for mode in wanted:
        check = _check_forward if mode == "fwd" else _check_reverse
        for _ in range(DIRECTIONS):
            check(flat, outs, (atol, rtol, eps), rng, name)
        if order > 1:
            _check(*_derived(flat, outs, mode, rng), order - 1, wanted, given, rng, mode)  # type: ignore[call-arg]


def _outputs(flat: Flat, what: str) -> list[Any]:
    """The results at the point.

    Raises
    ------
    ValueError
        If there is nothing to differentiate.
    """
    if not flat.leaves:
        raise ValueError(f"{what}: no argument is a floating or complex array")
    with modes.no_grad():
        outs = list(flat(*flat.leaves))
    if not outs:
        raise ValueError(f"{what}: f returns no floating or complex array")
    return outs


def _tolerances(
    flat: Flat, outs: Sequence[Any], given: tuple[float | None, float | None, float | None]
) -> tuple[float, float, float]:
    names = {str(x.dtype).replace("complex128", "float64").replace("complex64", "float32")
             for x in (*flat.leaves, *outs)}
    tolerance = max([TOLERANCES.get(name, TOLERANCES["float16"]) for name in names])
    steps = {"float64": 6e-6, "float32": 5e-3, "float16": 0.1, "bfloat16": 0.2}
    step = max([steps.get(name, 0.1) for name in names])
    atol, rtol, eps = given
    return (
        tolerance if atol is None else atol,
        tolerance if rtol is None else rtol,
        step if eps is None else eps,
    )
