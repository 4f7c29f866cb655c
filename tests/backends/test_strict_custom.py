"""Rules of the user's, checkpoints and solutions on the strict backend."""

import numpy as np

import numen as nm
from numen.backends import strict


def placed(*values):
    return nm.array(list(values)).to_device("strict")


def host(x):
    return np.asarray(x.detach().to_device("cpu"))


class Product(nm.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y, x + y

    @staticmethod
    def backward(ctx, g, h):
        x, y = ctx.saved_arrays
        return g * y + h, g * x + h


def test_rules_get_arrays_of_the_device():
    product = nm.custom_jvp(lambda x, y: (x * y, x + y))
    product.defjvp(lambda p, t: (product(*p), (t[0] * p[1] + t[1] * p[0], t[0] + t[1])))
    y = placed(3.0, 4.0)
    for op in (Product.apply, product):
        x = placed(1.0, 2.0).requires_grad_()
        op(x, y)[0].sum().backward()  # the other result's gradient is zeros of the device
        assert isinstance(x.grad._d, strict.StrictArray)
        assert host(x.grad).tolist() == [3, 4]


def test_checkpoints_and_solutions():
    x, y = placed(1.0, 2.0).requires_grad_(), placed(3.0, 4.0)
    nm.checkpoint(lambda v: nm.sin(v) * y, x).sum().backward()
    np.testing.assert_allclose(host(x.grad), np.cos([1.0, 2.0]) * [3, 4])

    def square_root(a):
        return nm.implicit.root(lambda v, a: v * v - a, y, a).sum()

    np.testing.assert_allclose(host(nm.grad(square_root)(x.detach())), [0.5, 0.125**0.5])
