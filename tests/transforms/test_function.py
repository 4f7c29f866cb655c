"""Function: PyTorch's hand-written ops, under every transform, with errors that name them."""

import copy

import numpy as np
import pytest

import numen as nm
from numen.errors import GradientError, LeafWriteError, ShapeError, TransformError
from numen.transforms.contexts import FunctionContext

X = [0.3, -1.2, 2.0]
Y = [1.5, 0.7, -0.4]


def x(grad=True):
    return nm.array(X, requires_grad=grad)


def y(grad=True):
    return nm.array(Y, requires_grad=grad)


def close(a, b, tol=1e-12):
    values = [v.detach() if isinstance(v, nm.Array) else np.asarray(v) for v in (a, b)]
    np.testing.assert_allclose(*map(np.asarray, values), rtol=tol, atol=tol)


class Product(nm.Function):
    @staticmethod
    def forward(ctx, a, b, factor):
        ctx.save_for_backward(a, b)
        ctx.factor = factor
        return a * b * factor, a + b

    @staticmethod
    def backward(ctx, g, h):
        a, b = ctx.saved_tensors
        return g * b * ctx.factor + h, g * a * ctx.factor + h, None

    @staticmethod
    def jvp(ctx, s, t, _):
        a, b = ctx.saved_arrays
        return (s * b + a * t) * ctx.factor, s + t


class Exp(nm.Function):
    """Forward without ctx; saves its result."""

    @staticmethod
    def forward(v):
        return nm.exp(v)

    @staticmethod
    def setup_context(ctx, inputs, output):
        assert len(inputs) == 1
        ctx.save_for_backward(output)

    @staticmethod
    def backward(ctx, g):
        (out,) = ctx.saved_arrays
        return g * out


def loss(product):
    def f(a, b):
        p, q = product(a, b)
        return (p * p * q).sum()

    return f


ours = loss(lambda a, b: Product.apply(a, b, 2.0))
plain = loss(lambda a, b: (a * b * 2.0, a + b))


def test_first_and_higher_derivatives():
    first = nm.grad(ours, (0, 1))(x(False), y(False))
    close(first, nm.grad(plain, (0, 1))(x(False), y(False)))

    def second(f):
        return nm.grad(lambda a, b: (nm.grad(f)(a, b) ** 2).sum(), (0, 1))

    for got, want in zip(second(ours)(x(), y()), second(plain)(x(), y()), strict=True):
        close(got, want)
    third = nm.grad(nm.grad(nm.grad(lambda v: Exp.apply(2 * v))))
    close(third(nm.array(1.0)), 8 * np.exp(2))
    close(nm.hessian(lambda v: Exp.apply(v).sum())(x(False)), np.diag(np.exp(X)))


def test_leaves_retained_and_freed_graphs():
    a, b = x(), y()
    out = ours(a, b)
    out.backward(retain_graph=True)
    out.backward()
    close(a.grad, 2 * nm.grad(plain)(x(False), y(False)))
    with pytest.raises(GradientError, match="freed"):
        out.backward()
    p, _ = Product.apply(a, y(False), 3.0)
    p.backward(nm.ones(3))
    with pytest.raises(GradientError, match=r"Product was already freed|unpack was already freed"):
        p.backward(nm.ones(3))
    a.grad = None
    p, _ = Product.apply(a, y(False), 3.0)  # one result is used, one argument asks
    p.sum().backward(create_graph=True)
    close(a.grad, 3 * np.array(Y))


def test_needs_input_grad_and_none():
    seen = []

    class F(nm.Function):
        @staticmethod
        def forward(ctx, a, b, c):
            seen.append(ctx.needs_input_grad)
            return a * b

        @staticmethod
        def backward(ctx, g):
            seen.append(ctx.needs_input_grad)
            return g, None, None

    a, b = x(), y()
    F.apply(a, b, "text").sum().backward()
    close(a.grad, np.ones(3))
    assert b.grad is None
    F.apply(x(False), b, 1)
    F.apply(x(False), y(False), None)
    assert seen == [(True, True, False), (True, True, False), (False, True, False), (False,) * 3]


