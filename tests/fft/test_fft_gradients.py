"""Derivatives of the discrete Fourier transforms: differences, exact transposes, torch, jit."""

import numpy as np
import pytest
from recorded import check_recorded, check_twice, cotangent, inner, uniform

import numen as nm
import numen.fft
from numen.errors import GradientError
from tolerances import RELATIVE, assert_close

ONE = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
MANY = ["fft2", "ifft2", "rfft2", "irfft2", "fftn", "ifftn", "rfftn", "irfftn"]
OF_REAL = {"rfft", "ihfft", "rfft2", "rfftn"}
FORMS_ONE = ["", ", 4", ", 5", ", 9, 0", ", axis=1, norm='ortho'", ", 4, norm='forward'"]
FORMS_MANY = [
    *("", ", s=(4, 2), axes=(0, 1)", ", axes=(1, 0), norm='ortho'", ", s=(-1, 5), axes=(0, 1)"),
    ", axes=(-1, 1), norm='forward'",  # twice over the last axis
]
TEXTS = [f"np.fft.{name}(x{form})" for name in ONE for form in FORMS_ONE]
TEXTS += [f"np.fft.{name}(x{form})" for name in MANY for form in FORMS_MANY]


def kinds(text):
    return (False,) if text.split(".")[2].split("(")[0] in OF_REAL else (False, True)


@pytest.mark.parametrize("text", TEXTS)
def test_gradients(text):
    for is_complex in kinds(text):
        check_recorded(text, step=0.5, x=uniform(3, 5, complex=is_complex))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "irfftn"])
def test_second_derivatives(name):
    for is_complex in kinds(f"np.fft.{name}("):
        x = uniform(2, 4, complex=is_complex)
        check_twice(f"np.fft.{name}(x * x * x)", x=x)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("length", [1, 2, 3, 7, 8, 30])
@pytest.mark.parametrize("name", ONE)
def test_the_gradient_is_the_exact_transpose(name, length, dtype):
    if np.dtype(dtype).kind == "c" and name in OF_REAL:
        return
    x = uniform(2, length, complex=np.dtype(dtype).kind == "c").astype(dtype)
    leaf = nm.array(x, requires_grad=True)
    out = getattr(numen.fft, name)(leaf, norm="ortho", n=length)
    assert out.dtype == getattr(np.fft, name)(x, n=length).dtype
    weight = cotangent(out.detach().numpy())
    out.backward(nm.array(weight))
    gradient = leaf.grad.numpy()
    assert gradient.dtype == x.dtype
    forward, back = inner(weight, out.detach().numpy()), inner(gradient, x)
    assert forward == pytest.approx(back, rel=0, abs=100 * RELATIVE[dtype] * (1 + abs(back)))


@pytest.mark.parametrize("n", [4, 5])
def test_imaginary_parts_that_are_not_read_have_gradient_zero(n):
    x = nm.array(uniform(3, complex=True), requires_grad=True)
    (numen.fft.irfft(x, n) * nm.arange(float(n))).sum().backward()
    assert x.grad.imag[0] == 0
    assert (x.grad.imag[-1] == 0) == (n == 4)
    assert x.grad.imag[1] != 0


def test_of_a_pure_tone():
    n = 8
    tone = np.cos(2 * np.pi * np.arange(n) / n)
    x = nm.array(tone, requires_grad=True)
    numen.fft.rfft(x)[1].real.backward()
    assert_close(x.grad.numpy(), tone)


def test_empty_batches_and_single_elements():
    for name in ONE:
        for shape in ((0, 4), (3, 2), (1, 2)):
            x = nm.zeros(shape, requires_grad=True)
            out = getattr(numen.fft, name)(x)
            out.backward(nm.ones_like(out))
            assert x.grad.shape == shape


def test_errors_of_recorded_calls():
    x = nm.ones(4, requires_grad=True)
    for call, error in [
        (lambda: numen.fft.fft(x, 0), ValueError),
        (lambda: numen.fft.fft(x, axis=1), IndexError),
        (lambda: numen.fft.fft(x, norm="odd"), ValueError),
        (lambda: numen.fft.irfft(x[:1]), ValueError),
        (lambda: numen.fft.fftn(x, (2, 2), (0,)), ValueError),
        (lambda: numen.fft.rfft(x + 1j), TypeError),
        (lambda: numen.fft.fft(x, out=nm.zeros(4, dtype=complex)), GradientError),
    ]:
        with pytest.raises(error):
            call()


def test_shifts_pass_complex_gradients():
    check_recorded("np.fft.fftshift(x)", step=0.5, x=uniform(5, complex=True))
    check_recorded("np.fft.ifftshift(x, 0)", step=0.5, x=uniform(3, 2, complex=True))


def test_a_convolution_by_transforms():
    x, k = nm.array(uniform(6)), nm.array(uniform(3, seed=1))

    def by_transforms(x, k):
        return numen.fft.irfft(numen.fft.rfft(x, 8) * numen.fft.rfft(k, 8), 8)

    def loss(f):
        return lambda x, k: (f(x, k) ** 3).sum()

    for mine, direct in zip(
        nm.grad(loss(by_transforms), (0, 1))(x, k), nm.grad(loss(nm.convolve), (0, 1))(x, k),
        strict=True,
    ):  # fmt: skip
        assert_close(mine.numpy(), direct.numpy(), 100)


def test_traced_transforms_equal_eager_ones():
    def loss(x):
        half = numen.fft.rfft(x, 10)
        whole = numen.fft.ifftn(numen.fft.fft2(x))
        return (abs(half) ** 2).sum() + whole.real.sum() + (numen.fft.irfft(half) ** 3).sum()

    compiled, slope = nm.jit(loss), nm.jit(nm.grad(loss))
    for seed in range(4):
        x = nm.array(uniform(3, 8, seed=seed))
        assert_close(compiled(x).numpy(), loss(x).numpy(), 10)
        assert_close(slope(x).numpy(), nm.grad(loss)(x).numpy(), 10)


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
@pytest.mark.parametrize("name", [*ONE, *MANY])
def test_against_torch(name, norm, dtype):
    torch = pytest.importorskip("torch")
    if np.dtype(dtype).kind == "c" and name in OF_REAL:
        return
    forms = [{}] if name in MANY else [{"n": 6}, {"n": 3}, {}]
    for shape in ((2, 3, 4), (1, 5, 2)):
        x = uniform(*shape, complex=np.dtype(dtype).kind == "c").astype(dtype)
        for form in forms:
            mine = nm.array(x, requires_grad=True)
            other = torch.tensor(x, requires_grad=True)
            out = getattr(numen.fft, name)(mine, norm=norm, **form)
            expected = getattr(torch.fft, name)(other, norm=norm, **form)
            values = expected.detach().resolve_conj().numpy()
            assert out.dtype == values.dtype
            assert_close(out.detach().numpy(), values, 20)
            weight = cotangent(values)
            out.backward(nm.array(weight))
            expected.backward(torch.tensor(weight))
            assert_close(mine.grad.numpy(), other.grad.resolve_conj().numpy(), 20)
