"""Attention and transformer layers: PyTorch's values and gradients, masks, traces, errors."""

import math

import numpy as np
import pytest

import numen as nm
from numen import nn
from numen.errors import DTypeError, ShapeError
from numen.nn import functional as F  # noqa: N812

RNG = np.random.default_rng(3)


def drawn(*shape, dtype="float32"):
    return RNG.standard_normal(shape).astype(dtype)


def leaves(torch, *arrays):
    ours = [nm.array(a, requires_grad=True) for a in arrays]
    return ours, [torch.tensor(a, requires_grad=True) for a in arrays]


def same(ours, theirs, atol=1e-5):
    np.testing.assert_allclose(ours.detach().numpy(), theirs.detach().numpy(), atol=atol)


MASK = RNG.random((4, 5)) < 0.7
MASK[:, 0] = True


@pytest.mark.parametrize(
    "options",
    [{}, {"is_causal": True}, {"attn_mask": MASK}, {"attn_mask": drawn(4, 5)}, {"scale": 0.3}],
)
def test_scaled_dot_product_attention_is_pytorch_s(options):
    torch = pytest.importorskip("torch")
    ours, theirs = leaves(torch, drawn(2, 3, 4, 6), drawn(2, 3, 5, 6), drawn(2, 3, 5, 7))
    given = {k: torch.tensor(v) if k == "attn_mask" else v for k, v in options.items()}
    out = F.scaled_dot_product_attention(*ours, **options)
    expected = torch.nn.functional.scaled_dot_product_attention(*theirs, **given)
    same(out, expected)
    (out * out).sum().backward()
    (expected * expected).sum().backward()
    for a, b in zip(ours, theirs, strict=True):
        same(a.grad, b.grad)


def test_a_query_that_may_look_at_nothing():
    for engine in ("auto", "kernels"):
        with nm.config(engine=engine):
            q, k, v = (nm.array(drawn(3, 4), requires_grad=True) for _ in range(3))
            mask = nm.array([[True] * 3, [False] * 3, [True, False, False]])
            for given in (mask, nm.where(mask, 0.0, -math.inf)):
                out = F.scaled_dot_product_attention(q, k, v, given)
                assert out[1].tolist() == [0, 0, 0, 0]
                np.testing.assert_allclose(out[2].detach(), v[0].detach(), rtol=1e-6)
                (out * out).sum().backward()
                assert q.grad.tolist()[1] == [0, 0, 0, 0]
                assert all(np.isfinite(x.grad.numpy()).all() for x in (q, k, v))


