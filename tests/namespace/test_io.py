"""Files: what numen writes NumPy reads, and the other way round, byte for byte."""

import io

import numpy as np
import pytest

import numen as nm

ARRAYS = [
    np.arange(6.0).reshape(2, 3),
    np.asfortranarray(np.arange(6, dtype="i2").reshape(2, 3)),
    np.array(3, dtype=">f4"),
    np.zeros((0, 3), "c8"),
    np.array(["a", "bc"]),
    np.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f8")]),
    np.array(["2024-01-01"], "M8[D]"),
]


def same(ours, theirs):
    assert isinstance(ours, nm.Array)
    np.testing.assert_array_equal(ours.numpy(), theirs, strict=True)


@pytest.mark.parametrize("data", ARRAYS, ids=lambda a: a.dtype.str)
def test_npy_both_ways(tmp_path, data):
    nm.save(tmp_path / "ours.npy", nm.asarray(data))
    np.save(tmp_path / "theirs.npy", data)
    assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
    same(nm.load(tmp_path / "theirs.npy"), data)


def test_names_and_lists(tmp_path):
    nm.save(str(tmp_path / "x"), [nm.ones(2), nm.zeros(2)])
    same(nm.load(tmp_path / "x.npy"), np.array([[1.0, 1.0], [0.0, 0.0]]))
    x = nm.array([1.0], requires_grad=True)
    nm.save(tmp_path / "x.npy", x)
    assert not nm.load(tmp_path / "x.npy").requires_grad


def test_objects_are_refused_unless_asked_for(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a file ran code",))

    harmless = np.array([{"a": 1}, None], dtype=object)
    np.save(tmp_path / "bomb.npy", np.array([Bomb()], dtype=object))
    np.savez(tmp_path / "bomb.npz", bomb=np.array([Bomb()], dtype=object))
    np.save(tmp_path / "objects.npy", harmless)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        nm.load(tmp_path / "bomb.npy")
    with nm.load(tmp_path / "bomb.npz") as stored, pytest.raises(ValueError, match="allow_pickle"):
        stored["bomb"]
    assert nm.load(tmp_path / "objects.npy", allow_pickle=True).tolist() == harmless.tolist()
    with pytest.raises(ValueError, match="allow_pickle"):
        nm.save(tmp_path / "no.npy", nm.asarray(harmless), allow_pickle=False)


@pytest.mark.parametrize("name", ["savez", "savez_compressed"])
def test_npz_both_ways(tmp_path, name):
    getattr(nm, name)(tmp_path / "ours.npz", nm.arange(3), x=nm.ones((2, 2)), n=3)
    with np.load(tmp_path / "ours.npz") as theirs:
        assert theirs.files == ["x", "n", "arr_0"]
        np.testing.assert_array_equal(theirs["x"], np.ones((2, 2)))
    stored = nm.load(tmp_path / "ours.npz")
    assert list(stored) == stored.files == ["x", "n", "arr_0"]
    assert len(stored) == 3
    assert "x" in stored
    assert "y" not in stored
    same(stored["arr_0"], np.arange(3))
    same(stored.f.x, np.ones((2, 2)))
    assert dir(stored.f) == sorted(stored.files)
    assert {k: v.shape for k, v in stored.items()} == {"x": (2, 2), "n": (), "arr_0": (3,)}
    assert repr(stored).startswith("NpzFile")
    with pytest.raises(KeyError):
        stored["y"]
    with pytest.raises(AttributeError):
        stored.f.y
    stored.close()


def test_bad_files(tmp_path):
    (tmp_path / "text.npy").write_text("no array")
    (tmp_path / "empty.npy").write_bytes(b"")
    with pytest.raises(ValueError, match="allow_pickle"):
        nm.load(tmp_path / "text.npy")
    with pytest.raises(EOFError):
        nm.load(tmp_path / "empty.npy")
    with pytest.raises(FileNotFoundError):
        nm.load(tmp_path / "absent.npy")


def test_mapped_files(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(4.0))
    x = nm.load(tmp_path / "x.npy", mmap_mode="r+")
    x[1:3] *= 10
    nm.memmap.flush(x)
    assert np.load(tmp_path / "x.npy").tolist() == [0, 10, 20, 3]
    readonly = nm.load(tmp_path / "x.npy", mmap_mode="r")
    with pytest.raises(ValueError, match="read-only"):
        readonly[0] = 1
    y = nm.memmap(tmp_path / "raw", "i2", mode="w+", shape=(2, 3))
    y[1] = 5
    owner = nm.memmap.owner(y[1:])
    assert (owner.mode, owner.offset) == ("w+", 0)
    nm.memmap.flush(y[1:])
    assert np.fromfile(tmp_path / "raw", "i2").tolist() == [0, 0, 0, 5, 5, 5]
    assert nm.memmap(tmp_path / "raw", "i2", "r", 6).tolist() == [5, 5, 5]
    with pytest.raises(TypeError, match="mapped from a file"):
        nm.memmap.owner(nm.ones(2))


TEXTS = """
np.loadtxt(["1 2", "3 4"])
np.loadtxt(["1,2", "3,4"], delimiter=",", dtype=int, usecols=1)
np.loadtxt(["1 2", "3 4"], unpack=True)
np.loadtxt(["# no", "1 2"], skiprows=1, ndmin=2)
np.loadtxt(["1 a"], dtype=[("n", "i4"), ("s", "U3")])
np.loadtxt(["1 a"])
np.loadtxt(["1 2"], converters={0: lambda s: float(s) * 10})
np.genfromtxt(["1,2", "3,"], delimiter=",")
np.genfromtxt(["a b", "1 2.5"], names=True)
np.genfromtxt(["1,x"], delimiter=",", dtype=None)
np.genfromtxt(["1,2", "3"], delimiter=",")
np.fromregex(io.StringIO("1312 foo\\n1534 bar"), r"(\\d+)\\s+(...)", [("n", "i8"), ("k", "S3")])
""".strip().splitlines()


@pytest.mark.parametrize("text", TEXTS)
def test_reading_text(text):
    results = []
    for module in (nm, np):
        try:
            results.append(eval(text, {"np": module, "io": io}))
        except Exception as error:
            results.append(error)
    ours, theirs = results
    if isinstance(theirs, Exception):
        assert isinstance(ours, type(theirs))
    else:
        same(ours, theirs)


def test_writing_text(tmp_path):
    written = []
    for module, name in ((nm, "ours"), (np, "theirs")):
        x = module.arange(6.0).reshape(2, 3)
        module.savetxt(tmp_path / name, x, fmt="%.2f", delimiter=",", header="h", footer="f")
        written.append((tmp_path / name).read_bytes())
    assert written[0] == written[1]


def test_masked_results_stay_numpy_s():
    masked = nm.genfromtxt(["1,2", "3,"], delimiter=",", usemask=True)
    assert isinstance(masked, np.ma.MaskedArray)


def test_a_trace_does_not_write_files(tmp_path):
    file = tmp_path / "x.npy"

    @nm.jit
    def f(x):
        y = x * 2
        nm.save(file, y)
        return y

    for value in (1.0, 2.0, 3.0, 4.0):
        f(nm.array([value]))
        assert nm.load(file).tolist() == [2 * value]
