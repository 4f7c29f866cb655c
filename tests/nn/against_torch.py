"""Compares functions and layers with PyTorch: values, gradients, state and text."""

import numpy as np

import numen as nm


def given(rng, value):
    """A pair of equal operands; tuples are shapes of random arrays."""
    if not isinstance(value, tuple):
        return value, value
    import torch

    data = rng.standard_normal(value) * 2
    return nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)


def compare(ours, theirs, operands, bound, rng):
    """Values and gradients of two results."""
    import torch

    if isinstance(ours, tuple):
        np.testing.assert_array_equal(ours[1].numpy(), theirs[1].numpy())
        ours, theirs = ours[0], theirs[0]
    np.testing.assert_allclose(
        ours.detach().numpy(), theirs.detach().numpy(), rtol=bound, atol=bound
    )
    weight = rng.standard_normal(ours.shape).astype(ours.dtype)
    (ours * nm.array(weight)).sum().backward()
    (theirs * torch.tensor(weight)).sum().backward()
    for a, b in operands:
        if b is not None and getattr(b, "grad", None) is not None:
            np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=bound, atol=bound)


def compare_function(name, *values, bound=1e-7, **settings):
    """`nm.nn.functional.name` on random operands of the given shapes."""
    import torch

    rng = np.random.default_rng(list(name.encode()))
    pairs = [given(rng, v) for v in values]
    ours = getattr(nm.nn.functional, name)(*[a for a, _ in pairs], **settings)
    theirs = getattr(torch.nn.functional, name)(*[b for _, b in pairs], **settings)
    compare(ours, theirs, pairs, bound, rng)


def compare_layer(name, args, settings, shape, bound=1e-5):
    """A float32 layer: text, state, and two training steps and one in evaluation."""
    import torch

    nm.manual_seed(1)
    ours = getattr(nm.nn, name)(*args, **settings)
    theirs = getattr(torch.nn, name)(*args, **settings)
    assert repr(ours) == repr(theirs)
    state, expected = ours.state_dict(), theirs.state_dict()
    assert list(state) == list(expected)
    for key, value in state.items():
        assert value.shape == tuple(expected[key].shape)
        assert str(expected[key].dtype) == f"torch.{value.dtype}"
    if shape is None:
        return
    theirs.load_state_dict({k: torch.tensor(v.numpy()) for k, v in state.items()})
    rng = np.random.default_rng(list(name.encode()))
    for training in (True, True, False):
        ours.train(training)
        theirs.train(training)
        data = rng.standard_normal(shape).astype(np.float32)
        x, t = nm.array(data, requires_grad=True), torch.tensor(data, requires_grad=True)
        y = ours(x)
        assert (y[0] if isinstance(y, tuple) else y).dtype == np.float32
        operands = [(x, t), *zip(ours.parameters(), theirs.parameters(), strict=True)]
        compare(y, theirs(t), operands, bound, rng)
        for a, b in zip(ours.buffers(), theirs.buffers(), strict=True):
            np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=bound, atol=bound)
