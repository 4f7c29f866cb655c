"""Eigenvalues and eigenvectors of general matrices: eig_w and eig_v, complex also where NumPy's are
real.

The columns of eig_v have length 1 and any phase: its rule holds for functions that do not depend on
the phases. Equal eigenvalues make the gradient of the vectors NaN; that of the values stays finite
where there are as many vectors. Called by `numen.linalg`, which drops imaginary parts as NumPy
does. Next: `matrix_functions.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from numen.dispatch.backends import module_of
from numen.dispatch.frames import Frame
from numen.dispatch.primitive import Primitive, conj
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
from numen.ops.spectra import gaps


def _complex(xp: Any, x: Any) -> Any:
    return x.astype(xp.result_type(x.dtype, np.complex64))


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


def _eig_w(a: Any) -> Any:
    xp = module_of(a)
    return _complex(xp, xp.linalg.eig(a)[0])


def _eig_w_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # v^-H diag(g) v^H
    turned = adjoint(eig_v(a))
    return (_solved(turned, column(g) * turned),)


def _eig_w_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    v = eig_v(args[0])
    return _diagonal(_solved(v, matmul(tangents[0], v)))


eig_w: Primitive = Primitive(
    "eig_w",
    _eig_w,
    vjp=_eig_w_vjp,
    jvp=_eig_w_jvp,
    batch=same_batch(lambda: eig_w),
    saves=(0,),
    samples=_apart,
    errors=no_squares,
)


def _eig_v(a: Any) -> Any:
    xp = module_of(a)
    return _complex(xp, xp.linalg.eig(a)[1])


def _eig_v_vjp(needs: Sequence[bool], g: Any, out: Any, a: Any) -> tuple[Any, ...]:
    # The transpose of _eig_v_jvp
    turned = adjoint(out)
    m = matmul(turned, g)
    m = m - matmul(turned, out) * row(real(_diagonal(m)))
    return (_solved(turned, matmul(conj(gaps(eig_w(a))) * m, turned)),)


def _eig_v_jvp(out: Any, args: Sequence[Any], tangents: Sequence[Any]) -> Any:
    # v c, with c the couplings, less what changes the columns' lengths (Boeddeker et al. 2017,
    # arXiv:1701.00392)
    (a,), (t,) = args, tangents
    c = gaps(eig_w(a)) * _solved(out, matmul(t, out))
    moved = matmul(out, c)
    return moved - out * row(real(_diagonal(matmul(adjoint(out), moved))))


eig_v: Primitive = Primitive(
    "eig_v",
    _eig_v,
    vjp=_eig_v_vjp,
    jvp=_eig_v_jvp,
    batch=same_batch(lambda: eig_v),
    saves=(0,),
    saves_out=True,
    samples=_apart,
    errors=no_squares,
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


ROWS = (eig_w, eig_v)
