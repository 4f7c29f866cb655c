"""Dropout: how many are dropped, reproducible streams, gradients, jit; embeddings."""

import numpy as np
import pytest
from against_torch import compare_layer

import numen as nm
from numen.errors import DTypeError, IndexRangeError, ShapeError
from numen.nn import functional as F  # noqa: N812


def test_elements_are_dropped_and_scaled():
    nm.manual_seed(0)
    x = nm.ones((100, 100), nm.float32)
    out = F.dropout(x, 0.2)
    assert out.dtype == np.float32
    assert set(np.unique(out.numpy())) == {0, np.float32(1.25)}
    assert abs((out.numpy() == 0).mean() - 0.2) < 0.02
    assert F.dropout(x, 1.0).sum().item() == 0
    assert F.dropout(x, 0.0) is x
    assert F.dropout(x, 0.5, training=False) is x
    assert np.isfinite(F.dropout(nm.full(1000, np.inf), 0.5).numpy()).any()  # 0, not NaN
    assert not np.isnan(F.dropout(nm.full(1000, np.inf), 0.5).numpy()).any()


def test_the_gradient_has_the_mask():
    nm.manual_seed(1)
    x = nm.ones(50, requires_grad=True)
    out = F.dropout(x, 0.5)
    out.sum().backward()
    np.testing.assert_array_equal(x.grad.numpy(), out.detach().numpy())


def test_whole_channels_are_dropped():
    nm.manual_seed(2)
    for function, shape in (
        (F.dropout1d, (8, 16, 3)),
        (F.dropout2d, (8, 16, 3, 2)),
        (F.dropout3d, (16, 3, 2, 2)),
    ):
        out = function(nm.ones(shape), 0.5).numpy()
        rank = int(function.__name__[-2])
        flat = out.reshape(*shape[: len(shape) - rank], -1)
        assert (flat == flat[..., :1]).all()
        assert {0, 2} == set(np.unique(out))
    with pytest.raises(ShapeError):
        F.dropout2d(nm.ones((2, 3)))


def test_alpha_dropout_keeps_mean_and_variance():
    nm.manual_seed(3)
    x = nm.array(np.random.default_rng(0).standard_normal((200, 200)))
    out = F.alpha_dropout(x, 0.3, training=True).numpy()
    assert abs(out.mean()) < 0.02
    assert abs(out.var() - 1) < 0.03
    channels = F.feature_alpha_dropout(nm.ones((4, 8, 5)), 0.5, training=True).numpy()
    assert (channels == channels[..., :1]).all()


def test_a_seed_repeats_masks_and_draws_of_weights_do_not_shift_them():
    nm.manual_seed(5)
    first = [F.dropout(nm.ones(20), 0.5).tolist() for _ in range(3)]
    assert first[0] != first[1]
    nm.manual_seed(5)
    nm.nn.Linear(3, 3)
    assert [F.dropout(nm.ones(20), 0.5).tolist() for _ in range(3)] == first


def test_a_position_saved_repeats_masks():
    state = nm.nn.functional_dropout.mask_state
    saved = state.copy()
    first = F.dropout(nm.ones(20), 0.5).tolist()
    state[:] = saved
    assert F.dropout(nm.ones(20), 0.5).tolist() == first


def test_a_compiled_step_draws_new_masks():
    nm.manual_seed(7)
    layer = nm.nn.Dropout(0.5)
    expected = [layer(nm.ones(30, nm.float32)).tolist() for _ in range(6)]
    nm.manual_seed(7)
    compiled = nm.jit(lambda x: layer(x))
    assert [compiled(nm.ones(30, nm.float32)).tolist() for _ in range(6)] == expected
    assert "0 eager" in str(nm.explain(compiled))


