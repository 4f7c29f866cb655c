"""Decompositions and Fourier transforms: torch's name to numen's function. Next: `network.py`.

A decomposition is unique up to signs, phases or order: then both results become what is unique
(`invariant`), as in torch's own tests of these gradients.
"""

from __future__ import annotations

from typing import Any

from tests.oracle.counterparts import Counterpart, axis_of, refuses
from tests.oracle.linear_algebra import transposed

import numen as nm

L = nm.linalg


def svd(x: Any, full_matrices: bool = True, *, driver: Any = None) -> Any:
    return L.svd(x, full_matrices)


def old_svd(x: Any, some: bool = True, compute_uv: bool = True) -> Any:
    refuses(not compute_uv, "zeros in place of the vectors")
    u, s, vh = L.svd(x, not some)
    return u, s, transposed(vh)


def svd_parts(result: Any) -> Any:
    """Singular values and the sizes of the vectors' entries; phases are free."""
    u, s, vh = result
    k = s.shape[-1]
    return abs(u[..., :k]), s, abs(vh[..., :k, :])


def old_svd_parts(result: Any) -> Any:
    u, s, v = result
    k = s.shape[-1]
    return abs(u[..., :k]), s, abs(v[..., :k])


def qr(x: Any, mode: str = "reduced") -> Any:
    refuses(mode == "r", "an empty Q beside R")
    return L.qr(x, mode)


def old_qr(x: Any, some: bool = True) -> Any:
    return L.qr(x, "reduced" if some else "complete")


def qr_parts(result: Any) -> Any:
    q, r = result
    return abs(q), abs(r)


def eigh(x: Any, UPLO: str = "L") -> Any:
    return L.eigh(x, UPLO)


def eigh_parts(result: Any) -> Any:
    values, vectors = result
    return values, abs(vectors)


def eigh_input(x: Any, UPLO: str = "L") -> Any:
    return L.eigvalsh(x, UPLO)


# ------------------------------------------------------------ transforms


def transform(name: str) -> Any:
    """fft.fft and the like of one axis."""
    function = getattr(nm.fft, name)

    def call(x: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        return function(x, n, axis=dim, norm=norm)

    return call


def transforms(name: str) -> Any:
    """fft.fftn and the like of several axes."""
    function = getattr(nm.fft, name)
    last = (-2, -1) if name.endswith("2") else None

    def call(x: Any, s: Any = None, dim: Any = last, norm: Any = None) -> Any:
        axes = tuple(dim) if isinstance(dim, (list, tuple)) else dim
        if isinstance(axes, int):
            axes = (axes,)
        s = (s,) if isinstance(s, int) else s
        if s is not None and axes is None:
            axes = tuple(range(-len(s), 0))
        if s is not None:  # torch's -1 keeps the length
            s = [x.shape[a] if n == -1 else n for n, a in zip(s, axes, strict=True)]
        return function(x, s, axes=axes, norm=norm)

    return call


def shift(function: Any) -> Any:
    def call(x: Any, dim: Any = None) -> Any:
        return function(x, axis_of(dim))

    return call


DECOMPOSITIONS: dict[str, Any] = {
    "matrix_exp": L.expm,
    "linalg.svd": Counterpart(svd, svd_parts),
    "linalg.svdvals": lambda x, driver=None: L.svdvals(x),
    "svd": Counterpart(old_svd, old_svd_parts),
    "linalg.qr": Counterpart(qr, qr_parts),
    "qr": Counterpart(old_qr, qr_parts),
    "linalg.eigh": Counterpart(eigh, eigh_parts),
    "linalg.eigvalsh": eigh_input,
    "linalg.eig": Counterpart(L.eig, eigh_parts),
    "linalg.eigvals": L.eigvals,
    **{f"fft.{n}": transform(n) for n in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")},
    **{f"fft.{n}": transforms(n) for n in ("fft2", "ifft2", "rfft2", "irfft2")},
    **{f"fft.{n}": transforms(n) for n in ("fftn", "ifftn", "rfftn", "irfftn")},
    "fft.fftshift": shift(nm.fft.fftshift),
    "fft.ifftshift": shift(nm.fft.ifftshift),
}
