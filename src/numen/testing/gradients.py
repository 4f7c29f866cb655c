"""check_grads: derivatives against finite differences along random directions, in both modes and at
higher orders; JAX's signature.

A derivative that is wrong is then looked for element by element, so that the error names it. The
finite differences are in `differences.py`. Next: `jacobians.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core
from numen.dispatch import modes as _modes
from numen.errors import NumenError
from numen.testing.differences import Flat, pairing, random_like, units_of, values_of
from numen.transforms.forward import jvp
from numen.transforms.reverse import vjp

TOLERANCES = {"float64": 1e-5, "float32": 4e-3, "float16": 5e-2, "bfloat16": 3e-1}
STEPS = {"float64": 6e-6, "float32": 5e-3, "float16": 0.1, "bfloat16": 0.2}
"""By the coarsest dtype among arguments and results; complex numbers as their parts, others as
bfloat16."""

DIRECTIONS = 3
MOST_ELEMENTS = 512
"""How many elements are looked at one by one, to name a wrong one."""

Limits = tuple[float, float, float]
Given = tuple[float | None, float | None, float | None]


class GradientCheckError(NumenError, AssertionError, RuntimeError):
    """A derivative differs from the finite difference."""


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
    wanted = (modes,) if isinstance(modes, str) else tuple(modes)
    if not wanted or any([mode not in ("fwd", "rev") for mode in wanted]):
        raise ValueError(f'check_grads: modes are "fwd" and "rev", got {modes!r}')
    _check(Flat(f, args), order, wanted, (atol, rtol, eps), np.random.default_rng(0), "f")


def _check(flat: Flat, order: int, wanted: Sequence[str], given: Given, rng: Any, of: str) -> None:
    outs = outputs(flat, "check_grads")
    limits = limits_for(flat, outs, given)
    for mode in wanted:
        what = f"check_grads: derivative of {of} ({mode})"
        for _ in range(DIRECTIONS):
            (check_forward if mode == "fwd" else check_reverse)(flat, outs, limits, rng, what)
        if order > 1:
            derived = _derived(flat, outs, mode, rng)
            _check(derived, order - 1, wanted, given, rng, f"the derivative ({mode}) of {of}")


def outputs(flat: Flat, what: str) -> list[Any]:
    """The results at the point.

    Raises
    ------
    ValueError
        If there is nothing to differentiate.
    """
    if not flat.leaves:
        raise ValueError(f"{what}: no argument is a floating or complex array")
    with _modes.no_grad():
        outs = list(flat(*flat.leaves))
    if not outs:
        raise ValueError(f"{what}: the function returns no floating or complex array")
    return outs


def limits_for(flat: Flat, outs: Sequence[Any], given: Given) -> Limits:
    """atol, rtol and eps, by the dtypes where they are not given."""
    names = {_part_dtype(x.dtype) for x in (*flat.leaves, *outs)}
    tolerance = max([TOLERANCES.get(name, TOLERANCES["bfloat16"]) for name in names])
    step = max([STEPS.get(name, STEPS["bfloat16"]) for name in names])
    atol, rtol, eps = given
    return (
        tolerance if atol is None else atol,
        tolerance if rtol is None else rtol,
        step if eps is None else eps,
    )


def _part_dtype(dtype: Any) -> str:
    return {"complex128": "float64", "complex64": "float32"}.get(dtype.name, str(dtype.name))


def _derived(flat: Flat, outs: Sequence[Any], mode: str, rng: Any) -> Flat:
    """The derivative along a random direction, as a function of the leaves."""
    if mode == "fwd":
        tangents = tuple([cast(random_like(x, rng), x) for x in flat.leaves])

        def derivative(*leaves: Any) -> Any:
            return jvp(flat, leaves, tangents)[1]

    else:
        cotangents = tuple([cast(random_like(o, rng), o) for o in outs])

        def derivative(*leaves: Any) -> Any:
            return vjp(flat, *leaves)[1](cotangents)

    derived = Flat(derivative, flat.leaves)
    derived.names = flat.names
    return derived


def cast(values: Any, like: Any) -> Any:
    """An Array of these values, of the dtype of `like`."""
    return core.ARRAY.astype(core.ARRAY(np.asarray(values)), like.dtype)


def check_forward(flat: Flat, outs: Sequence[Any], limits: Limits, rng: Any, what: str) -> None:
    """Compare a directional derivative of all results."""
    atol, rtol, eps = limits
    tangents = [cast(random_like(x, rng), x) for x in flat.leaves]
    found = _tangents(flat, tangents)
    numeric = flat.along([values_of(t) for t in tangents], eps)
    for number, (a, n) in enumerate(zip(found, numeric, strict=True)):
        bad = ~(np.abs(a - n) <= atol + rtol * np.abs(n))
        if bad.any():
            _blame_forward(flat, limits, what)
            index = _worst(a, n)
            raise GradientCheckError(
                f"{what} along a random direction, result {number}, element {index}: "
                + difference(a[index], n[index])
                + f"; {np.count_nonzero(bad)} of {a.size} elements differ by more than atol {atol} "
                f"+ rtol {rtol}"
            )


def check_reverse(flat: Flat, outs: Sequence[Any], limits: Limits, rng: Any, what: str) -> None:
    """Compare the gradient of a random sum of the results along a random direction."""
    atol, rtol, eps = limits
    cotangents = [cast(random_like(o, rng), o) for o in outs]
    directions = [values_of(cast(random_like(x, rng), x)) for x in flat.leaves]
    grads = [values_of(g) for g in vjp(flat, *flat.leaves)[1](tuple(cotangents))]
    numeric = flat.along(directions, eps)
    weights = [values_of(c) for c in cotangents]
    analytic = sum([pairing(g, d) for g, d in zip(grads, directions, strict=True)])
    total = sum([pairing(w, n) for w, n in zip(weights, numeric, strict=True)])
    terms = [np.abs(w * n) for w, n in zip(weights, numeric, strict=True)]
    scale = max(abs(total), float(np.sqrt(sum([np.sum(t * t) for t in terms]))))
    if not abs(analytic - total) <= atol + rtol * scale:
        _blame_reverse(flat, weights, grads, limits, what)
        raise GradientCheckError(
            f"{what} along a random direction: {difference(analytic, total)}; atol {atol}, "
            f"rtol {rtol}"
        )


def _tangents(flat: Flat, tangents: Sequence[Any]) -> list[Any]:
    return [values_of(t) for t in jvp(flat, tuple(flat.leaves), tuple(tangents))[1]]


def _elements(flat: Flat) -> Iterator[tuple[int, tuple[int, ...], complex]]:
    """Leaf, index and direction of every element, up to a number."""
    count = 0
    for number, leaf in enumerate(flat.leaves):
        for index in np.ndindex(tuple(leaf.shape)):
            for unit in units_of(leaf):
                count += 1
                if count > MOST_ELEMENTS:
                    return
                yield number, index, unit


def _blame_reverse(
    flat: Flat, weights: Sequence[Any], grads: Sequence[Any], limits: Limits, what: str
) -> None:
    """Raise for the element whose gradient is the most wrong, if one can be found."""
    atol, rtol, eps = limits
    faults = []
    for number, index, unit in _elements(flat):
        slopes = flat.by_element(number, index, unit, eps)
        numeric = sum([pairing(w, s) for w, s in zip(weights, slopes, strict=True)])
        analytic = pairing(grads[number][index], unit)
        excess = abs(analytic - numeric) / (atol + rtol * abs(numeric))
        if not excess <= 1:
            faults.append(
                (excess, f"{_place(flat, number, index, unit)}: {difference(analytic, numeric)}")
            )
    _raise_worst(faults, flat, limits, what)


def _blame_forward(flat: Flat, limits: Limits, what: str) -> None:
    """Raise for the argument's element whose tangent goes the most wrong, if one can be found."""
    atol, rtol, eps = limits
    faults = []
    for number, index, unit in _elements(flat):
        directions = [np.zeros_like(values_of(x)) for x in flat.leaves]
        directions[number][index] = unit
        tangents = [cast(d, x) for d, x in zip(directions, flat.leaves, strict=True)]
        found, numeric = _tangents(flat, tangents), flat.along(directions, eps)
        for out, (a, n) in enumerate(zip(found, numeric, strict=True)):
            if not a.size:
                continue
            at = _worst(a, n)
            excess = abs(a[at] - n[at]) / (atol + rtol * abs(n[at]))
            if not excess <= 1:
                place = _place(flat, number, index, unit)
                text = f"{place}, in result {out}, element {at}: {difference(a[at], n[at])}"
                faults.append((excess, text))
    _raise_worst(faults, flat, limits, what)