def test_layers_of_dropout():
    layer = nm.nn.Dropout(0.5)
    x = nm.ones(100)
    assert (layer(x).numpy() == 0).any()
    assert layer.eval()(x) is x
    inside = nm.nn.Dropout(0.5, inplace=True)
    assert inside(x) is x
    assert (x.numpy() == 0).any()
    for bad in (-0.1, 1.1):
        with pytest.raises(ValueError, match="p in"):
            nm.nn.Dropout(bad)
        with pytest.raises(ValueError, match="probability"):
            F.dropout(x, bad)
    with pytest.raises(DTypeError):
        F.dropout(nm.ones(3, "int64"))


# embeddings


def test_rows_and_their_gradients():
    layer = nm.nn.Embedding(5, 2, padding_idx=-4)
    assert layer.padding_idx == 1
    assert layer.weight[1].tolist() == [0, 0]
    layer(nm.array([[1, 3], [3, 0]])).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [0, 0], [0, 0], [2, 2], [0, 0]]
    assert layer(nm.zeros((0, 3), "int64")).shape == (0, 3, 2)
    assert layer(np.uint8(4)).shape == (2,)


def test_indices_out_of_range_are_named_in_replays_too():
    layer = nm.nn.Embedding(5, 2)
    compiled = nm.jit(lambda i: layer(i).sum())
    for _ in range(4):
        compiled(nm.array([0, 4]))
    for function in (layer, compiled):
        for index in (5, -1):
            with pytest.raises(IndexRangeError, match=rf"index {index} .*5 rows"):
                function(nm.array([0, index]))
    with pytest.raises(DTypeError, match="integer"):
        layer(nm.array([0.0]))


def test_long_rows_are_shortened_in_place():
    layer = nm.nn.Embedding(3, 2, max_norm=1.0, _weight=[[3.0, 4.0], [0.1, 0.1], [5.0, 0.0]])
    out = layer(nm.array([0, 1, 0]))
    np.testing.assert_allclose(out.detach().numpy(), [[0.6, 0.8], [0.1, 0.1], [0.6, 0.8]], 1e-6)
    assert layer.weight[2].tolist() == [5, 0]


def test_embeddings_that_are_given():
    rows = np.arange(6.0).reshape(3, 2)
    layer = nm.nn.Embedding.from_pretrained(rows)
    assert not layer.weight.requires_grad
    assert layer(nm.array(2)).tolist() == [4, 5]
    assert nm.nn.Embedding.from_pretrained(rows, freeze=False).weight.requires_grad
    with pytest.raises(ShapeError):
        nm.nn.Embedding(4, 2, _weight=rows)
    with pytest.raises(ShapeError):
        nm.nn.Embedding.from_pretrained(rows[0])
    for settings in ({"sparse": True}, {"scale_grad_by_freq": True}, {"padding_idx": 4}):
        with pytest.raises(ValueError):
            nm.nn.Embedding(3, 2, **settings)


@pytest.mark.parametrize(
    ("name", "args", "settings"),
    [
        *[(n, (0.3,), {}) for n in ("Dropout", "Dropout1d", "Dropout2d", "AlphaDropout")],
        ("Embedding", (9, 3), {"padding_idx": 2}),
        ("Embedding", (9, 3), {"max_norm": 1.0, "norm_type": 1.0}),
    ],
)
def test_layers_match_pytorch(name, args, settings):
    pytest.importorskip("torch")
    compare_layer(name, args, settings, None)


def test_values_of_embeddings_match_pytorch():
    torch = pytest.importorskip("torch")
    ours = nm.nn.Embedding(7, 3, padding_idx=0)
    theirs = torch.nn.Embedding(7, 3, padding_idx=0)
    theirs.load_state_dict({"weight": torch.tensor(ours.weight.detach().numpy())})
    index = np.random.default_rng(0).integers(0, 7, (4, 5))
    y, t = ours(nm.array(index)), theirs(torch.tensor(index))
    np.testing.assert_array_equal(y.detach().numpy(), t.detach().numpy())
    (y * y).sum().backward()
    (t * t).sum().backward()
    np.testing.assert_allclose(ours.weight.grad.numpy(), theirs.weight.grad.numpy(), rtol=1e-6)
