"""Plans: values that reach the kernels, errors that leave no trace, threads, the GIL, fork."""

from __future__ import annotations

import gc
import struct
import sys
import threading
import time
from collections.abc import Callable

import numpy as np
import pytest

from numen.runtime import threads
from numen.runtime.native import Library
from numen.runtime.plan import Plan, execute

MakePlan = Callable[..., Plan]


def floats(n: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(n).astype(np.float32)


# Values.


@pytest.mark.parametrize(
    ("n", "grain"), [(1, 1), (7, 100), (1000, 1), (1000, 7), (100_000, 3333), (0, 8)]
)
@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_sum_in_chunks(add_plan: MakePlan, n: int, grain: int, count: int) -> None:
    before = threads.num_threads()
    threads.set_num_threads(count)
    try:
        a, b, c = floats(n, 1), floats(n, 2), np.full(n, np.nan, np.float32)
        assert add_plan(n, grain).run(a, b, c) is None
        assert np.array_equal(c, a + b)
    finally:
        threads.set_num_threads(before)


@pytest.mark.parametrize("options", [{}, {"serial": True}, {"release_gil": True}])
@pytest.mark.parametrize("chunks", [0, 1, 2, 3, 64, 5000])
def test_every_chunk_runs_exactly_once(
    one_array: MakePlan, two_threads: None, chunks: int, options: dict[str, bool]
) -> None:
    ticks = np.zeros(chunks + 1, np.int64)
    plan = one_array("tick", chunks, **options)
    for _ in range(20):
        plan.run(ticks)
    assert (ticks[:-1] == 20).all()
    assert ticks[-1] == 0


def test_execute_is_run(add_plan: MakePlan) -> None:
    a, b, c = floats(5, 1), floats(5, 2), floats(5, 3)
    execute(add_plan(5, 2), a, b, c)
    assert np.array_equal(c, a + b)


def test_byte_offsets_move_pointers_both_ways(kernels: Library) -> None:
    plan = Plan(("array", "array"), bytes(16), [(0, 0, 16), (8, 1, -8)],
                [(kernels.address("copy"), 0, 1)])  # fmt: skip
    source, target = np.arange(4), np.zeros(4, np.int64)
    plan.run(source, target[3:])
    assert target.tolist() == [0, 0, 2, 0]


@pytest.mark.parametrize(
    "value",
    [0.0, -0.0, -1.0, 1.5, float("inf"), float("nan"), 3, True, np.float32(0.1), np.float64(-1.0)],
)
def test_float_slots_carry_all_bits(kernels: Library, value: float) -> None:
    plan = Plan(("float", "array"), bytes(16), [(0, 1, 0), (8, 0, 0)],
                [(kernels.address("put"), 0, 1)])  # fmt: skip
    out = np.zeros(1)
    plan.run(value, out)
    assert out.tobytes() == struct.pack("=d", float(value))


@pytest.mark.parametrize("value", [0, -1, 2**63 - 1, -(2**63), True, np.int32(-7), np.uint8(200)])
def test_int_slots_carry_64_bits(kernels: Library, value: int) -> None:
    plan = Plan(("array", "int"), bytes(16), [(0, 0, 0), (8, 1, 0)],
                [(kernels.address("put"), 0, 1)])  # fmt: skip
    out = np.zeros(1, np.int64)
    plan.run(out, value)
    assert out[0] == int(value)


@pytest.mark.parametrize("arena_bytes", [8 * 100, 2**20, 3 * 2**20 + 1])
@pytest.mark.parametrize("chunks", [1, 100])
def test_launches_share_an_arena(
    kernels: Library, two_threads: None, arena_bytes: int, chunks: int
) -> None:
    # fill the arena, copy it to the argument, note the arena's address
    frame = bytes(8 + 16 + 16)
    patches = [(0, 1, 0), (8, 1, 0), (16, 0, 0), (24, 0, 8 * chunks), (32, 1, 0)]
    launches = [(kernels.address("fill"), 0, chunks), (kernels.address("copy"), 8, chunks),
                (kernels.address("put"), 24, 1)]  # fmt: skip
    plan = Plan(("array",), frame, patches, launches, arena_bytes)
    out = np.zeros(chunks + 1, np.int64)
    for _ in range(3):
        plan.run(out)
        assert np.array_equal(out[:-1], 3 * np.arange(chunks) + 1)
        assert out[-1] % 64 == 0


def test_a_large_frame_leaves_the_stack(kernels: Library) -> None:
    count = 3000
    frame = b"".join(struct.pack("=2q", 0, i) for i in range(count))
    patches = [(16 * i, 0, 8 * i) for i in range(count)]
    launches = [(kernels.address("put"), 16 * i, 1) for i in range(count)]
    plan = Plan(("array",), frame, patches, launches)
    out = np.zeros(count, np.int64)
    plan.run(out)
    assert np.array_equal(out, np.arange(count))


def test_many_slots(kernels: Library) -> None:
    count = 700
    patches = [(8 * i, i, 0) for i in range(count)]
    launches = [(kernels.address("copy"), 8 * i, 1) for i in range(count - 1)]
    arrays = [np.array([i]) for i in range(count)]
    Plan(("array",) * count, bytes(8 * count), patches, launches).run(*arrays)
    assert [int(a[0]) for a in arrays] == [0] * count


def test_an_empty_plan_runs() -> None:
    plan = Plan((), b"", [], [])
    assert plan.run() is None
    assert "0 launches" in repr(plan)


# Errors: raised before anything is launched.


class BadFloat:
    def __float__(self) -> float:
        raise ZeroDivisionError("no float")


class BadIndex:
    def __index__(self) -> int:
        raise ZeroDivisionError("no int")


@pytest.fixture(params=[0, 2**16], ids=["stack", "heap"])
def mixed(kernels: Library, request: pytest.FixtureRequest) -> Plan:
    patches = [(0, 0, 0), (8, 1, 0), (16, 2, 0)]
    launch = (kernels.address("tick"), 0, 1)
    return Plan(("array", "float", "int"), bytes(24), patches, [launch], request.param)


@pytest.mark.parametrize(
    ("objects", "error"),
    [
        ((), TypeError),
        ((1.0,), TypeError),
        ((np.zeros(1), 1.0), TypeError),
        ((np.zeros(1), 1.0, 1, 1), TypeError),
        ((None, 1.0, 1), TypeError),
        (([0.0], 1.0, 1), TypeError),
        ((np.float64(1), 1.0, 1), TypeError),
        ((np.ndarray, 1.0, 1), TypeError),
        ((memoryview(b"12345678"), 1.0, 1), TypeError),
        ((np.ma.zeros(1), 1.0, 1), TypeError),
        ((np.zeros(1).view(np.recarray), 1.0, 1), TypeError),
        ((np.zeros(1), "1.0", 1), TypeError),
        ((np.zeros(1), None, 1), TypeError),
        ((np.zeros(1), 1j, 1), TypeError),
        ((np.zeros(1), 10**400, 1), OverflowError),
        ((np.zeros(1), BadFloat(), 1), ZeroDivisionError),
        ((np.zeros(1), 1.0, 1.0), TypeError),
        ((np.zeros(1), 1.0, "1"), TypeError),
        ((np.zeros(1), 1.0, 2**63), OverflowError),
        ((np.zeros(1), 1.0, -(2**63) - 1), OverflowError),
        ((np.zeros(1), 1.0, BadIndex()), ZeroDivisionError),
    ],
)
def test_wrong_objects_raise(
    mixed: Plan, objects: tuple[object, ...], error: type[Exception]
) -> None:
    for _ in range(3):
        with pytest.raises(error):
            mixed.run(*objects)
    if objects and type(objects[0]) is np.ndarray:
        assert objects[0][0] == 0  # not launched
    good = np.zeros(1, np.int64)
    mixed.run(good, 1.0, 1)
    assert good[0] == 1


def test_keywords_are_refused(mixed: Plan) -> None:
    with pytest.raises(TypeError):
        mixed.run(np.zeros(1), 1.0, i=1)


def test_messages_name_the_argument(mixed: Plan) -> None:
    with pytest.raises(TypeError, match="expected 3 arguments, got 1 objects"):
        mixed.run(1)
    with pytest.raises(TypeError, match=r"argument 0: expected exactly a numpy.ndarray.*list"):
        mixed.run([], 1.0, 1)


def test_a_scalar_that_moves_an_array_is_seen(kernels: Library) -> None:
    class Mover:
        def __float__(self) -> float:
            array.resize(100_000, refcheck=False)
            return 1.0

    plan = Plan(("array", "float"), bytes(16), [(0, 0, 0), (8, 1, 0)],
                [(kernels.address("put"), 0, 1)])  # fmt: skip
    array = np.zeros(1)
    plan.run(array, Mover())
    assert array[0] == 1.0


def test_too_large_an_arena_is_a_memory_error(run_script: Callable[..., str]) -> None:
    run_script("""
import resource
from numen.runtime.plan import Plan
plan = Plan((), b"", [], [], arena_bytes=2**40)
small = Plan((), b"", [], [], arena_bytes=2**10)
resource.setrlimit(resource.RLIMIT_AS, (2**36, 2**36))
for _ in range(3):
    try:
        plan.run()
    except MemoryError:
        small.run()
    else:
        raise AssertionError("no MemoryError")
""")


def test_no_reference_is_lost_or_kept(mixed: Plan) -> None:
    array, number, big = np.zeros(1, np.int64), 12345.678, 2**200
    before = [sys.getrefcount(x) for x in (array, number, big)]
    nones = sys.getrefcount(None)
    for _ in range(1000):
        mixed.run(array, number, 7)
        with pytest.raises(OverflowError):
            mixed.run(array, number, big)
    assert [sys.getrefcount(x) for x in (array, number, big)] == before
    assert abs(sys.getrefcount(None) - nones) < 500


def test_run_outlives_its_plan(add_plan: MakePlan) -> None:
    run = add_plan(6, 2).run
    gc.collect()
    a, b, c = floats(6, 1), floats(6, 2), floats(6, 3)
    run(a, b, c)
    assert np.array_equal(c, a + b)


@pytest.mark.parametrize(
    "change",
    [
        {"slots": ("array", "number")},
        {"frame": bytes(12)},
        {"patches": [(16, 0, 0)]},
        {"patches": [(-8, 0, 0)]},
        {"patches": [(4, 0, 0)]},
        {"patches": [(0, 3, 0)]},
        {"patches": [(0, -1, 0)]},
        {"patches": [(0, 0, 2**63)]},
        {"patches": [(0, 1, 8)]},
        {"patches": [(0, 0)]},
        {"launches": [(0, 0, 1)]},
        {"launches": [(-1, 0, 1)]},
        {"launches": [(2**64, 0, 1)]},
        {"launches": [(4096, 24, 1)]},
        {"launches": [(4096, -8, 1)]},
        {"launches": [(4096, 3, 1)]},
        {"launches": [(4096, 0, -1)]},
        {"launches": [(4096, 0, 2**63)]},
        {"arena_bytes": -1},
        {"arena_bytes": 2**63},
    ],
)
def test_a_plan_that_does_not_fit_is_refused(change: dict[str, object]) -> None:
    good: dict[str, object] = {
        "slots": ("array", "float"),
        "frame": bytes(16),
        "patches": [(0, 0, 0), (8, 2, 0)],
        "launches": [(4096, 0, 0)],
        "arena_bytes": 64,
    }
    Plan(**good)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="Plan"):
        Plan(**good | change)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "change", [{"patches": [(0.0, 0, 0)]}, {"launches": [("f", 0, 1)]}, {"arena_bytes": 1.5}]
)
def test_plans_take_integers_only(change: dict[str, object]) -> None:
    with pytest.raises(TypeError):
        Plan(**{"slots": ("array",), "frame": bytes(8), "patches": [], "launches": []} | change)


