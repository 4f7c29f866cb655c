"""Philox: known answers, splits, distributions."""

import copy
import pickle

import numpy as np
import pytest

import numen as nm
from numen.errors import DTypeError
from numen.ops.philox import CHUNK, philox, words
from numen.random import Stream

FULL = 0xFFFFFFFF
KNOWN = [
    # the authors' known answers: counter, key, result
    ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
    ((FULL,) * 4, (FULL,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    arrays = tuple(np.array([w], np.uint64) for w in counter)
    assert tuple(philox(arrays, key)[0].tolist()) == expected


def test_words_are_keyed_by_seed_stream_and_index():
    assert words(0, 0, 0, 4).tolist() == list(KNOWN[0][2])
    seed, stream = KNOWN[2][1], KNOWN[2][0]
    low = seed[0] | seed[1] << 32
    index = stream[0] | stream[1] << 32
    assert words(low, stream[2] | stream[3] << 32, 4 * index, 4).tolist() == list(KNOWN[2][2])
    whole = words(5, 6, 0, 4 * CHUNK + 40)
    for start, count in ((0, 0), (1, 2), (3, 6), (4 * CHUNK - 3, 20), (7, 4 * CHUNK)):
        np.testing.assert_array_equal(words(5, 6, start, count), whole[start : start + count])


@pytest.mark.parametrize("draw", ["bits", "uniform", "normal"])
@pytest.mark.parametrize("wide", [False, True])
def test_the_same_bits_for_any_split(draw, wide):
    dtype = {("bits", True): "uint64", ("bits", False): "uint32"}.get(
        (draw, wide), "float64" if wide else "float32"
    )
    whole = getattr(Stream(1, 2), draw)((2, 3, 5), dtype)
    parts = Stream(1, 2)
    pieces = [getattr(parts, draw)(shape, dtype).reshape(-1) for shape in ((1,), (3, 4), (), (16,))]
    assert nm.concatenate(pieces).tolist() == whole.ravel().tolist()
    assert whole.dtype == dtype
    assert getattr(Stream(1, 3), draw)((2, 3, 5), dtype).tolist() != whole.tolist()
    assert getattr(Stream(2, 2), draw)((2, 3, 5), dtype).tolist() != whole.tolist()
    assert getattr(Stream(1, 2), draw)((0, 3), dtype).shape == (0, 3)


def test_floats_are_the_bits():
    bits = Stream(4).bits((1000,)).numpy()
    np.testing.assert_array_equal(
        Stream(4).uniform((1000,)).numpy(), (bits >> 8) / np.float32(2**24)
    )
    wide = Stream(4).bits((500,), nm.uint64).numpy()
    np.testing.assert_array_equal(
        Stream(4).uniform((500,), nm.float64).numpy(), (wide >> 11) / 2.0**53
    )
    assert wide[0] == int(bits[0]) | int(bits[1]) << 32


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_distributions(dtype):
    n = 200_000
    u = Stream(0).uniform((n,), dtype).numpy().astype(float)
    assert 0 <= u.min() < 1e-4
    assert 1 - 1e-4 < u.max() < 1
    counts = np.bincount((u * 10).astype(int), minlength=10)
    assert np.sum((counts - n / 10) ** 2 / (n / 10)) < 30  # chi-square, 9 degrees of freedom
    z = Stream(0).normal((n,), dtype).numpy().astype(float)
    assert abs(z.mean()) < 0.01
    assert abs(z.std() - 1) < 0.01
    assert abs(np.mean(z**4) - 3) < 0.1
    assert abs(np.mean(z[1:] * z[:-1])) < 0.01
    assert np.isfinite(z).all()
    between = Stream(0).uniform((n,), dtype, -2.0, 3.0).numpy()
    assert between.dtype == dtype
    assert -2 <= between.min() < between.max() <= 3
    assert abs(Stream(0).normal((n,), dtype, 5.0, 0.1).numpy().mean() - 5) < 0.001


def test_streams_are_copied_with_their_position():
    stream = Stream(-1, 3)
    assert stream.seed == 2**64 - 1
    stream.uniform(5)
    for twin in (copy.deepcopy(stream), pickle.loads(pickle.dumps(stream))):
        assert (
            repr(twin) == repr(stream) == "Stream(seed=18446744073709551615, stream=3, position=5)"
        )
        assert twin.uniform(3).tolist() == Stream(-1, 3).uniform(8).tolist()[5:]


def test_manual_seed_restarts_the_default_stream():
    assert nm.manual_seed(11) is nm.random.default_stream
    first = nm.random.default_stream.normal(3).tolist()
    nm.manual_seed(11)
    assert nm.random.default_stream.normal(3).tolist() == first == Stream(11).normal(3).tolist()


def test_bad_dtypes():
    with pytest.raises(DTypeError, match="float32"):
        Stream(0).uniform(3, nm.float16)
    with pytest.raises(DTypeError):
        Stream(0).bits(3, nm.int32)
    with pytest.raises(TypeError):
        Stream(0.5)


def test_a_trace_with_a_draw_is_not_compiled():
    stream = Stream(0)
    f = nm.jit(lambda x: x + stream.uniform((3,), nm.float64))
    x = nm.zeros(3)
    drawn = [f(x).tolist() for _ in range(4)]
    assert drawn == Stream(0).uniform((4, 3), nm.float64).tolist()
