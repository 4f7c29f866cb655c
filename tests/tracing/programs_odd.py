"""Programs with odd control flow: exceptions, generators, threads, randomness, time, copies, odd
callables.
"""

from __future__ import annotations

import asyncio
import contextlib
import copy
import functools
import gc
import itertools
import random
import threading
import weakref

import numpy as np
from tests.tracing.programs import Box, array, call, program

import numen as nm

COUNT = itertools.count()


@program()
def try_except_around_ops(jit):
    def f(x, y):
        try:
            z = x + y
        except ValueError:
            z = x - 1
        finally:
            x += 1
        try:
            z = z / int(y[0])
        except ZeroDivisionError:
            z = z * 7
        return z

    g = jit(f)
    for n in (1.0, 1.0, 1.0, 0.0, 0.0, 2.0):
        x = array(1.0, 2.0)
        yield call(g, x, array(n, 1.0)), x, call(g, x, array(n, 1.0, 1.0)), x


@program()
def exceptions_after_changes(jit):
    box = Box(n=0, h=array(0.0), log=[])

    def f(x):
        box.n += 1
        box.h = box.h + x
        box.log.append(box.n)
        x += 1
        if x.sum() > 3:
            raise KeyError("x")
        box.n += 1
        return x

    g = jit(f)
    for v in (1.0, 1.0, 1.0, 5.0, 1.0, 5.0, 1.0):
        x = array(v)
        yield call(g, x), x, box.n, box.h, list(box.log)


@program()
def base_exceptions(jit):
    box = Box(n=0, lr=0.1)

    def f(x, lr):
        box.n += 1
        box.lr = lr * 2
        if box.n in (3, 6):
            raise KeyboardInterrupt
        return x * lr

    g = jit(f)
    for i in range(9):
        try:
            out = g(array(1.0), 0.1 * i)
        except KeyboardInterrupt:
            out = "interrupted"
        yield out, box.n, box.lr, type(box.n), type(box.lr)


@program()
def recursion(jit):
    @jit
    def f(x, n):
        return x if n == 0 else f(x * 2, n - 1) + 1

    for n in (3, 3, 3, 2, 5, 0, 4, 1):
        yield call(f, array(1.0), n)


@program()
def generator_functions(jit):
    def f(x, k):
        for i in range(3):
            x = x * k + i
            yield x

    g = jit(f)
    for i in range(6):
        yield list(g(array(1.0), 0.5 * i))


@program()
def generators_inside(jit):
    def f(x):
        def parts():
            y = x
            for i in range(3):
                y = y * 2 + i
                yield y

        return sum(parts()), list(parts())

    g = jit(f)
    for i in range(4):
        yield call(g, array(1.0 * i))


@program()
def returned_generators_and_closures(jit):
    def f(x, k):
        return (x * k for _ in range(2)), lambda: x * k, iter([k, x])

    g = jit(f)
    for i in range(6):
        parts, later, items = g(array(1.0), 0.5 * i)
        yield list(parts), later(), list(items)


@program()
def async_functions(jit):
    async def f(x, k):
        await asyncio.sleep(0)
        return x * k

    g = jit(f)
    for i in range(6):
        yield asyncio.run(g(array(1.0), 0.5 * i))


@program()
def captured_iterators(jit):
    count, items = itertools.count(), iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])

    def stream():
        for i in range(10):
            yield float(i)

    numbers = stream()
    f = jit(lambda x: x * next(count))
    g = jit(lambda x: x * next(items))
    h = jit(lambda x: x * next(numbers))
    t = jit(lambda x: x if next(COUNT) % 5 else -x)
    for _ in range(6):
        yield call(f, array(1.0)), call(g, array(1.0)), call(h, array(1.0))
    start = next(COUNT)
    for i in range(6):
        sign = 1.0 if (start + 1 + i) % 5 else -1.0
        yield call(t, array(1.0)) * sign


@program()
def captured_generators_of_random_numbers(jit):
    rng, old, py = np.random.default_rng(0), np.random.RandomState(0), random.Random(0)
    ours, stream = nm.random.default_rng(0), nm.random.Stream(0)
    box = Box(rng=np.random.default_rng(1))
    uses = (
        lambda x: x * rng.random(),
        lambda x: x if rng.random() < 0.8 else -x,
        lambda x: x * rng.standard_normal(2),
        lambda x: x * old.rand(),
        lambda x: x if old.rand() < 0.8 else -x,
        lambda x: x if py.random() < 0.8 else -x,
        lambda x: x * ours.random(2),
        lambda x: x if float(ours.random()) < 0.8 else -x,
        lambda x: x * stream.uniform((2,), nm.float64),
        lambda x: x if stream.position % 3 == 0 and stream.uniform((1,)) is not None else -x,
        lambda x: x if box.rng.integers(5) else -x,
        lambda x: x * ours.normal(x),
    )
    jits = [jit(use) for use in uses]
    for _ in range(10):
        yield [call(f, array(1.0, 2.0)) for f in jits]


