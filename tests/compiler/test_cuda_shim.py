"""The shim gives CUDA's words their meaning on a CPU, and reports what would hang a GPU."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from numen.compiler.codegen.cuda.shim import launch, load
from numen.compiler.codegen.cuda.shim.shim import find_compiler
from numen.errors import CompileError

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C++ compiler")

# One kernel with a mode argument, since each source takes the C++ compiler about a second.
SOURCE = """
extern "C" __global__ void numen_shim_test(long long mode, long long* out, int* counter) {
  extern __shared__ long long tile[];
  const unsigned at = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  const unsigned count = blockDim.x * blockDim.y * blockDim.z;
  const long long all = (long long)blockIdx.x * count + at;
  if (mode == 0) {  // reverse a block, then swap neighbours, then count
    tile[at] = all;
    __syncthreads();
    const long long value = tile[count - 1 - at];
    out[all] = __shfl_xor_sync(0xffffffffu, value, 1);
    atomicAdd(counter, 1);
  } else if (mode == 1) {  // segments of 16 lanes
    out[all] = __shfl_down_sync(0xffffu << (at & 16), (int)all, 8, 16);
  } else if (mode == 2) {
    out[all] = __ballot_sync(0xffffffffu, at % 3 == 0);
  } else if (mode == 3) {  // waits in different lines
    if (at < 40)
      __syncthreads();
    else
      __syncthreads();
  } else if (mode == 4) {  // waits for different things
    if (at < 16)
      __syncthreads();
    else
      out[all] = __shfl_sync(0xffffffffu, 1, 0);
  } else if (mode == 5) {  // early exit
    if (at >= 40) return;
    __syncthreads();
    out[all] = 1;
  } else if (mode == 6) {  // a lane that takes no part
    if (at < 16) out[all] = __shfl_sync(0xffffu, 7, 20);
  }
}
"""


def run(mode, grid=(2,), block=(64,), **options):
    out = np.zeros(np.prod(grid) * np.prod(block), np.int64)
    counter = np.zeros(1, np.int32)
    (kernel,) = load(SOURCE, ["numen_shim_test"])
    launch(kernel, grid, block, [mode, out, counter], shared=8 * 1024, **options)
    return out, counter[0]


@pytest.mark.parametrize("block", [(64,), (1024,), (8, 4, 2)])
def test_shared_memory_barrier_shuffle_and_atomic(block):
    out, counter = run(0, grid=(3,), block=block)
    count = np.prod(block)
    expected = np.arange(3 * count).reshape(3, count)[:, ::-1].reshape(3, -1, 2)[:, :, ::-1]
    np.testing.assert_array_equal(out, expected.ravel())
    assert counter == 3 * count


def test_shuffle_stays_inside_its_segment():
    out, _ = run(1)
    lanes = np.arange(128)
    np.testing.assert_array_equal(out, np.where(lanes % 16 < 8, lanes + 8, lanes))


def test_ballot_has_a_bit_per_lane():
    out, _ = run(2, grid=(1,))
    assert out[0] == sum(1 << lane for lane in range(32) if lane % 3 == 0)
    assert out[32] == sum(1 << lane for lane in range(32) if (lane + 32) % 3 == 0)


def test_barriers_in_two_branches_are_reported():
    with pytest.raises(
        RuntimeError, match=r"barrier divergence: thread 0 .* line 19, thread 40 in"
    ):
        run(3)


def test_a_wait_without_end_is_reported():
    with pytest.raises(RuntimeError, match=r"threads 0-15 at __syncthreads.*16-31 at a warp op"):
        run(4)


def test_early_exit_leaves_a_barrier_open_unless_strict():
    out, _ = run(5, grid=(1,))
    assert out.sum() == 40
    with pytest.raises(RuntimeError, match=r"block \(0, 0, 0\): .* thread 40 has exited"):
        run(5, strict=True)


def test_shuffle_from_a_lane_outside_the_mask_is_reported():
    with pytest.raises(RuntimeError, match="reads from lane 20, which takes no part"):
        run(6)


def test_a_failure_does_not_spoil_the_next_launch():
    with pytest.raises(RuntimeError):
        run(4)
    out, _ = run(1)
    assert out[0] == 8


def test_threads_launch_at_once():
    expected, _ = run(0, grid=(20,))
    with ThreadPoolExecutor(4) as threads:
        for out, counter in threads.map(lambda _: run(0, grid=(20,)), range(40)):
            np.testing.assert_array_equal(out, expected)
            assert counter == out.size


def test_launch_limits():
    assert run(0, grid=(0,))[1] == 0
    with pytest.raises(RuntimeError, match="2048 x 1 x 1 threads"):
        run(0, block=(2048,))


def test_a_source_that_does_not_compile_says_where():
    with pytest.raises(CompileError, match=r"kernel\.cu:2"):
        load('extern "C" __global__ void broken(int* x) {\n  x[0] = undeclared;\n}\n', ["broken"])