def test_groups_of_heads_share_keys():
    q, k, v = nm.array(drawn(4, 3, 2)), nm.array(drawn(2, 5, 2)), nm.array(drawn(2, 5, 2))
    grouped = F.scaled_dot_product_attention(q, k, v, enable_gqa=True)
    for head in range(4):
        alone = F.scaled_dot_product_attention(q[head], k[head // 2], v[head // 2])
        np.testing.assert_allclose(grouped[head], alone, atol=1e-6)


def test_dropout_of_weights():
    nm.manual_seed(0)
    x = nm.ones((50, 4))
    value = nm.ones((50, 1))
    out = F.scaled_dot_product_attention(x, x, value, dropout_p=0.5)
    assert out.std() > 0
    assert abs(float(out.mean()) - 1) < 0.1
    assert F.scaled_dot_product_attention(x, x, value, dropout_p=1.0).tolist() == [[0]] * 50


def test_errors():
    q, k = nm.zeros((3, 4)), nm.zeros((5, 4))
    for args in ((q, nm.zeros((5, 3)), k), (q, k, nm.zeros((4, 4))), (q, k, k, nm.zeros((2, 5)))):
        with pytest.raises(ShapeError, match="scaled_dot_product_attention"):
            F.scaled_dot_product_attention(*args)
    with pytest.raises(DTypeError, match="mask"):
        F.scaled_dot_product_attention(q, k, k, nm.zeros((3, 5), int))
    layer = nn.MultiheadAttention(4, 2)
    x = nm.zeros((3, 2, 4))
    with pytest.raises(ShapeError, match="widths"):
        layer(x, x, nm.zeros((3, 2, 5)))
    with pytest.raises(ShapeError, match="key_padding_mask"):
        layer(x, x, x, key_padding_mask=nm.zeros((3, 2), bool))
    with pytest.raises(ShapeError, match="attn_mask"):
        layer(x, x, x, attn_mask=nm.zeros((2, 3), bool))
    with pytest.raises(ValueError, match="divide"):
        nn.MultiheadAttention(4, 3)
    with pytest.raises(ValueError, match="activation"):
        nn.TransformerEncoderLayer(4, 2, activation="sin")


def pair_of(name, *args, **options):
    """Our layer and PyTorch's, with the same weights."""
    torch = pytest.importorskip("torch")
    theirs = getattr(torch.nn, name)(*args, **options)
    ours = getattr(nn, name)(*args, **options)
    assert list(ours.state_dict()) == list(theirs.state_dict())
    for key, value in theirs.state_dict().items():
        assert ours.state_dict()[key].shape == tuple(value.shape), key
    ours.load_state_dict({k: v.numpy() for k, v in theirs.state_dict().items()})
    return ours, theirs, torch


def same_gradients(ours, theirs):
    for (name, p), (_, q) in zip(ours.named_parameters(), theirs.named_parameters(), strict=True):
        np.testing.assert_allclose(
            p.grad.numpy(), q.grad.numpy(), rtol=1e-3, atol=2e-5, err_msg=name
        )


@pytest.mark.parametrize(
    ("options", "widths"),
    [
        ({}, (8, 8, 8)),
        ({"batch_first": True}, (8, 8, 8)),
        ({"kdim": 5, "vdim": 6, "bias": False}, (8, 5, 6)),
        ({"add_bias_kv": True, "add_zero_attn": True}, (8, 8, 8)),
    ],
)
def test_multihead_attention_is_pytorch_s(options, widths):
    ours, theirs, torch = pair_of("MultiheadAttention", 8, 2, **options)
    first = options.get("batch_first", False)
    shapes = [(3, n, w) if first else (n, 3, w) for n, w in zip((4, 5, 5), widths, strict=True)]
    a, b = leaves(torch, *[drawn(*s) for s in shapes])
    padding = np.zeros((3, 5), bool)
    padding[1, 3:] = True
    for masks in (
        {},
        {"key_padding_mask": padding},
        {"attn_mask": ~MASK},
        {"attn_mask": drawn(6, 4, 5), "average_attn_weights": False},
    ):
        given = {k: v if isinstance(v, bool) else torch.tensor(v) for k, v in masks.items()}
        out, weights = ours(*a, **masks)
        expected, theirs_weights = theirs(*b, **given)
        same(out, expected)
        same(weights, theirs_weights)
        assert ours(*a, **masks, need_weights=False)[1] is None
        (out * out).sum().backward()
        (expected * expected).sum().backward()
    same_gradients(ours, theirs)
    for x, t in zip(a, b, strict=True):
        np.testing.assert_allclose(x.grad.numpy(), t.grad.numpy(), rtol=1e-3, atol=2e-5)


def test_self_attention_without_a_batch():
    ours, theirs, torch = pair_of("MultiheadAttention", 8, 2)
    x = drawn(4, 8)
    a, b = nm.array(x), torch.tensor(x)
    padding = np.array([False, True, False, False])
    out, weights = ours(a, a, a, padding)
    expected, theirs_weights = theirs(b, b, b, torch.tensor(padding))
    same(out, expected)
    same(weights, theirs_weights)
    causal, _ = ours(a, a, a, is_causal=True)
    mask = torch.triu(torch.ones(4, 4, dtype=torch.bool), 1)
    same(causal, theirs(b, b, b, attn_mask=mask)[0])


@pytest.mark.parametrize(
    "options",
    [{}, {"norm_first": True, "activation": "gelu"}, {"batch_first": True, "bias": False}],
)
@pytest.mark.filterwarnings("ignore:enable_nested_tensor:UserWarning")  # PyTorch's
def test_transformer_layers_are_pytorch_s(options):
    common = {"dim_feedforward": 16, "dropout": 0.0, **options}
    encoder, other, torch = pair_of("TransformerEncoderLayer", 8, 2, **common)
    decoder, other_decoder, _ = pair_of("TransformerDecoderLayer", 8, 2, **common)
    (src, tgt), (s, t) = leaves(torch, drawn(4, 3, 8), drawn(4, 3, 8))
    steps = 3 if options.get("batch_first") else 4
    causal = nn.Transformer.generate_square_subsequent_mask(steps)
    theirs = torch.nn.Transformer.generate_square_subsequent_mask(steps)
    assert causal.tolist() == theirs.tolist()
    out = decoder(tgt, encoder(src), tgt_mask=causal)
    expected = other_decoder(t, other(s), tgt_mask=theirs)
    same(out, expected)
    (out**3).sum().backward()
    (expected**3).sum().backward()
    same_gradients(encoder, other)
    same_gradients(decoder, other_decoder)
    np.testing.assert_allclose(src.grad.numpy(), s.grad.numpy(), rtol=1e-3, atol=5e-5)


@pytest.mark.filterwarnings("ignore:enable_nested_tensor:UserWarning")  # PyTorch's
def test_the_whole_transformer_is_pytorch_s():
    ours, theirs, torch = pair_of("Transformer", 8, 2, 2, 1, 16, 0.0)
    (src, tgt), (s, t) = leaves(torch, drawn(4, 3, 8), drawn(5, 3, 8))
    padding = np.zeros((3, 4), bool)
    padding[2, 2:] = True
    out = ours(src, tgt, src_key_padding_mask=padding, memory_key_padding_mask=padding)
    mask = torch.tensor(padding)
    same(out, theirs(s, t, src_key_padding_mask=mask, memory_key_padding_mask=mask))
    assert ours.encoder.layers[0] is not ours.encoder.layers[1]


def test_an_encoder_s_training_step_is_compiled():
    nm.manual_seed(0)
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    net = nn.TransformerEncoder(layer, 2, nn.LayerNorm(8))
    opt = nm.optim.SGD(net.parameters(), lr=0.05)
    x, y = nm.array(drawn(3, 5, 8)), nm.array(drawn(3, 5, 8))

    def step(x, y):
        loss = F.mse_loss(net(x, is_causal=True), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        return loss.item()

    traced = nm.jit(step)
    losses = [traced(x, y) for _ in range(12)]
    assert losses[-1] < losses[0]
    assert "0 eager" in str(nm.explain(traced))
    net.eval()
    with nm.no_grad():
        eager = net(x)
        run = nm.jit(lambda x: net(x))
        for _ in range(3):
            np.testing.assert_allclose(run(x), eager, atol=2e-6)
    assert eager.dtype == np.float32
