"""eig_parts: eigenvectors and eigenvalues of general matrices, as rows below each other, complex
also where NumPy's are real.

The eigenvectors, columns, have length 1 and any phase: the rule holds for functions that do not
depend on the phases, and a backward pass of others raises GradientError. Equal eigenvalues make the
gradient of their vectors NaN; that of the values stays finite where there are as many vectors.
Called by `numen.linalg` and `nm.roots`, which drop imaginary parts as NumPy does. Next:
`matrix_functions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.derived import conj, times
from numen.dispatch.frames import Frame
from numen.dispatch.primitive import Primitive
from numen.errors import GradientError, describe
from numen.ops.common import constant
from numen.ops.comparisons import not_equal
from numen.ops.complex_parts import imag, real
from numen.ops.linear_algebra import adjoint, column, matmul, row
from numen.ops.matrices import no_squares, same_batch, solve
from numen.ops.reductions import any as any_of
from numen.ops.reductions import sum
from numen.ops.samples import DType, Inputs, Rng, distinct, draw
from numen.ops.selection import where
from numen.ops.spectra import PHASES, gaps, packed, phase_excess, refuse_choice, split_eigen


def _solved(v: Any, x: Any) -> Any:
    try:
        return solve(v, x)
    except np.linalg.LinAlgError as error:
        raise GradientError(
            f"backward: eig has no derivative where the eigenvectors do not span everything; got "
            f"{describe(v)} of them"
        ) from error


def _diagonal(x: Any) -> Any:
    same = constant(np.eye(x.shape[-1], dtype=np.bool_), x)
    return sum(where(same, x, 0), axis=(len(x.shape) - 1,), keepdims=False)


def _apart(rng: Rng, dtype: DType) -> Inputs:
    """Matrices whose eigenvalues lie apart; those of the first are complex."""
    out: Inputs = []
    for shape in ((3, 3), (2, 4, 4), (1, 1)):
        noise = draw(rng, shape, dtype, -1.0, 1.0)
        noise = noise * 0.3 if dtype.kind in "fc" else noise
        ramp = np.diag(distinct(rng, (shape[-1],), np.dtype(np.float64), 1.0))
        if shape == (3, 3):
            ramp[:2, :2] = [[1, 2], [-2, 1]]
        a = noise | np.eye(shape[-1], dtype=bool) if dtype.kind == "b" else noise + ramp
        out.append(((a.astype(dtype),), {}))
    return out


def _eig_parts(a: Any) -> Any:
    xp = module_of(a)
    w, v = xp.linalg.eig(a)
    parts = xp.concatenate([v, w[..., None, :]], axis=-2)
    return parts.astype(xp.result_type(parts.dtype, np.complex64))


def _eig_parts_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # The transpose of _eig_parts_jvp
    (v, w), (gv, gw) = split_eigen(out), split_eigen(g)
    turned = adjoint(v)
    m = matmul(turned, gv)
    refuse_choice("eig", PHASES, phase_excess(m), g)
    m = m - matmul(turned, v) * row(real(_diagonal(m)))
    return (_solved(turned, matmul(times(m, conj(gaps(w))), turned) + column(gw) * turned),)


def _eig_parts_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    # Boeddeker et al. 2017 (arXiv:1701.00392): with p = v^-1 da v, w moves by the diagonal of p,
    # v by v (p over the gaps) less what changes the columns' lengths
    v, w = split_eigen(out)
    p = _solved(v, matmul(tangents[0], v))
    moved = matmul(v, times(p, gaps(w)))
    moved = moved - v * row(real(_diagonal(matmul(adjoint(v), moved))))
    return packed(moved, row(_diagonal(p)))


eig_parts: Primitive = Primitive(
    "eig_parts",
    _eig_parts,
    vjp=_eig_parts_vjp,
    jvp=_eig_parts_jvp,
    batch=same_batch(lambda: eig_parts),
    saves_out=True,
    samples=_apart,
    errors=no_squares,
    least_ndim=(2,),
)


def beneath(x: Any) -> Any:
    """The Array with the values themselves, of all examples, where transforms run."""
    while isinstance(x._d, Frame):
        x = x._d.value
    return x


def are_real(a: Any, values: Any) -> bool:
    """Whether NumPy gives the eigenvalues of `a` as real numbers; under `vmap`, of all examples."""
    if a.dtype.kind == "c":
        return False
    parts = not_equal(imag(beneath(values)), 0)
    return not bool(any_of(parts, axis=tuple(range(len(parts.shape))), keepdims=False))


ROWS = (eig_parts,)
