"""gradcheck and gradgradcheck: whole Jacobians against finite differences; PyTorch's signatures.

A complex number counts as its two parts. Random directions at less cost: `gradients.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch.core import ArrayCore
from numen.testing.differences import Flat, random_like, units_of, values_of
from numen.testing.gradients import (
    GradientCheckError,
    cast,
    check_forward,
    check_reverse,
    difference,
    outputs,
)
from numen.transforms.batching import vmap
from numen.transforms.forward import jvp
from numen.transforms.reverse import vjp

Matrix = np.ndarray[Any, Any]


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_batched_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
) -> bool:
    """Compare the Jacobian that backward passes give with finite differences.

    Parameters
    ----------
    func : callable
        Takes `inputs`, returns an array or containers of arrays.
    inputs : Array or sequence
        Checked are those that require a gradient; they should be float64 or complex128.
    eps : float
        Step of the central differences.
    atol, rtol : float
        Allowed are atol + rtol * abs(numeric).
    raise_exception : bool
        False returns False instead of raising.
    nondet_tol : float
        How much two backward passes may differ.
    check_batched_grad, check_forward_ad, check_backward_ad : bool
        What is checked: backward passes under vmap, forward mode, backward passes.
    fast_mode : bool
        Look along random directions only.

    Raises
    ------
    GradientCheckError
        A RuntimeError and AssertionError that names input, result and elements.
    ValueError
        If no input requires a gradient, or func returns no floating or complex array.

    Examples
    --------
    >>> import numen as nm
    >>> x = nm.array([0.5, 2.0], requires_grad=True)
    >>> nm.testing.gradcheck(lambda x: x.sum() * nm.sin(x), [x])
    True
    """
    args = (inputs,) if isinstance(inputs, ArrayCore) else tuple(inputs)
    flat = Flat(func, args, _asks)
    if not flat.leaves:
        raise ValueError("gradcheck: none of the inputs requires a gradient")
    try:
        outs = outputs(flat, "gradcheck")
        if fast_mode:
            rng = np.random.default_rng(0)
            if check_backward_ad:
                check_reverse(flat, outs, (atol, rtol, eps), rng, "gradcheck")
            if check_forward_ad:
                check_forward(flat, outs, (atol, rtol, eps), rng, "gradcheck (forward mode)")
            return True
        numeric = _numeric(flat, eps)
        if check_backward_ad:
            pull = vjp(flat, *flat.leaves)[1]
            found = _reverse(flat, outs, pull)
            _compare(flat, outs, found, numeric, atol, rtol, "gradcheck")
            again = _reverse(flat, outs, pull)
            _compare(flat, outs, again, found, nondet_tol, 0.0, "gradcheck: a second backward pass")
            if check_batched_grad:
                batched = _batched(flat, outs, pull)
                what = "gradcheck: backward under vmap"
                _compare(flat, outs, batched, found, atol, rtol, what)
        if check_forward_ad:
            found = _forward(flat)
            _compare(flat, outs, found, numeric, atol, rtol, "gradcheck (forward mode)")
    except GradientCheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    fast_mode: bool = False,
) -> bool:
    """Compare second derivatives with finite differences of the first, as `gradcheck` does.

    Parameters
    ----------
    func, inputs, eps, atol, rtol, raise_exception, nondet_tol, fast_mode
        As in `gradcheck`.
    grad_outputs : sequence, optional
        Cotangents of the results, by default random; the check differentiates by them as well.

    Raises
    ------
    GradientCheckError, ValueError
        As `gradcheck`.
    """
    args = (inputs,) if isinstance(inputs, ArrayCore) else tuple(inputs)
    flat = Flat(func, args, _asks)
    outs = outputs(flat, "gradgradcheck")
    if grad_outputs is None:
        rng = np.random.default_rng(0)
        seeds = [cast(random_like(o, rng), o) for o in outs]
    else:
        seeds = [grad_outputs] if isinstance(grad_outputs, ArrayCore) else list(grad_outputs)
        seeds = [core.ARRAY.detach(s) for s in seeds]
    count = len(flat.leaves)

    def first(*both: Any) -> Any:
        return vjp(flat, *both[:count])[1](tuple(both[count:]))

    asked = [core.ARRAY.detach(x).requires_grad_() for x in (*flat.leaves, *seeds)]
    return gradcheck(
        first,
        asked,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        fast_mode=fast_mode,
    )


def _asks(x: Any) -> bool:
    return x._n is not None


def _parts(values: Any) -> Matrix:
    """The real numbers that an array consists of."""
    flat: Matrix = np.ascontiguousarray(values).reshape(-1)
    return flat.view(np.float64) if flat.dtype.kind == "c" else flat


def _joined(arrays: Sequence[Any]) -> Matrix:
    return np.concatenate([_parts(a) for a in arrays])


def _units(arrays: Sequence[Any]) -> list[tuple[int, tuple[int, ...], complex]]:
    """Which array, element and part each row or column of the Jacobian belongs to."""
    return [
        (number, index, unit)
        for number, array in enumerate(arrays)
        for index in np.ndindex(tuple(array.shape))
        for unit in units_of(array)
    ]


def _one_hot(arrays: Sequence[Any], number: int, index: tuple[int, ...], unit: complex) -> Any:
    made = [np.zeros_like(values_of(a)) for a in arrays]
    made[number][index] = unit
    return tuple([cast(m, a) for m, a in zip(made, arrays, strict=True)])


def _numeric(flat: Flat, eps: float) -> Matrix:
    columns = [_joined(flat.by_element(*place, eps)) for place in _units(flat.leaves)]
    return np.stack(columns, axis=1)


def _reverse(flat: Flat, outs: Sequence[Any], pull: Callable[..., Any]) -> Matrix:
    rows = []
    for place in _units(outs):
        grads = pull(_one_hot(outs, *place))
        rows.append(_joined([values_of(g) for g in grads]))
    return np.stack(rows)


def _batched(flat: Flat, outs: Sequence[Any], pull: Callable[..., Any]) -> Matrix:
    seeds = [_one_hot(outs, *place) for place in _units(outs)]
    stacked = tuple(
        [cast(np.stack([values_of(s[i]) for s in seeds]), o) for i, o in enumerate(outs)]
    )
    grads = [values_of(g) for g in vmap(pull)(stacked)]
    return np.stack([_joined([g[row] for g in grads]) for row in range(len(seeds))])


def _forward(flat: Flat) -> Matrix:
    columns = []
    for place in _units(flat.leaves):
        tangents = _one_hot(flat.leaves, *place)
        found = jvp(flat, tuple(flat.leaves), tangents)[1]
        columns.append(_joined([values_of(t) for t in found]))
    return np.stack(columns, axis=1)


def _compare(
    flat: Flat,
    outs: Sequence[Any],
    found: Matrix,
    numeric: Matrix,
    atol: float,
    rtol: float,
    what: str,
) -> None:
    """Raise for the entry of the Jacobian that is the most wrong."""
    allowed = atol + rtol * np.abs(numeric)
    apart = np.abs(found - numeric)
    bad = ~(apart <= allowed)
    if not bad.any():
        return
    excess = np.where(np.isnan(apart), np.inf, apart - allowed)
    row, column = np.unravel_index(int(np.argmax(excess)), excess.shape)
    out, out_index, out_unit = _units(outs)[row]
    leaf, index, unit = _units(flat.leaves)[column]
    raise GradientCheckError(
        f"{what}: result {out}, element {out_index}{_part(out_unit)} by {flat.names[leaf]}, "
        f"element {index}{_part(unit)}: {difference(found[row, column], numeric[row, column])}; "
        f"{np.count_nonzero(bad)} of {bad.size} entries differ by more than atol {atol} + rtol "
        f"{rtol}"
    )


def _part(unit: complex) -> str:
    return " (imaginary part)" if unit == 1j else ""