@program()
def global_random_numbers(jit):
    np.random.seed(0)
    random.seed(0)
    uses = (
        lambda x: x * np.random.rand(),
        lambda x: x if np.random.rand() < 0.8 else -x,
        lambda x: x if random.random() < 0.8 else -x,
        lambda x: x * random.gauss(0, 1),
        lambda x: x if random.gauss(0, 1) < 1 else -x,
        lambda x: x if random.getrandbits(3) else -x,
    )
    jits = [jit(use) for use in uses]
    for _ in range(12):
        yield [call(f, array(1.0, 2.0)) for f in jits]


@program()
def random_generator_as_argument(jit):
    def f(x, rng):
        return x if rng.random() < 0.8 else -x

    g, h = jit(f), jit(f)
    rng, ours = np.random.default_rng(0), nm.random.default_rng(0)
    for _ in range(10):
        yield call(g, array(1.0), rng), call(h, array(1.0), ours)


@program()
def dropout_like(jit):
    rng = nm.random.default_rng(0)

    def f(x):
        keep = rng.random(3) < 0.5
        rng.shuffle(x)
        return nm.where(keep, x * 2, 0.0), rng.permutation(x)

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 2.0, 3.0))


@program()
def clock(jit):
    now = itertools.count(1)
    box = Box(clock=lambda: next(now))
    f = jit(lambda x: x * box.clock())
    for _ in range(5):
        yield call(f, array(1.0))


@program()
def numpy_functions_on_arrays(jit):
    uses = (
        lambda x: np.sum(x),
        lambda x: np.asarray(x).max(),
        lambda x: float(np.mean(x.numpy())),
        lambda x: np.float64(x.sum()) * 2,
        lambda x: x.tolist(),
        lambda x: x + np.asarray(x),
        lambda x: np.array([1.0]) + x,
        lambda x: sorted(x.tolist()),
        lambda x: memoryview(x.numpy())[0],
        lambda x: max(x),
        lambda x: sum(x),
        lambda x: min(x[0], x[1]),
        lambda x: 1.0 in x,
        lambda x: x == "a",
        lambda x: x == None,  # noqa: E711
    )
    jits = [jit(use) for use in uses]
    for i in range(5):
        yield [call(f, array(1.0 + i, 2.0)) for f in jits]


@program()
def odd_callables(jit):
    class Thing:
        def __init__(self, x):
            self.x = x

        @classmethod
        def make(cls, x):
            return x * 2

        @staticmethod
        def twice(x):
            return x * 3

    for f in (
        len,
        abs,
        max,
        nm.exp,
        np.exp,
        Thing,
        Thing.make,
        Thing.twice,
        functools.partial(nm.add, 1),
        sum,
        list,
        type,
    ):
        g = jit(f)
        for i in range(4):
            out = call(g, array(1.0 + i))
            yield out.x if isinstance(out, Thing) else out