# Threads.


def test_two_threads_run_one_launch(one_array: MakePlan, two_threads: None) -> None:
    plan = one_array("meet", 2)
    for pause in (0.0, 0.0, 0.02, 0.02):  # spinning and sleeping workers
        time.sleep(pause)
        cells = np.array([0, 2, 0, 0])
        plan.run(cells)
        assert cells.tolist() == [2, 2, 2, 2]
    assert threads.started_workers() >= 1


def test_more_threads_than_cores(one_array: MakePlan, two_threads: None) -> None:
    threads.set_num_threads(6)
    cells = np.array([0, 6, *[0] * 6])
    one_array("meet", 6).run(cells)
    assert (cells[2:] == 6).all()
    threads.set_num_threads(2)
    cells = np.array([0, 2, 0, 0])
    one_array("meet", 2).run(cells)
    assert (cells[2:] == 2).all()


def wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.001)


def test_the_gil_is_free_and_a_busy_pool_does_not_block(
    one_array: MakePlan, two_threads: None
) -> None:
    # The first launch holds the pool until this thread, which needs the GIL for it, lets it go.
    cells = np.array([0, 3, 0, 0])
    holder = threading.Thread(target=one_array("meet", 2, release_gil=True).run, args=(cells,))
    holder.start()
    wait_for(lambda: cells[0] == 2)
    ticks = np.zeros(50, np.int64)
    for _ in range(10):
        one_array("tick", 50).run(ticks)
    assert holder.is_alive()
    cells[0] = 3
    holder.join()
    assert (ticks == 10).all()
    assert cells.tolist() == [3, 3, 3, 3]


