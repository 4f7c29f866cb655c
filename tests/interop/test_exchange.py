"""Memory to and from other libraries: DLPack, buffers, array interface, pickle, copies."""

import copy
import pickle
import sys

import ml_dtypes
import numpy as np
import pytest

import numen as nm
from numen.errors import GradientError


def address(array):
    """Where an array's memory starts."""
    return np.asarray(array).__array_interface__["data"][0]


def leaf():
    return nm.array([1.0, 2.0], requires_grad=True)


# ------------------------------------------------------------ DLPack

DTYPES = ["int8", "int64", "uint8", "float16", "float32", "float64", "complex64", "bool"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_torch_shares_memory_both_ways(dtype):
    torch = pytest.importorskip("torch")
    x = nm.asarray(np.asarray([[1, 0, 1], [0, 1, 1]], dtype=dtype))
    theirs = torch.from_dlpack(x)
    assert theirs.data_ptr() == address(x)
    assert theirs.tolist() == x.tolist()
    theirs[0, 1] = 1
    assert x[0, 1] == 1
    ours = nm.from_dlpack(theirs)
    assert type(ours) is nm.Array
    assert ours.dtype == dtype
    assert address(ours) == theirs.data_ptr()
    ours[1, 0] = 1
    assert theirs[1, 0] == 1


def test_torch_sees_strides():
    torch = pytest.importorskip("torch")
    x = nm.arange(12.0).reshape(3, 4)
    assert torch.from_dlpack(x.T).tolist() == x.T.tolist()
    assert torch.from_dlpack(x[1:, ::2]).tolist() == x[1:, ::2].tolist()
    view = nm.from_dlpack(torch.arange(6.0).reshape(2, 3).T)
    assert view.strides == (4, 12)


def test_torch_by_the_other_roads():
    torch = pytest.importorskip("torch")
    x = nm.arange(3.0)
    assert torch.as_tensor(x).data_ptr() == address(x)
    assert torch.asarray(x).tolist() == [0.0, 1.0, 2.0]
    assert torch.from_numpy(x.numpy()).data_ptr() == address(x)
    tensor = torch.ones(3)
    assert address(nm.asarray(tensor)) == tensor.data_ptr()
    assert (nm.ones(3) + np.asarray(tensor)).tolist() == [2.0, 2.0, 2.0]


def test_jax_shares_memory_both_ways():
    jax = pytest.importorskip("jax")
    from jax import dlpack

    # 64 bytes: jax copies what is aligned less.
    memory = np.zeros(32, dtype=np.float32)
    start = (-memory.ctypes.data % 64) // 4
    x = nm.asarray(memory[start : start + 8])
    theirs = dlpack.from_dlpack(x)
    assert theirs.unsafe_buffer_pointer() == address(x)
    made = jax.numpy.arange(4)
    ours = nm.from_dlpack(made)
    assert ours.tolist() == [0, 1, 2, 3]
    assert address(ours) == made.unsafe_buffer_pointer()
    assert not ours.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        ours[0] = 1
    assert nm.asarray(made).tolist() == [0, 1, 2, 3]


def test_numpy_by_dlpack():
    data = np.arange(4.0)
    x = nm.from_dlpack(data)
    assert address(x) == address(data)
    assert address(np.from_dlpack(x)) == address(data)
    copied = nm.from_dlpack(data, copy=True, device="cpu")
    assert address(copied) != address(data)
    assert x.__dlpack_device__() == data.__dlpack_device__()
    assert nm.from_dlpack(x[::2]).tolist() == [0.0, 2.0]


def test_read_only_memory_stays_read_only():
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    x = nm.asarray(fixed)
    assert not nm.from_dlpack(x).flags.writeable
    assert not np.from_dlpack(x).flags.writeable
    with pytest.raises(BufferError):
        x.__dlpack__()  # a consumer that can't say "read-only"
    x.__dlpack__(max_version=(1, 0))


@pytest.mark.parametrize("value", ["text", np.datetime64("2020-01-01"), None])
def test_dtypes_that_dlpack_lacks_are_refused(value):
    with pytest.raises((BufferError, TypeError)):
        nm.asarray([value]).__dlpack__()


def test_small_floats_are_refused():
    with pytest.raises(BufferError):
        nm.asarray(np.ones(2, dtype=ml_dtypes.bfloat16)).__dlpack__()


def test_gradients_do_not_leave():
    x = leaf()
    with pytest.raises(BufferError, match="detach"):
        x.__dlpack__()
    with pytest.raises(BufferError, match="detach"):
        np.from_dlpack(x * 2)
    with pytest.raises(GradientError, match="detach"):
        nm.from_dlpack(x)
    with pytest.raises(GradientError, match="detach"):
        np.asarray(x)
    with pytest.raises(GradientError, match="detach"):
        np.array([x[0], x[1]])
    assert np.from_dlpack(x.detach()).tolist() == [1.0, 2.0]
    with nm.no_grad():
        assert np.asarray(x).tolist() == [1.0, 2.0]


# ------------------------------------------------------------ __array__ and the buffer


def test_the_array_interface_shares_memory():
    data = np.arange(6.0).reshape(2, 3)
    x = nm.asarray(data)
    assert x.__array_interface__ == data.__array_interface__
    assert x.T.__array_interface__ == data.T.__array_interface__

    class Holder:
        __array_interface__ = x.__array_interface__

    np.asarray(Holder())[0, 0] = 7
    assert x[0, 0] == 7


def test_numpys_constructors():
    data = np.arange(3.0)
    x = nm.asarray(data)
    assert type(np.asarray(x)) is np.ndarray
    assert address(np.asarray(x)) == address(data)
    assert address(np.array(x, copy=False)) == address(data)
    assert address(np.array(x, copy=None)) == address(data)
    assert address(np.array(x)) != address(data)
    assert address(np.array(x, copy=True)) != address(data)
    assert np.asarray(x, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.array(x, dtype=np.float32, copy=False)
    assert np.array([x, x]).shape == (2, 3)
    assert np.asarray([x[0], x[1]]).tolist() == [0.0, 1.0]
    assert np.float32(x[1]) == 1
    assert type(np.ascontiguousarray(x)) is np.ndarray
    assert np.require(x, requirements="W").flags.writeable
    assert np.ma.masked_array(x, mask=[0, 1, 0]).sum() == 2


def test_numpys_copy_of_a_scalar_is_writable():
    taken = np.asarray(nm.arange(3.0)[1])
    assert taken.shape == ()
    taken[...] = 5


def test_writes_through_numpy_are_seen():
    x = nm.zeros(3)
    np.asarray(x)[1] = 4
    assert x.tolist() == [0.0, 4.0, 0.0]


def test_buffers():
    x = nm.asarray(np.arange(6, dtype=np.int16).reshape(2, 3))
    view = x.__buffer__(0)
    assert (view.shape, view.format, view.readonly) == ((2, 3), "h", False)
    view[1, 2] = 50
    assert x[1, 2] == 50
    fixed = nm.broadcast_to(x[0], (2, 3))
    assert fixed.__buffer__(0).readonly
    with pytest.raises(BufferError, match="detach"):
        leaf().__buffer__(0)


@pytest.mark.skipif(sys.version_info < (3, 12), reason="needs Python 3.12's __buffer__")
def test_memoryview():
    x = nm.arange(3)
    view = memoryview(x)
    view[0] = 9
    assert x.tolist() == [9, 1, 2]
    assert bytes(x) == x.tobytes()
    assert nm.frombuffer(x, dtype=np.int64).tolist() == [9, 1, 2]
    with pytest.raises(BufferError, match="detach"):
        memoryview(leaf())
    with pytest.raises(GradientError, match="detach"):
        np.asarray(leaf())


# ------------------------------------------------------------ pickle and copies


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickle(protocol):
    for x in [nm.arange(6.0).reshape(2, 3).T, nm.asarray(["a", "bc"]), nm.arange(3)[1], leaf()]:
        back = pickle.loads(pickle.dumps(x, protocol))
        assert type(back) is nm.Array
        assert back.dtype == x.dtype
        assert back.strides == x.strides
        assert back.detach().tolist() == x.detach().tolist()
        assert back.requires_grad == x.requires_grad
    assert hash(pickle.loads(pickle.dumps(nm.arange(3)[1], protocol))) == hash(1)
    with pytest.raises(GradientError, match="leaves"):
        pickle.dumps(leaf() * 2, protocol)


def test_pickle_out_of_band():
    buffers = []
    x = nm.arange(1000.0)
    stored = pickle.dumps(x, protocol=5, buffer_callback=buffers.append)
    assert len(stored) < 1000
    assert len(buffers) == 1
    assert pickle.loads(stored, buffers=buffers).tolist() == x.tolist()


def test_copies():
    x = nm.arange(4.0)
    for made in (copy.copy(x), copy.deepcopy(x)):
        made[0] = 9
        assert x[0] == 0
    shared = copy.deepcopy([x, x])
    assert shared[0] is shared[1]
    y = leaf()
    assert copy.deepcopy(y).requires_grad
    copy.copy(y).sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]
    with pytest.raises(GradientError, match="leaves"):
        copy.deepcopy(y * 2)