@program()
def static_and_class_methods(jit):
    class Model:
        k = 2.0

        @staticmethod
        @jit
        def s(x):
            return x * 2

        @classmethod
        def c(cls, x):
            return x * cls.k

        @jit
        def m(self, x, scale=1.0):
            return x * self.w * scale

        def __init__(self, w):
            self.w = w

    a, b = Model(array(1.0)), Model(array(2.0))
    c = jit(Model.c)
    for i in range(6):
        Model.k = float(i // 2)
        yield (
            call(a.m, array(1.0)),
            call(b.m, array(1.0), scale=float(i)),
            call(Model.s, array(1.0)),
            call(c, array(1.0)),
        )
        yield call(Model.m, a, array(1.0)), Model(array(3.0 + i)).m(array(1.0))


@program()
def copies_and_pickles_of_jitted_objects(jit):
    class Model:
        def __init__(self):
            self.w = array(1.0)
            self.n = 0

        @jit
        def step(self, x):
            self.n += 1
            return x * self.w

    m = Model()
    for _ in range(4):
        yield call(m.step, array(2.0)), m.n
    twin = copy.deepcopy(m)
    twin.w[...] = 5.0
    for _ in range(4):
        yield call(m.step, array(2.0)), m.n, call(twin.step, array(2.0)), twin.n
    held = Box(f=jit(lambda x: x * 2))
    yield call(held.f, array(1.0))
    other = copy.deepcopy(held)
    yield call(other.f, array(1.0)), call(copy.copy(held).f, array(1.0))


@program()
def captured_arrays_die(jit):
    box = Box(w=array(1.0, 2.0))
    f = jit(lambda x: x * box.w)
    for i in range(5):
        yield call(f, array(1.0, 1.0))
        box.w = array(float(i), 5.0)
        gc.collect()


@program()
def instances_die(jit):
    class Model:
        def __init__(self):
            self.w = array(1.0)

        @jit
        def step(self, x):
            return x * self.w

    for _ in range(3):
        m = Model()
        for _ in range(4):
            yield call(m.step, array(2.0))
        ref = weakref.ref(m)
        del m
        gc.collect()
        yield ref() is None


@program()
def threads_race_with_state(jit):
    box = Box(n=0, k=1.0)

    def f(x):
        return x * box.k

    g = jit(f)
    for _ in range(3):
        yield call(g, array(1.0))
    failures = []

    def work():
        for _ in range(50):
            if type(box.n) is not int or type(box.k) is not float:
                failures.append((type(box.n), type(box.k)))
            g(array(1.0))

    workers = [threading.Thread(target=work) for _ in range(3)]
    for t in workers:
        t.start()
    for i in range(50):
        box.k = float(i)
    for t in workers:
        t.join()
    box.k = 3.0
    yield call(g, array(1.0)), box.n, len(failures) >= 0


@program()
def threads_started_inside(jit):
    def f(x):
        out = []
        t = threading.Thread(target=lambda: out.append(x * 2))
        t.start()
        t.join()
        return out[0] + x

    g = jit(f)

    def recursive(x):
        out = []
        t = threading.Thread(target=lambda: out.append(h(x[1:])))
        if x.size > 1:
            t.start()
            t.join()
        return x.sum() + (out[0] if out else 0.0)

    h = jit(recursive)
    for i in range(4):
        yield call(g, array(1.0 + i)), call(h, array(1.0, 2.0 + i, 3.0))


@program()
def engine_and_errstate_inside(jit):
    def f(x):
        with nm.config(engine="numpy"):
            return nm.exp(x), nm.tanh(x * 0.3)

    def h(x):
        with np.errstate(divide="raise"):
            return 1.0 / x

    g, k = jit(f), jit(h)
    for i in range(5):
        yield call(g, nm.linspace(0.1, 3.0, 50)), call(k, array(3.0 - i))


@program()
def many_outcomes(jit):
    def f(x):
        n = int(x.sum())
        total = x * 0
        for i in range(n):
            total = total + i
        return total

    g = jit(f)
    for i in range(30):
        yield call(g, array(float(i % 17)))


@program()
def long_loops_with_exits(jit):
    def f(x, limit):
        n = 0
        while x.sum() < limit:
            x = x * 1.1 + 0.1
            n += 1
        return x, n

    g = jit(f)
    for limit in (1.0, 2.0, 5.0, 50.0, 500.0, 5e3, 5e4, 5e8, 1e20, 3.0, 1e60, 2.0):
        yield call(g, array(0.5), array(limit).sum())


@program()
def context_managers_and_suppress(jit):
    box = Box(n=0)

    @contextlib.contextmanager
    def counted():
        box.n += 1
        yield box.n
        box.n += 1

    def f(x):
        with counted() as n, contextlib.suppress(ValueError):
            x = x * n
            x = x + array(1.0, 2.0, 3.0)
        return x

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0, 2.0)), box.n


@program()
def nested_jits_with_state(jit):
    box = Box(n=0)

    @jit
    def inner(x, k):
        box.n += 1
        return x * k

    @jit
    def outer(x, k):
        return inner(x, k) + inner(x, k + 1) + inner(x, 2.0)

    for i in range(7):
        yield call(outer, array(1.0), float(i)), box.n, call(inner, array(1.0), float(i)), box.n


@program()
def lru_cache_and_memo(jit):
    memo = {}

    @functools.cache
    def table(n):
        return array(*range(n))

    def f(x, n):
        if n not in memo:
            memo[n] = x * n
        return memo[n] + table(3).sum()

    g = jit(f)
    for n in (1, 2, 1, 3, 1, 2, 4, 5, 1):
        yield call(g, array(1.0), n), len(memo)


@program()
def many_shapes_and_objects(jit):
    f = jit(lambda x, o: x * 2 if o else x)
    for i in range(300):
        yield call(f, nm.ones(i % 100), object() if i > 100 else None)


@program()
def state_variants_come_and_go(jit):
    box = Box(mode="a", flag=None)
    f = jit(lambda x: x * len(box.mode) if box.flag is None else x)
    for i in range(80):
        box.mode = "a" * (i % 40)
        box.flag = None if i % 3 else ()
        yield call(f, array(1.0))


@program()
def printing_to_state(jit):
    import io

    out = io.StringIO()

    def f(x):
        print(x.sum().item(), file=out)
        return x * 2

    g = jit(f)
    for i in range(5):
        yield call(g, array(1.0 + i))


