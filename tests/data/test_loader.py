"""The loader: batches, reproducible streams for any number of workers, faults of workers."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

import numen as nm
from numen import data


class Draws(data.Dataset):
    """Each sample draws from all global generators."""

    def __len__(self):
        return 64

    def __getitem__(self, i):
        ours = nm.random.default_stream.bits((1,), np.uint64)[0]
        return i, np.random.randint(1 << 62), random.getrandbits(62), int(ours) >> 2


class Faulty(data.Dataset):
    def __init__(self, fault):
        self.fault = fault

    def __len__(self):
        return 40

    def __getitem__(self, i):
        if i == 17:
            self.fault()
        return i


class Counting(data.IterableDataset):
    """Shared out between workers."""

    def __init__(self, n):
        self.n = n

    def __iter__(self):
        info = data.get_worker_info()
        start, step = (0, 1) if info is None else (info.id, info.num_workers)
        yield from range(start, self.n, step)


def plain(batches):
    return [[part.tolist() for part in batch] for batch in batches]


def flat(batches):
    return [value for batch in batches for value in batch.tolist()]


def no_processes():
    limit = time.monotonic() + 5
    while multiprocessing.active_children() and time.monotonic() < limit:
        time.sleep(0.01)
    return not multiprocessing.active_children()


# ------------------------------------------------------------ batches


def test_batches_of_arrays():
    x, y = np.arange(10.0).reshape(5, 2), np.arange(5)
    loader = data.DataLoader(data.ArrayDataset(x, y), batch_size=2)
    assert len(loader) == 3
    assert plain(loader) == [
        [[[0, 1], [2, 3]], [0, 1]],
        [[[4, 5], [6, 7]], [2, 3]],
        [[[8, 9]], [4]],
    ]
    part = data.Subset(data.ArrayDataset(x, y), [4, 0])
    assert plain(data.DataLoader(part, 2)) == [[[[8, 9], [0, 1]], [4, 0]]]
    assert len(list(data.DataLoader(data.ArrayDataset(x), 2, drop_last=True))) == 2
    singles = list(data.DataLoader(data.ArrayDataset(x), batch_size=None))
    assert len(singles) == 5
    assert singles[1][0].tolist() == [2, 3]


@pytest.mark.parametrize("workers", [0, 2])
def test_empty_and_small_data(workers):
    for shuffle in (False, True):
        empty = data.DataLoader([], 3, shuffle=shuffle, num_workers=workers)
        assert len(empty) == 0
        assert list(empty) == []
    assert list(data.DataLoader([1, 2], 3, drop_last=True, num_workers=workers)) == []
    (batch,) = data.DataLoader([1, 2], 3, num_workers=workers)
    assert batch.tolist() == [1, 2]


def test_samplers_and_collate():
    loader = data.DataLoader(range(6), 2, sampler=data.SubsetRandomSampler([1, 3, 5], generator=0))
    assert sorted(flat(loader)) == [1, 3, 5]
    grouped = data.DataLoader(range(6), batch_sampler=[[0, 5], [2]])
    assert [b.tolist() for b in grouped] == [[0, 5], [2]]
    assert list(data.DataLoader(range(4), 2, collate_fn=sum)) == [1, 5]


@pytest.mark.parametrize("workers", [0, 3])
def test_iterable_data_sets(workers):
    loader = data.DataLoader(Counting(20), 4, num_workers=workers)
    for _ in range(2):
        assert sorted(flat(loader)) == list(range(20))
    assert [b.tolist() for b in data.DataLoader(Counting(5), 2, drop_last=True)] == [[0, 1], [2, 3]]
    with pytest.raises(TypeError, match="no length"):
        len(loader)


def test_options_that_exclude_each_other():
    for options in (
        {"shuffle": True, "sampler": range(3)},
        {"batch_sampler": [[0]], "drop_last": True},
        {"batch_size": 0},
        {"num_workers": -1},
        {"timeout": -1},
        {"prefetch_factor": 0},
        {"persistent_workers": True},
    ):
        with pytest.raises(ValueError, match=r"DataLoader|BatchSampler"):
            data.DataLoader(range(3), **options)
    with pytest.raises(ValueError, match="own order"):
        data.DataLoader(Counting(3), shuffle=True)


# ------------------------------------------------------------ random streams


def epochs(workers, seed=7, **options):
    loader = data.DataLoader(Draws(), 6, shuffle=True, num_workers=workers, seed=seed, **options)
    result = [plain(loader), plain(loader)]
    loader.close()
    return result


def test_streams_are_the_same_for_any_number_of_workers():
    one = epochs(0)
    assert epochs(1) == one
    assert epochs(4) == one
    assert epochs(2, persistent_workers=True) == one
    assert epochs(0, seed=8) != one
    for kind in (1, 2, 3):
        drawn = [v for epoch in one for batch in epoch for v in batch[kind]]
        assert len(set(drawn)) == 128
    orders = [[v for batch in epoch for v in batch[0]] for epoch in one]
    assert orders[0] != orders[1]
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(64))


def test_reading_leaves_the_global_generators_alone():
    np.random.seed(1)
    random.seed(1)
    nm.manual_seed(1)
    expected = (
        np.random.randint(1 << 30),
        random.random(),
        nm.random.default_stream.uniform((1,)).item(),
    )
    np.random.seed(1)
    random.seed(1)
    nm.manual_seed(1)
    list(data.DataLoader(Draws(), 8, seed=0))
    got = np.random.randint(1 << 30), random.random(), nm.random.default_stream.uniform((1,)).item()
    assert got == expected


@pytest.mark.parametrize("workers", [0, 2])
def test_a_saved_place_is_gone_on_from(workers):
    loader = data.DataLoader(Draws(), 6, shuffle=True, seed=5, num_workers=workers)
    plain(loader)
    whole = plain(loader)
    stopped = data.DataLoader(Draws(), 6, shuffle=True, seed=5)
    plain(stopped)
    for number, _ in enumerate(stopped, 1):
        if number == 4:
            break
    place = stopped.state_dict()
    assert place == {"seed": 5, "epoch": 1, "batch": 4}
    resumed = data.DataLoader(Draws(), 6, shuffle=True, seed=99, num_workers=workers)
    resumed.load_state_dict(place)
    assert plain(resumed) == whole[4:]
    assert resumed.state_dict() == {"seed": 5, "epoch": 2, "batch": 0}
    third = plain(loader)
    assert plain(resumed) == third


# ------------------------------------------------------------ faults


def fail():
    raise KeyError("lost")


class OwnError(Exception):
    def __init__(self, a, b):
        super().__init__(f"{a} and {b}")


def fail_oddly():
    raise OwnError(1, 2)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_fault_in_a_sample_names_it(workers):
    def fault():
        raise ValueError("bad file")

    with pytest.raises(ValueError, match=r"bad file \(sample 17\)") as caught:
        list(data.DataLoader(Faulty(fault), 5, num_workers=workers))
    if workers:
        assert "in fault" in str(caught.value.__cause__)
        assert "DataLoader worker 1" in caught.value.__notes__[-1]
    with pytest.raises(KeyError) as caught:
        list(data.DataLoader(Faulty(fail), 5, num_workers=workers))
    assert "while fetching sample 17" in caught.value.__notes__
    assert no_processes()


def test_an_exception_that_cannot_be_brought_over_is_described():
    with pytest.raises(data.WorkerError, match="OwnError: 1 and 2"):
        list(data.DataLoader(Faulty(fail_oddly), 5, num_workers=1))


def test_a_fault_at_the_start_of_a_worker():
    def init(number):
        raise RuntimeError(f"no start {number}")

    with pytest.raises(RuntimeError, match="no start 0"):
        list(data.DataLoader(range(4), num_workers=1, worker_init_fn=init))


def test_a_batch_that_cannot_be_pickled_is_an_error():
    loader = data.DataLoader(range(4), num_workers=1, collate_fn=lambda b: lambda: b)
    with pytest.raises(Exception, match="pickle"):
        list(loader)


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_a_killed_worker_is_an_error_at_once(signal_number):
    def die():
        os.kill(os.getpid(), signal_number)

    start = time.monotonic()
    with pytest.raises(data.WorkerError, match=rf"worker 1 .* was killed by {signal_number.name}"):
        list(data.DataLoader(Faulty(die), 5, num_workers=2))
    with pytest.raises(data.WorkerError, match="exited with code 3"):
        list(data.DataLoader(Faulty(lambda: os._exit(3)), 5, num_workers=2))
    assert time.monotonic() - start < 30
    assert no_processes()


def test_a_worker_that_hangs_is_an_error_after_the_timeout():
    loader = data.DataLoader(Faulty(lambda: time.sleep(60)), 5, num_workers=2, timeout=0.5)
    with pytest.raises(TimeoutError, match=r"worker 1 gave no batch within 0\.5 seconds"):
        list(loader)
    assert no_processes()


def test_leaving_early_leaves_nothing():
    before = set(os.listdir("/dev/shm")), len(os.listdir("/proc/self/fd"))
    for _ in data.DataLoader(Draws(), 4, num_workers=3):
        break
    assert no_processes()
    loader = data.DataLoader(Draws(), 4, num_workers=2, persistent_workers=True, seed=1)
    for _ in loader:
        break
    whole = plain(loader)
    other = data.DataLoader(Draws(), 4, seed=1)
    plain(other)
    assert whole == plain(other)
    assert len(multiprocessing.active_children()) == 2
    del loader
    assert no_processes()
    assert (set(os.listdir("/dev/shm")), len(os.listdir("/proc/self/fd"))) == before


def test_persistent_workers_stay_and_know_who_they_are():
    class Who(data.Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            info = data.get_worker_info()
            return os.getpid(), info.id, info.num_workers

    loader = data.DataLoader(Who(), num_workers=2, persistent_workers=True)
    first, second = plain(loader), plain(loader)
    assert first == second
    assert [row[1] for row in first] == [[0], [1], [0], [1]]
    assert all(row[2] == [2] for row in first)
    loader.close()
    assert no_processes()
    assert data.get_worker_info() is None


def test_large_and_growing_batches_come_over_whole():
    class Growing(data.Dataset):
        def __len__(self):
            return 6

        def __getitem__(self, i):
            return np.full(1 << (4 * i), i, np.uint8), nm.full((3,), i, dtype=nm.bfloat16), "t" * i

    loader = data.DataLoader(Growing(), batch_size=None, num_workers=1, prefetch_factor=2)
    kept = list(loader)
    for i, (big, small, text) in enumerate(kept):
        assert big.shape == (1 << (4 * i),)
        assert (big == i).all()
        assert big.flags.writeable
        assert (small.dtype, small.tolist(), text) == (nm.bfloat16, [i] * 3, "t" * i)


def test_memory_does_not_grow():
    def resident():
        with open("/proc/self/statm") as file:
            return int(file.read().split()[1])

    class Blocks(data.Dataset):
        def __len__(self):
            return 400

        def __getitem__(self, i):
            return np.zeros(50_000)

    loader = data.DataLoader(Blocks(), 2, num_workers=1, persistent_workers=True)
    list(zip(loader, range(20), strict=False))
    before = resident()
    for _ in loader:
        pass
    loader.close()
    assert (resident() - before) * os.sysconf("SC_PAGE_SIZE") < 20 << 20


SCRIPT = """
import os, sys, time
from numen import data

class Slow(data.Dataset):
    def __len__(self):
        return 1000
    def __getitem__(self, i):
        time.sleep(0.01)
        return os.getpid()

for batch in data.DataLoader(Slow(), 1, num_workers=2):
    print(batch.item(), flush=True)
"""


@pytest.mark.parametrize("signal_number", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_program_leaves_nothing(tmp_path, signal_number):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    before = set(os.listdir("/dev/shm"))
    process = subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a test run in the background ignores SIGINT, and its children would too
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    workers = {int(process.stdout.readline()) for _ in range(4)}
    assert len(workers) == 2
    process.send_signal(signal_number)
    _, errors = process.communicate(timeout=30)
    assert process.returncode != 0
    if signal_number == signal.SIGINT:
        assert errors.rstrip().endswith("KeyboardInterrupt")
        assert errors.count("Traceback") == 1  # the workers keep quiet
    limit = time.monotonic() + 15
    while any(os.path.exists(f"/proc/{pid}") for pid in workers) and time.monotonic() < limit:
        time.sleep(0.05)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)
    assert set(os.listdir("/dev/shm")) <= before
