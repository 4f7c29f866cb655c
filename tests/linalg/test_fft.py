"""numen.fft is numpy.fft on Arrays, in the precision of its argument.

Derivatives: tests/fft.
"""

import numpy as np
import pytest
from recorded import check_recorded, uniform
from same_source import compare

import numen as nm
import numen.fft
from numen.fft import fftfreq, irfft, rfft

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
DTYPES = ["int8", "bool", "float16", "float32", "float64", "complex64", "complex128"]


def test_every_name_of_numpys():
    public = {
        n for n in dir(np.fft) if n[0] != "_" and callable(getattr(np.fft, n)) and n != "test"
    }
    assert set(numen.fft.__all__) == public
    assert numen.fft.rfft is rfft


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ONE)
def test_transforms_along_an_axis(name, dtype):
    start = f"x = (np.arange(30) % 7).astype(np.{dtype}).reshape(2, 5, 3)\n"
    for arguments in ("", ", 4", ", 8, 0", ", axis=1", ", norm='ortho'", ", norm='forward', n=3"):
        compare(f"{start}r = np.fft.{name}(x{arguments})")
    for bad in (", 0", ", axis=3", ", norm='odd'", ", n=-1"):
        compare(f"{start}r = np.fft.{name}(x{bad})")
    compare(f"r = np.fft.{name}(np.ones((3, 0)).astype(np.{dtype}))")
    compare(f"r = np.fft.{name}(np.ones((0, 3)).astype(np.{dtype}))")
    compare(f"r = np.fft.{name}(np.ones(1).astype(np.{dtype}))")


@pytest.mark.parametrize("dtype", ["int8", "float32", "float64", "complex64"])
@pytest.mark.parametrize("name", MANY)
def test_transforms_over_axes(name, dtype):
    start = f"x = (np.arange(30) % 7).astype(np.{dtype}).reshape(2, 5, 3)\n"
    for arguments in ("", ", norm='ortho'", ", s=(4, 4), axes=(0, 1)", ", axes=(0, 2)"):
        compare(f"{start}r = np.fft.{name}(x{arguments})")
    compare(f"{start}r = np.fft.{name}(x, axes=(0, 5))")


def test_out():
    compare("o = np.zeros(3, complex)\nr = np.fft.fft([1, 2, 3], out=o)")
    compare("o = np.zeros(2, complex)\nr = np.fft.fft([1, 2, 3], out=o)")
    out = nm.zeros(3, dtype=nm.complex128)
    assert numen.fft.fft(nm.ones(3), out=out) is out
    assert out.tolist() == [3, 0, 0]


@pytest.mark.parametrize("name", ["fftfreq", "rfftfreq"])
def test_frequencies(name):
    for arguments in ("1", "4", "5", "8, 0.1", "8, d=2", "0", "4.0", "'x'"):
        compare(f"np.fft.{name}({arguments})")
    assert isinstance(fftfreq(3), nm.Array)


@pytest.mark.parametrize("name", ["fftshift", "ifftshift"])
def test_shifts(name):
    for shape in ((5,), (4,), (1,), (0,), (2, 3), (3, 1, 4)):
        x = f"np.arange({int(np.prod(shape))}).reshape({shape})"
        compare(f"np.fft.{name}({x})")
        compare(f"np.fft.{name}({x}, 0)")
        compare(f"np.fft.{name}({x}, axes=(-1,))")
        compare(f"np.fft.{name}({x}, axes=3)")
        if 0 not in shape:
            check_recorded(f"np.fft.{name}(x)", step=0.5, x=uniform(*shape))
            check_recorded(f"np.fft.{name}(x, -1)", step=0.5, x=uniform(*shape))


def test_recorded_transforms_carry_gradients():
    x = nm.ones(4, requires_grad=True)
    assert rfft(x).requires_grad
    assert rfft(x.detach()).requires_grad is False
    irfft(x).sum().backward()
    assert x.grad.tolist() == [1, 0, 0, 0]
