"""The safetensors reader and writer: round trips, the package both ways, damage of every kind."""

import json
import os
import random
import stat
import threading

import ml_dtypes
import numpy as np
import pytest
import safetensors
import safetensors.numpy
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from numen.errors import DTypeError, FormatError
from numen.formats import atomic
from numen.formats import safetensors as ours
from numen.formats.header import MAX_HEADER_BYTES

DTYPES = (
    "bool",
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "complex64"),
    *("bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz"),
)
REFERENCE_DTYPES = tuple(name for name in DTYPES if not name.endswith("fnuz"))


def dtype_named(name):
    return np.dtype(getattr(ml_dtypes, name)) if hasattr(ml_dtypes, name) else np.dtype(name)


def samples(names=DTYPES):
    rng = np.random.default_rng(0)
    return {
        f"{name}/{rank}": rng.integers(0, 2, shape).astype(dtype_named(name))
        for name in names
        for rank, shape in enumerate([(), (3,), (2, 5), (2, 0, 3)])
    }


def assert_same(left, right):
    assert set(left) == set(right)
    for name, value in left.items():
        assert right[name].dtype == value.dtype, name
        assert right[name].shape == value.shape, name
        assert right[name].tobytes() == value.tobytes(), name


def file_of(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def entry(dtype="F32", shape=(2,), offsets=(0, 8), **more):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets), **more}


# ------------------------------------------------------------ round trips


def test_every_dtype_and_rank_comes_back_bit_for_bit(tmp_path):
    arrays = samples()
    ours.save_file(arrays, tmp_path / "a.safetensors", {"by": "numen", "ü": "☃"})
    loaded = ours.load_file(tmp_path / "a.safetensors")
    assert_same(arrays, loaded)
    assert ours.load_metadata(tmp_path / "a.safetensors") == {"by": "numen", "ü": "☃"}
    assert all(value.flags.writeable and value.flags.owndata for value in loaded.values())


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(
        st.text(max_size=8).filter(lambda name: name != "__metadata__"),
        hnp.arrays(
            st.sampled_from(["bool", "u1", "<i2", ">i4", "<i8", "<f4", ">f8", "<c8"]),
            hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
        ),
        max_size=5,
    )
)
def test_random_dictionaries_come_back_and_the_package_reads_them(arrays):
    data = ours.save(arrays)
    native = {name: value.astype(value.dtype.newbyteorder("=")) for name, value in arrays.items()}
    assert_same(native, ours.load(data))
    assert_same(native, safetensors.numpy.load(data))


def test_strided_and_read_only_inputs_are_written_in_c_order():
    base = np.arange(24, dtype=np.float32).reshape(4, 6)
    frozen = base.copy()
    frozen.flags.writeable = False
    arrays = {"transposed": base.T, "steps": base[::2, ::-3], "row": base[:, 1], "frozen": frozen}
    loaded = ours.load(ours.save(arrays))
    for name, value in arrays.items():
        np.testing.assert_array_equal(loaded[name], value)


def test_objects_with_a_numpy_method_are_accepted():
    class Holder:
        def numpy(self):
            return np.arange(3.0)

    np.testing.assert_array_equal(ours.load(ours.save({"x": Holder()}))["x"], np.arange(3.0))


def test_data_is_aligned_to_its_items():
    arrays = {"a": np.ones(3, np.int8), "b": np.ones(5, np.float64), "c": np.ones(1, np.float16)}
    data = ours.save(arrays)
    length = int.from_bytes(data[:8], "little")
    assert length % 8 == 0
    header = json.loads(data[8 : 8 + length])
    for name, value in arrays.items():
        assert header[name]["data_offsets"][0] % value.dtype.itemsize == 0


def test_an_empty_dictionary_is_a_file(tmp_path):
    ours.save_file({}, tmp_path / "none")
    assert ours.load_file(tmp_path / "none") == {}
    assert safetensors.numpy.load_file(tmp_path / "none") == {}


# ------------------------------------------------------------ the package as oracle


def test_the_package_reads_what_we_write(tmp_path):
    arrays = samples(REFERENCE_DTYPES)
    ours.save_file(arrays, tmp_path / "a", {"k": "v"})
    # Its NumPy front end names no float8 dtype; the layer below gives their bytes.
    raw = dict(safetensors.deserialize((tmp_path / "a").read_bytes()))
    assert set(raw) == set(arrays)
    for name, value in arrays.items():
        assert tuple(raw[name]["shape"]) == value.shape
        assert bytes(raw[name]["data"]) == value.tobytes()
    with safetensors.safe_open(tmp_path / "a", "np") as file:
        assert file.metadata() == {"k": "v"}
        for name, value in arrays.items():
            if "float8" not in name:
                assert file.get_tensor(name).dtype == value.dtype


def test_we_read_what_the_package_writes(tmp_path):
    arrays = samples(REFERENCE_DTYPES)
    safetensors.numpy.save_file(arrays, tmp_path / "a", {"k": "v"})
    assert_same(arrays, ours.load_file(tmp_path / "a"))
    assert ours.load_metadata(tmp_path / "a") == {"k": "v"}