def _worst(a: Any, n: Any) -> tuple[int, ...]:
    apart = np.abs(a - n)
    apart = np.where(np.isnan(apart), np.inf, apart)
    return tuple([int(i) for i in np.unravel_index(int(np.argmax(apart)), a.shape)])


def _place(flat: Flat, number: int, index: tuple[int, ...], unit: complex) -> str:
    part = " (imaginary part)" if unit == 1j else ""
    return f"{flat.names[number]}, element {index}{part}"


def difference(analytic: Any, numeric: Any) -> str:
    """Two values of a derivative and how far they are apart, in words."""
    apart = abs(analytic - numeric)
    size = max(abs(analytic), abs(numeric))
    relative = apart / size if size else 0.0
    return f"analytic {analytic:.8g}, numeric {numeric:.8g}, relative error {relative:.2g}"


def _raise_worst(
    faults: Sequence[tuple[float, str]], flat: Flat, limits: Limits, what: str
) -> None:
    if faults:
        count = sum([len(units_of(x)) * x.size for x in flat.leaves])
        _, text = max(faults, key=lambda fault: (np.isnan(fault[0]), fault[0]))
        raise GradientCheckError(
            f"{what}, {text}; {len(faults)} of {min(count, MOST_ELEMENTS)} elements differ by more "
            f"than atol {limits[0]} + rtol {limits[1]}"
        )