@pytest.mark.parametrize("release_gil", [False, True])
def test_eight_python_threads_share_a_plan(
    add_plan: MakePlan, two_threads: None, release_gil: bool
) -> None:
    plan = add_plan(1000, 90, release_gil=release_gil)
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            a, b = floats(1000, seed), floats(1000, seed + 100)
            for _ in range(300):
                c = np.empty(1000, np.float32)
                plan.run(a, b, c)
                assert np.array_equal(c, a + b)
        except BaseException as error:
            failures.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert failures == []


def test_changing_the_number_of_threads_during_launches(
    one_array: MakePlan, two_threads: None
) -> None:
    plan = one_array("tick", 500, release_gil=True)
    ticks = np.zeros(500, np.int64)

    def launch() -> None:
        for _ in range(500):
            plan.run(ticks)

    worker = threading.Thread(target=launch)
    worker.start()
    count = 1
    while worker.is_alive():
        count = count % 4 + 1
        threads.set_num_threads(count)
    worker.join()
    assert (ticks == 500).all()


# Fork.

FORK = """
import os, struct, threading, time
import numpy as np
from numen.runtime import native, threads
from numen.runtime.plan import Plan
library = native.compile_ir("kernels", KERNELS)
threads.set_num_threads(2)
def plan(name, chunks, **options):
    launch = (library.address(name), 0, chunks)
    return Plan(("array",), bytes(16), [(0, 0, 0)], [launch], **options)
meet, tick = plan("meet", 2), plan("tick", 40)
def check():
    cells, ticks = np.array([0, 2, 0, 0]), np.zeros(40, np.int64)
    meet.run(cells)
    tick.run(ticks)
    assert cells.tolist() == [2, 2, 2, 2] and (ticks == 1).all()
def in_child(depth=0):
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            assert threads.started_workers() == 0
            check()
            if depth:
                in_child(depth - 1)
                check()
            code = 0
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
"""


def test_a_forked_child_has_its_own_pool(run_script: Callable[..., str]) -> None:
    run_script(
        FORK
        + """
in_child()          # before the pool has started
check()
for pause in (0, 0.02):
    time.sleep(pause)
    in_child(depth=1)
    check()
""",
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )


def test_fork_during_a_launch(run_script: Callable[..., str]) -> None:
    run_script(
        FORK
        + """
cells = np.array([0, 3, 0, 0])
holder = threading.Thread(target=plan("meet", 2, release_gil=True).run, args=(cells,))
holder.start()
while cells[0] < 2:
    time.sleep(0.001)
in_child()          # its pool is free, though the parent's was not
cells[0] = 3
holder.join()
check()
""",
        PYTHONWARNINGS="ignore::DeprecationWarning",
    )
