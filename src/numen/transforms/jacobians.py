"""Jacobians and Hessians: a transform of one mode, batched over a basis by `vmap`.

`jacrev` pulls the basis of the results back, `jacfwd` pushes the basis of the arguments forward,
`hessian` pushes through a pull. Next: `docs/howto/differentiate.md`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from numen.dispatch import core, slots
from numen.dispatch.convert import as_array
from numen.errors import GradientError, describe
from numen.transforms.batching import unbatched, vmap
from numen.transforms.forward import jvp
from numen.transforms.reverse import positions_of, value_and_grad, vjp
from numen.transforms.trees import Structure, flatten, map_leaves

Argnums = int | Sequence[int]


def jacrev(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Make the function of f's Jacobian, by reverse mode: right for few results.

    Parameters
    ----------
    f : callable
        Takes and returns arrays, or tuples, lists and dicts of them.
    argnums : int or sequence of int
        Which positional arguments; one Jacobian for an int, a tuple for a sequence.
    has_aux : bool
        f returns a pair, whose second part is passed on.
    chunk_size : int, optional
        Pull so many results' rows back at once, to bound the memory.

    Returns
    -------
    callable
        Gives arrays of shape result.shape + argument.shape, in the result's containers with the
        argument's containers inside. Of a complex result each row is the gradient of its element:
        for an analytic function the conjugate of the derivative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.jacrev(lambda x: x**2)(nm.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        positions = positions_of(argnums, len(args), "jacrev")
        inner = _of_arguments(f, args, kwargs, positions)
        chosen = [args[i] for i in positions]
        if has_aux:
            out, pull, aux = vjp(inner, *chosen, has_aux=True)
        else:
            out, pull = vjp(inner, *chosen)
        leaves, form = flatten(out)
        rows = vmap(pull, in_axes=0, chunk_size=chunk_size)(_basis(leaves, form))
        parts, shape = flatten(tuple(chosen))
        columns = flatten(rows)[0]
        jacobian = _arranged(
            [_split_rows(c, leaves, as_array(p)) for c, p in zip(columns, parts, strict=True)],
            form,
            shape,
            isinstance(argnums, int),
        )
        return (jacobian, aux) if has_aux else jacobian

    return wrapped


def jacfwd(
    f: Callable[..., Any],
    argnums: Argnums = 0,
    has_aux: bool = False,
    *,
    chunk_size: int | None = None,
    randomness: str = "same",
) -> Callable[..., Any]:
    """Make the function of f's Jacobian, by forward mode: right for few arguments.

    See `jacrev` for the parameters and the result's form; `randomness` is vmap's. For complex
    arguments each column is the derivative along the real axis: of an analytic function its
    derivative.

    Examples
    --------
    >>> import numen as nm
    >>> nm.jacfwd(lambda x: nm.stack([x.sum(), x.prod()]))(nm.array([2.0, 3.0]))
    array([[1., 1.],
           [3., 2.]])
    """

    @functools.wraps(f)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        positions = positions_of(argnums, len(args), "jacfwd")
        inner = _of_arguments(f, args, kwargs, positions)
        chosen = tuple([args[i] for i in positions])
        parts, shape = flatten(chosen)
        arrays = [as_array(p) for p in parts]
        for i, a in enumerate(arrays):
            if not core.is_differentiable(a._d.dtype):
                raise GradientError(f"jacfwd: argument {i} carries no derivative: {describe(a)}")

        auxes: list[Any] = []

        def push(direction: Any) -> Any:
            _, tangent, *aux = jvp(inner, chosen, direction, has_aux)
            auxes[:] = [map_leaves(unbatched, a) for a in aux]
            return tangent

        columns = vmap(push, out_axes=-1, randomness=randomness, chunk_size=chunk_size)(
            _basis(arrays, shape)
        )
        leaves, form = flatten(columns)
        blocks = [_split_columns(c, arrays) for c in leaves]
        by_part = [[block[k] for block in blocks] for k in range(len(arrays))]
        jacobian = _arranged(by_part, form, shape, isinstance(argnums, int))
        return (jacobian, auxes[0]) if has_aux else jacobian

    return wrapped


def hessian(
    f: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Make the function of f's second derivatives: forward over reverse.

    f returns a real array of one element, or several; the Hessian of an argument of shape s has the
    shape result.shape + s + s.

    Examples
    --------
    >>> import numen as nm
    >>> nm.hessian(lambda x: (x**3).sum())(nm.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return jacfwd(jacrev(f, argnums, has_aux), argnums, has_aux)


def hvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    """The product of f's Hessian with a direction, without the Hessian: forward over reverse.

    Parameters
    ----------
    f : callable
        Returns a real array of one element.
    primals, tangents : tuple or list
        f's arguments and the direction, as for `jvp`.

    Returns
    -------
    value, product
        f(*primals), and one array of each argument's form; alone for a single argument.

    Examples
    --------
    >>> import numen as nm
    >>> nm.hvp(lambda x: (x**3).sum(), (nm.array([1.0, 2.0]),), (nm.array([1.0, 0.0]),))
    (np.float64(9.0), array([6., 0.]))
    """
    numbers = tuple(range(len(primals)))
    (value, _), (_, product) = jvp(value_and_grad(f, numbers), primals, tangents)
    return value, product[0] if len(primals) == 1 else product


# ------------------------------------------------------------ the basis and the blocks


def _of_arguments(
    f: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], positions: Sequence[int]
) -> Callable[..., Any]:
    """f as a function of the arguments at `positions`."""

    def inner(*chosen: Any) -> Any:
        full = list(args)
        for i, x in zip(positions, chosen, strict=True):
            full[i] = x
        return f(*full, **kwargs)

    return inner


def _basis(leaves: Sequence[Any], form: Structure) -> Any:
    """The unit vectors of the space of all leaves together, along a first axis."""
    sizes = [int(x.size) for x in leaves]
    total = sum(sizes)
    parts, start = [], 0
    for x, size in zip(leaves, sizes, strict=True):
        unit = np.eye(total, size, -start, dtype=x.dtype)
        parts.append(core.new_constant(unit.reshape((total, *x.shape))))
        start += size
    return form.unflatten(parts)


def _split_rows(rows: Any, results: Sequence[Any], argument: Any) -> list[Any]:
    """The Jacobians of each result, from one array with all results' rows along axis 0."""
    found, start = [], 0
    for x in results:
        part = slots.primitive("getitem")(rows, index=(slice(start, start + int(x.size), 1),))
        shape = (*x.shape, *argument.shape)
        found.append(slots.primitive("reshape")(part, shape=shape))
        start += int(x.size)
    return found


def _split_columns(columns: Any, arguments: Sequence[Any]) -> list[Any]:
    """The Jacobians to each argument, from one array with all arguments' columns along the last
    axis."""
    found, start = [], 0
    outer = tuple(columns.shape[:-1])
    index = tuple([slice(0, n, 1) for n in outer])
    for x in arguments:
        stop = start + int(x.size)
        part = slots.primitive("getitem")(columns, index=(*index, slice(start, stop, 1)))
        found.append(slots.primitive("reshape")(part, shape=(*outer, *x.shape)))
        start = stop
    return found


def _arranged(blocks: list[list[Any]], form: Structure, arguments: Structure, single: bool) -> Any:
    """blocks[argument leaf][result leaf] as the result's container of the arguments' containers."""
    per_result = []
    for i in range(form.count):
        parts = arguments.unflatten([block[i] for block in blocks])
        per_result.append(parts[0] if single else parts)
    return form.unflatten(per_result)