def test_gradients_that_are_missing():
    given = []

    class Two(nm.Function):
        @staticmethod
        def forward(ctx, a, fill):
            ctx.set_materialize_grads(fill)
            return a * 1, a * 2, nm.argmax(a), "text"

        @staticmethod
        def backward(ctx, *grads):
            given.append(grads)
            return grads[0] * 5, None

    for fill in (True, False):
        a = x()
        first, _, index, text = Two.apply(a, fill)
        assert index == 2 and not index.requires_grad and text == "text"
        first.sum().backward()
        close(a.grad, np.full(3, 5.0))
    close(given[0][1], np.zeros(3))
    assert given[0][2].dtype.kind == "i" and given[0][3] is None
    assert given[1][1:] == (None, None, None)


def test_results_without_gradient_by_request():
    class Sort(nm.Function):
        @staticmethod
        def forward(ctx, a):
            scale = nm.abs(a).max()
            ctx.mark_non_differentiable(scale)
            ctx.save_for_backward(scale)
            return a / scale, scale

        @staticmethod
        def backward(ctx, g, none):
            close(none, 0)
            (scale,) = ctx.saved_arrays
            return g / scale

    a = x()
    out, scale = Sort.apply(a)
    assert out.requires_grad and not scale.requires_grad
    (out.sum() * scale).backward()
    close(a.grad, np.ones(3))