# ------------------------------------------------------------ damage

DAMAGED = {
    "empty": b"",
    "short length": b"\x01\x00",
    "length past the end": (100).to_bytes(8, "little") + b"{}",
    "huge length": (2**63).to_bytes(8, "little") + b"{}",
    "length past the bound": (MAX_HEADER_BYTES + 1).to_bytes(8, "little") + b"{}",
    "no header": file_of(b""),
    "a list": file_of(b"[]"),
    "space first": file_of(b" {}"),
    "not JSON": file_of(b"{]"),
    "two objects": file_of(b"{}{}"),
    "not UTF-8": file_of(b'{"\xff": 1}'),
    "UTF-16": file_of("{}".encode("utf-16-le")),
    "deep": file_of(b'{"a":' + b"[" * 100_000 + b"]" * 100_000 + b"}"),
    "deep objects": file_of(b'{"a":' * 50_000 + b"1" + b"}" * 50_000),
    "long number": file_of(b'{"a":' + b"9" * 10_000 + b"}"),
    "NaN": file_of(b'{"a": NaN}'),
    "duplicate": file_of(b'{"a":%b,"a":%b}' % ((json.dumps(entry()).encode(),) * 2), bytes(8)),
    "duplicate field": file_of(
        b'{"a":{"dtype":"F32","dtype":"F32","shape":[2],"data_offsets":[0,8]}}', bytes(8)
    ),
    "lone surrogate": file_of(b'{"\\ud800":%b}' % json.dumps(entry()).encode(), bytes(8)),
    "metadata not text": file_of({"__metadata__": {"a": 1}}),
    "metadata a list": file_of({"__metadata__": []}),
    "no object": file_of({"a": 5}, bytes(8)),
    "field missing": file_of({"a": {"dtype": "F32", "shape": [2]}}, bytes(8)),
    "field too many": file_of({"a": entry(more=1)}, bytes(8)),
    "unknown dtype": file_of({"a": entry("F128")}, bytes(8)),
    "packed dtype": file_of({"a": entry("F4", (16,))}, bytes(8)),
    "dtype a list": file_of({"a": entry(["F32"])}, bytes(8)),
    "negative extent": file_of({"a": entry(shape=(-1, -2))}, bytes(8)),
    "float extent": file_of({"a": entry(shape=(2.0,))}, bytes(8)),
    "bool extent": file_of({"a": entry(shape=(True, 2))}, bytes(8)),
    "text extent": file_of({"a": entry(shape=("2",))}, bytes(8)),
    "rank 65": file_of({"a": entry(shape=(1,) * 65, offsets=(0, 4))}, bytes(4)),
    "overflow": file_of({"a": entry(shape=(2**32, 2**32), offsets=(0, 0))}),
    "overflow behind a zero": file_of({"a": entry(shape=(0, 2**70), offsets=(0, 0))}),
    "huge claim": file_of({"a": entry(shape=(2**40,), offsets=(0, 2**42))}, bytes(8)),
    "wrong span": file_of({"a": entry(offsets=(0, 4))}, bytes(4)),
    "begin after end": file_of({"a": entry(offsets=(8, 0))}, bytes(8)),
    "three offsets": file_of({"a": entry(offsets=(0, 8, 8))}, bytes(8)),
    "negative offset": file_of({"a": entry(offsets=(-8, 0))}, bytes(8)),
    "gap in front": file_of({"a": entry(offsets=(8, 16))}, bytes(16)),
    "gap": file_of({"a": entry(), "b": entry(offsets=(16, 24))}, bytes(24)),
    "overlap": file_of({"a": entry(), "b": entry(offsets=(4, 12))}, bytes(12)),
    "same span": file_of({"a": entry(), "b": entry()}, bytes(8)),
    "data missing": file_of({"a": entry()}, bytes(7)),
    "data too many": file_of({"a": entry()}, bytes(9)),
    "data without arrays": file_of({}, bytes(1)),
    "a bool of 2": file_of({"a": entry("BOOL", (2,), (0, 2))}, b"\x01\x02"),
}


@pytest.mark.parametrize("fault", DAMAGED)
def test_damage_is_a_format_error(fault, tmp_path):
    with pytest.raises(FormatError, match="safetensors: "):
        ours.load(DAMAGED[fault])
    path = tmp_path / "damaged"
    path.write_bytes(DAMAGED[fault])
    with pytest.raises(FormatError):
        ours.load_file(path)


def test_a_file_that_shrinks_while_it_is_read_is_a_format_error(tmp_path, monkeypatch):
    path = tmp_path / "a"
    ours.save_file({"a": np.ones(100)}, path)
    whole = path.stat()
    os.truncate(path, whole.st_size - 8)
    monkeypatch.setattr(os, "fstat", lambda descriptor: whole)
    with pytest.raises(FormatError, match="ended 8 bytes early"):
        ours.load_file(path)