@program()
def comprehension_and_star_unpacking(jit):
    items = [array(1.0), array(2.0)]
    table = {"a": array(3.0)}

    def f(x):
        a, *rest = [x * w for w in items]
        total = {k: v + x for k, v in table.items()}
        return a, rest, total, [*rest, *total.values()]

    g = jit(f)
    for i in range(5):
        yield call(g, array(1.0 + i))


@program()
def proxies_survive_their_call(jit):
    box = Box(n=0, held=None)

    def f(x, lr):
        box.n += 1
        box.held = [lambda y: y * lr + box.n, (lr, {"deep": (lr, [lr])})]
        return x * lr

    g = jit(f)
    for i in range(6):
        yield call(g, array(1.0), 0.5 * i), box.held[0](array(2.0)), box.held[1]
        box.n = i * 2


@program()
def an_exception_keeps_proxies(jit):
    box = Box(n=0, last=None, values=[])

    def f(x, lr):
        box.n += 1
        box.last = {"lr": lr, "n": box.n, "pair": (lr, box.n)}
        box.values.append(lr * box.n)
        if lr > 1.6:
            raise LookupError(lr)
        return x * lr

    g = jit(f)
    for i in range(8):
        yield call(g, array(1.0), 0.4 * i), box.n, box.last, list(box.values)


@program()
def arguments_in_containers_with_exceptions(jit):
    def f(batch, pair):
        batch["lr"] = batch["lr"] * 2
        if pair[0] > 2.5:
            raise LookupError
        return batch["x"] * batch["lr"] + pair[0]

    g = jit(f)
    for i in range(8):
        batch, pair = {"x": array(1.0), "lr": 0.5 * i}, [1.0 * i, (2.0 * i,)]
        yield call(g, batch, pair), batch, pair


@program()
def a_hundred_threads_of_state(jit):
    @jit
    def f(x, k):
        return x * k if x.sum() > 0 else x - k

    def work(results, k):
        results.append([f(array(1.0, -3.0 + k), k) for _ in range(4)])

    results = []
    for k in range(8):
        out = []
        workers = [threading.Thread(target=work, args=(out, float(k))) for _ in range(3)]
        for t in workers:
            t.start()
        for t in workers:
            t.join()
        results.append(out)
    yield results


@program()
def keys_by_dict_order_and_types(jit):
    f = jit(lambda d, *a: (d["x"] * len(d) + len(a), list(d)))
    for i in range(12):
        d = {"x": array(1.0), "y": 2} if i % 3 else {"y": 2, "x": array(1.0)}
        yield call(f, d, *[None] * (i % 2)), call(f, dict(d), (), [])


@program()
def same_code_other_closures(jit):
    def make(k, w):
        return lambda x: x * k + w

    fs = [jit(make(float(i), array(float(i)))) for i in range(3)]
    helper = make(2.0, array(1.0))
    g = jit(lambda x: helper(x) * 2)
    for i in range(9):
        if i == 4:
            helper = make(3.0, array(1.0))
        if i == 6:
            helper = make(3.0, array(5.0, 6.0))
        yield [call(f, array(1.0)) for f in fs], call(g, array(1.0))


@program()
def overflow_and_nan_scalars_in_state(jit):
    box = Box(k=1e200, h=array(1.0))

    def f(x):
        box.k = box.k * 1e60
        box.h = box.h + x
        return x * (box.k - box.k)

    g = jit(f)
    for i in range(6):
        if i == 4:
            box.k = -0.0
        yield call(g, array(1.0)), box.k, box.h


@program()
def conditional_writes_and_stores(jit):
    box = Box(h=array(0.0, 0.0), n=0, seen=None)

    def f(x):
        if x.sum() > 0:
            box.h[0] += x[0]
            if box.h[0] > 3:
                box.h = box.h * 0
                box.n += 1
            box.seen = box.h
        else:
            box.seen = None
        return box.h[1:] if box.n % 2 else box.h

    g = jit(f)
    for i in range(24):
        yield call(g, array(1.0 if i % 5 else -1.0, 1.0)), box.h, box.n, box.seen


@program()
def lazily_made_state(jit):
    class Model:
        def __init__(self):
            self.w = None
            self.cache = {}

        def __call__(self, x):
            if self.w is None:
                self.w = nm.ones(x.shape[-1])
            key = x.shape
            if key not in self.cache:
                self.cache[key] = nm.arange(x.size)
            return x * self.w + self.cache[key]

    m = Model()
    g = jit(m)
    for i in range(12):
        if i == 8:
            m.w = None
        yield call(g, nm.ones(2 + i % 2 if i < 4 or i > 8 else 2)), m.w, m.cache