def test_arguments_written_in_place():
    class Add(nm.Function):
        @staticmethod
        def forward(ctx, a, b):
            a += b
            ctx.mark_dirty(a)
            return a

        @staticmethod
        def backward(ctx, g):
            return g * 10, g

    a, b = x(), y()
    base = a * 1
    view = base[1:]
    assert Add.apply(base, b) is base
    (base.sum() + 2 * view.sum()).backward()
    close(a.grad, [10, 30, 30])
    close(b.grad, [1, 3, 3])
    # a plain array gets a gradient by the write
    buffer = nm.zeros(3)
    Add.apply(buffer, b)
    assert buffer.requires_grad
    with pytest.raises(LeafWriteError):
        Add.apply(a, b)

    class Silent(nm.Function):
        @staticmethod
        def forward(ctx, a):
            a += 1
            return a * 1

    with pytest.raises(GradientError, match=r"argument 0.*in place"):
        Silent.apply(x() * 1)

    class Lost(nm.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.mark_dirty(a)
            return a * 1

    with pytest.raises(GradientError, match="marked dirty"):
        Lost.apply(x() * 1)


def test_what_was_saved_must_not_be_written():
    a = x()
    b = a * 1
    out, _ = Product.apply(b, y(False), 1.0)
    b *= 2
    with pytest.raises(GradientError, match=r"Product saved.*in place"):
        out.sum().backward()
    out = Exp.apply(a)
    out *= 2
    with pytest.raises(GradientError, match=r"Exp saved.*in place"):
        out.sum().backward()


def test_what_backward_returns_is_checked():
    def make(answer):
        class Doubtful(nm.Function):
            @staticmethod
            def forward(ctx, a, k):
                return a * 2

            @staticmethod
            def backward(ctx, g):
                return answer(g)

        return Doubtful

    cases = [
        (lambda g: g, GradientError, r"Doubtful.backward returned 1 gradients.*expected 2"),
        (lambda g: (g, None, g), GradientError, "returned 3 gradients"),
        (lambda g: (g, g), GradientError, "argument 1, which is no array"),
        (lambda g: (g[:2], None), ShapeError, r"Doubtful gave .* \(2,\) .* argument 0"),
        (lambda g: ("text", None), GradientError, "as a gradient"),
    ]
    for answer, error, text in cases:
        with pytest.raises(error, match=text):
            make(answer).apply(x(), 1).sum().backward()
    a = x()
    make(lambda g: (g, None, None)).apply(a, 1).sum().backward()  # more Nones are no fault
    close(a.grad, np.ones(3))
    a.grad = None
    make(lambda g: (nm.stack([g, g]), None)).apply(a, 1).sum().backward()  # summed, as torch does
    close(a.grad, np.full(3, 2.0))
    with pytest.raises(TypeError, match="save_for_backward"):
        FunctionContext(()).save_for_backward(3)
    with pytest.raises(NotImplementedError, match="forward"):
        nm.Function.apply(a)


def test_saved_values_between_have_no_second_derivative():
    class Sine(nm.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(nm.cos(a))
            return nm.sin(a)

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_arrays[0]

    close(nm.grad(lambda v: Sine.apply(v).sum())(x(False)), np.cos(X))
    with pytest.raises(GradientError, match=r"return it from forward"):
        nm.grad(lambda v: (nm.grad(lambda u: Sine.apply(u).sum())(v) ** 2).sum())(x(False))


def test_attributes_are_part_of_the_graph():
    class Square(nm.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.kept = {"a": a}
            return a * a

        @staticmethod
        def backward(ctx, g):
            return 2 * ctx.kept["a"] * g

    close(nm.grad(nm.grad(lambda v: Square.apply(v)))(nm.array(3.0)), 2.0)


def test_once_differentiable():
    class Cube(nm.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.save_for_backward(a)
            return a**3

        @staticmethod
        @nm.once_differentiable
        def backward(ctx, g):
            (a,) = ctx.saved_arrays
            return nm.array(3 * a.numpy() ** 2 * g.numpy())

    a = x()
    Cube.apply(a).sum().backward()
    close(a.grad, 3 * np.array(X) ** 2)
    close(nm.grad(lambda v: Cube.apply(v).sum())(x(False)), 3 * np.array(X) ** 2)
    with pytest.raises(GradientError, match="once_differentiable"):
        nm.grad(lambda v: nm.grad(lambda u: Cube.apply(u).sum())(v).sum())(x(False))


def test_forward_mode():
    point, direction = (x(False), y(False)), (y(False), x(False))
    for got, want in zip(
        nm.jvp(ours, point, direction), nm.jvp(plain, point, direction), strict=True
    ):
        close(got, want)
    close(nm.jacfwd(ours)(*point), nm.jacfwd(plain)(*point))
    close(nm.hessian(ours)(*point), nm.hessian(plain)(*point))

    def derivative(f):
        return nm.grad(lambda v: nm.jvp(f, (v, point[1]), direction)[1])(point[0])

    close(derivative(ours), derivative(plain))
    with pytest.raises(GradientError, match=r"Exp.*forward mode"):
        nm.jvp(Exp.apply, (x(False),), (x(False),))


def test_vmap_of_forward_and_backward():
    def one(f):
        return lambda a, b: f(a, b) * 3

    close(nm.vmap(one(ours))(x(False), y(False)), nm.vmap(one(plain))(x(False), y(False)))
    for axes in ((0, 0), (0, None), (None, 0)):
        args = [
            v if t == 0 else nm.array(0.4) for v, t in zip((x(False), y(False)), axes, strict=True)
        ]

        def total(f, axes=axes):
            return lambda a, b: (nm.vmap(f, axes)(a, b) ** 2).sum()

        got = nm.grad(total(ours), (0, 1))(*args)
        for p, q in zip(got, nm.grad(total(plain), (0, 1))(*args), strict=True):
            close(p, q)
        got = nm.vmap(nm.grad(ours, (0, 1)), axes)(*args)
        for p, q in zip(got, nm.vmap(nm.grad(plain, (0, 1)), axes)(*args), strict=True):
            close(p, q)


def test_a_vmap_of_its_own():
    calls = []

    class Scale(nm.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.save_for_backward(a, b)
            return a * b.sum()

        @staticmethod
        def backward(ctx, g):
            a, b = ctx.saved_arrays
            return g * b.sum(), nm.zeros_like(b) + (g * a).sum()

        @staticmethod
        def vmap(info, in_dims, a, b):
            calls.append((info.batch_size, in_dims))
            if in_dims[1] is None:
                return nm.moveaxis(a * b.sum(), 0, -1), -1
            return [nm.zeros(1)], [0, 1]

    rows, b = nm.array([X, Y]), y(False)
    close(nm.vmap(Scale.apply, (0, None))(rows, b), np.array([X, Y]) * sum(Y))
    close(
        nm.grad(lambda r: nm.vmap(Scale.apply, (0, None))(r, b).sum())(rows),
        np.full((2, 3), sum(Y)),
    )
    assert calls == [(2, (0, None))] * 2
    with pytest.raises(TransformError, match="out_dims"):
        nm.vmap(Scale.apply)(rows, rows)


def test_jit_inlines_it():
    both = nm.jit(nm.value_and_grad(ours))
    want = nm.value_and_grad(plain)(x(False), y(False))
    for _ in range(3):
        for got, expected in zip(both(x(False), y(False)), want, strict=True):
            close(got, expected)
    step = nm.jit(lambda v: Exp.apply(v).sum())
    for _ in range(3):
        a = x()
        step(a).backward()
        close(a.grad, np.exp(X))


def test_results_own_their_memory_unless_somebody_else_holds_it():
    class Both(nm.Function):
        @staticmethod
        def forward(ctx, a, hold):
            out = a * 2
            if hold is not None:
                hold.append(out)
            return out

        @staticmethod
        def backward(ctx, g):
            return g * 2, None

    a = x()
    out = Both.apply(a, None)
    assert out.base is None
    held = []
    out = Both.apply(a, held)
    assert out.base is held[0]
    saw = held[0] * nm.ones(3, requires_grad=True)
    out *= 2
    close(held[0], out)  # one memory
    with pytest.raises(GradientError, match="in place"):
        saw.sum().backward()
    out.sum().backward()
    close(a.grad, np.full(3, 4.0))


def test_kernels_small_floats_and_complex_numbers():
    rng = np.random.default_rng(0)
    a = nm.array(rng.normal(size=40_000), requires_grad=True)
    b = nm.array(rng.normal(size=40_000))
    ours(a, b).backward()
    close(a.grad, nm.grad(plain)(a.detach(), b), 1e-10)
    half = nm.array(X, nm.bfloat16, requires_grad=True)
    Exp.apply(half).sum().backward()
    assert half.grad.dtype == nm.bfloat16
    z = nm.array([1 + 2j, 3j], requires_grad=True)

    class Square(nm.Function):
        @staticmethod
        def forward(ctx, v):
            ctx.save_for_backward(v)
            return v * v

        @staticmethod
        def backward(ctx, g):
            return g * nm.conj(2 * ctx.saved_arrays[0])

    nm.abs(Square.apply(z)).sum().backward()
    close(z.grad, nm.grad(lambda v: nm.abs(v * v).sum())(z.detach()))


def test_detached_copies_carry_no_graph():
    out = Exp.apply(x())
    assert copy.copy(out.detach()).requires_grad is False
    with nm.no_grad():
        assert not Exp.apply(x()).requires_grad


def test_it_agrees_with_torch():
    torch = pytest.importorskip("torch")

    def make(base, exp):
        class Layer(base):
            @staticmethod
            def forward(ctx, a, b):
                out = exp(a) * b
                ctx.save_for_backward(a, b, out)
                return out, a - b

            @staticmethod
            def backward(ctx, g, h):
                a, _, out = ctx.saved_tensors
                return g * out + h, g * exp(a) - h

        return Layer

    ours_, theirs = make(nm.Function, nm.exp), make(torch.autograd.Function, torch.exp)
    a, b = x(), y()
    s, t = (torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (X, Y))
    p, q = ours_.apply(a, b)
    u, v = theirs.apply(s, t)
    (p * p * q).sum().backward(create_graph=True)
    g, h = torch.autograd.grad((u * u * v).sum(), (s, t), create_graph=True)
    close(a.grad, g.detach().numpy())
    close(b.grad, h.detach().numpy())
    (a.grad.sum() * b.grad.sum()).backward()
    want = torch.autograd.grad(g.sum() * h.sum(), (s, t))
    close(a.grad - g.detach().numpy(), want[0].numpy(), 1e-10)
    close(b.grad - h.detach().numpy(), want[1].numpy(), 1e-10)