def mutate(rng, data):
    """One to four faults of the kinds that disks, transfers and attackers make."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(data)) if data else 0
        kind = rng.randrange(7)
        if kind == 0 and data:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 1 and data:
            data[at] = rng.randrange(256)
        elif kind == 2:
            del data[at:]
        elif kind == 3:
            del data[at : at + rng.randint(1, 9)]
        elif kind == 4:
            data[at:at] = bytes(rng.randrange(256) for _ in range(rng.randint(1, 9)))
        elif kind == 5:
            data[at:at] = data[at : at + rng.randint(1, 40)]
        elif data:
            digits = [i for i, byte in enumerate(data) if 48 <= byte <= 57]
            if digits:
                data[rng.choice(digits)] = rng.choice(b'0123456789-.eE[]{}"')
    return bytes(data)


def test_mutated_files_give_a_format_error_or_valid_arrays():
    rng = random.Random(0)
    small = {"w": np.ones((2, 3), np.float32), "b": np.zeros(3, np.int64), "m": np.array(True)}
    originals = [ours.save(small, {"epoch": "5"}), ours.save({"x": np.ones(4, np.int8)})]
    refused = 0
    for i in range(3000):
        data = mutate(rng, originals[i % 2])
        try:
            arrays = ours.load(data)
        except FormatError:
            refused += 1
            continue
        assert sum(value.nbytes for value in arrays.values()) <= len(data)
        assert_same(arrays, ours.load(ours.save(arrays)))
    assert 2000 < refused < 3000


def test_whatever_we_accept_the_package_accepts():
    rng = random.Random(1)
    original = ours.save({"w": np.ones((2, 3), np.float32), "b": np.zeros(3, np.int64)})
    accepted = 0
    for _ in range(1500):
        data = mutate(rng, original)
        try:
            arrays = ours.load(data)
        except FormatError:
            continue
        accepted += 1
        assert_same(arrays, safetensors.numpy.load(data))
    assert accepted > 20


# ------------------------------------------------------------ writing


@pytest.mark.parametrize(
    ("arrays", "metadata", "error"),
    [
        ({"a": np.array(["text"])}, None, DTypeError),
        ({"a": np.array([None])}, None, DTypeError),
        ({"a": np.ones(2, np.complex128)}, None, DTypeError),
        ({"a": np.zeros(2, [("x", "f4")])}, None, DTypeError),
        ({1: np.ones(2)}, None, TypeError),
        ({"__metadata__": np.ones(2)}, None, ValueError),
        ({"\ud800": np.ones(2)}, None, ValueError),
        ({"a": np.ones(2)}, {"a": 1}, TypeError),
        ({"a": np.ones(2)}, {"a": "\ud800"}, ValueError),
    ],
)
def test_what_cannot_be_written_is_refused_and_the_old_file_stays(
    arrays, metadata, error, tmp_path
):
    path = tmp_path / "a"
    ours.save_file({"old": np.ones(1)}, path)
    with pytest.raises(error, match="safetensors: "):
        ours.save_file(arrays, path, metadata)
    assert list(ours.load_file(path)) == ["old"]
    assert os.listdir(tmp_path) == ["a"]


def test_a_failed_write_leaves_the_old_file_and_no_rubbish(tmp_path, monkeypatch):
    path = tmp_path / "a"
    ours.save_file({"old": np.ones(1)}, path)

    def full(descriptor):
        raise OSError("no space left on device")

    monkeypatch.setattr(atomic.os, "fsync", full)
    with pytest.raises(OSError, match="no space"):
        ours.save_file({"new": np.ones(1)}, path)
    assert list(ours.load_file(path)) == ["old"]
    assert os.listdir(tmp_path) == ["a"]


def test_a_short_write_is_continued(tmp_path, monkeypatch):
    write = os.write
    monkeypatch.setattr(atomic.os, "write", lambda fd, piece: write(fd, piece[:5]))
    ours.save_file({"a": np.arange(10)}, tmp_path / "a")
    np.testing.assert_array_equal(ours.load_file(tmp_path / "a")["a"], np.arange(10))


def test_a_link_stays_a_link_and_the_mode_is_the_users(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "target")
    ours.save_file({"a": np.ones(1)}, tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert "a" in ours.load_file(tmp_path / "target")
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / "target").stat().st_mode) == 0o666 & ~umask


def test_a_reader_sees_whole_files_while_others_write(tmp_path):
    path = tmp_path / "a"
    ours.save_file({"a": np.zeros(2000)}, path)

    def write(value):
        for _ in range(10):
            ours.save_file({"a": np.full(2000, value)}, path)

    writers = [threading.Thread(target=write, args=(float(i),)) for i in range(3)]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert len(set(ours.load_file(path)["a"].tolist())) == 1
    for writer in writers:
        writer.join()
    assert os.listdir(tmp_path) == ["a"]


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        ours.load_file(tmp_path / "none")
