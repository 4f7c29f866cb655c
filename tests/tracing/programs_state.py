"""Programs over Python state: attributes, containers, closures, globals, classes, modules."""

from __future__ import annotations

import collections
import dataclasses
import functools
import sys
import types

import numpy as np
from tests.tracing.programs import Box, array, call, program

import numen as nm

SCALE = 2.0
HELD = Box(k=1.0)


@program(compiled=True)
def nested_functions_and_defaults(jit):
    box = Box(k=1.0)

    def inner(x, b=box):
        return x * b.k

    def outer(x):
        def innermost(y):
            return inner(y) + 1

        return innermost(x)

    f = jit(outer)
    for i in range(7):
        box.k = float(i // 2)
        yield call(f, array(1.0, 2.0))


@program(compiled=True)
def property_and_getattr(jit):
    class Box:
        def __init__(self):
            self._k = 1.0
            self.table = {"dynamic": 2.0}

        @property
        def k(self):
            return self._k * 2

        def __getattr__(self, name):
            return self.table[name]

    box = Box()
    f = jit(lambda x: x * box.k + box.dynamic)
    for i in range(8):
        box._k = float(i // 2)
        box.table["dynamic"] = float(i // 3)
        yield call(f, array(1.0, 2.0))


@program(compiled=True)
def class_attributes_change(jit):
    class Config:
        k = 1.0

    class Model:
        bias = 0.5

        def step(self, x):
            return x * Config.k + self.bias

    m = Model()
    f = jit(m.step)
    for i in range(9):
        Config.k = float(i // 2)
        Model.bias = float(i // 3)
        yield call(f, array(1.0))


@program()
def class_counter(jit):
    class Model:
        count = 0
        total = None

        def step(self, x):
            Model.count += 1
            type(self).total = x if Model.total is None else Model.total + x
            return x * Model.count

    m = Model()
    f = jit(m.step)
    for i in range(6):
        yield call(f, array(1.0 + i)), Model.count, Model.total


@program(compiled=True)
def slots_objects(jit):
    class Slim:
        __slots__ = ("h", "k", "n")

    s = Slim()
    s.k, s.n, s.h = 1.0, 0, array(0.0, 0.0)

    def f(x):
        s.n += 1
        s.h = s.h + x * s.k
        return s.h * 2

    g = jit(f)
    for i in range(8):
        s.k = float(i // 3)
        yield call(g, array(1.0, 2.0)), s.n, s.h


@program()
def slots_dataclass_and_namedtuple(jit):
    @dataclasses.dataclass(slots=True)
    class Config:
        k: float

    Pair = collections.namedtuple("Pair", "left right")
    config = Config(1.0)
    pair = Pair([1.0, array(1.0)], config)
    f = jit(lambda x: x * config.k + pair.left[0] * pair.left[1] + pair.right.k)
    for i in range(8):
        config.k = float(i // 2)
        pair.left[0] = float(i // 3)
        yield call(f, array(1.0))


@program()
def list_and_dict_subclasses(jit):
    class L(list):
        pass

    class D(dict):
        pass

    items, table = L([1.0, 2.0]), D(a=1.0)
    f = jit(lambda x: x * items[0] + table["a"])
    for i in range(8):
        items[0] = float(i // 2)
        table["a"] = float(i // 3)
        yield call(f, array(1.0))


@program()
def deque_as_memory(jit):
    memory = collections.deque(maxlen=3)

    def f(x):
        memory.append(x.sum())
        return x * len(memory)

    g = jit(f)
    for i in range(6):
        yield call(g, array(1.0 + i)), list(memory)


@program()
def deque_read(jit):
    memory = collections.deque([1.0, 2.0])
    f = jit(lambda x: x * memory[0])
    for _ in range(6):
        yield call(f, array(1.0, 2.0))
        memory.rotate(1)


@program()
def counter_and_defaultdict(jit):
    counts, lists = collections.Counter(), collections.defaultdict(list)

    def f(x):
        counts["calls"] += 1
        lists["x"].append(x.sum())
        return x + 1

    g = jit(f)
    for i in range(6):
        yield call(g, array(1.0 + i)), dict(counts), dict(lists)


@program()
def sets_change(jit):
    seen = set()

    def f(x, name):
        seen.add(name)
        return x * len(seen)

    g = jit(f)
    for i in range(6):
        yield call(g, array(1.0), ("a", "b", "c")[i // 2]), set(seen)
    h = jit(lambda x: x * ("k" in seen))
    for i in range(6):
        if i == 3:
            seen.add("k")
        yield call(h, array(2.0))


@program()
def log_length_is_read(jit):
    log = []

    def f(x):
        log.append(x.sum())
        return x * 2 if len(log) > 4 else x

    g = jit(f)
    for i in range(8):
        yield call(g, array(1.0 + i)), list(log)


@program()
def log_items_are_read(jit):
    log = [array(1.0)]

    def f(x):
        y = x + log[-1]
        log.append(y)
        return y

    g = jit(f)
    for i in range(6):
        yield call(g, array(1.0 + i)), list(log)


@program()
def log_first_item_is_read_and_replaced(jit):
    log = [array(1.0)]

    def f(x):
        y = x + log[0]
        log.append(y)
        return y

    g = jit(f)
    for i in range(10):
        if i == 5:
            log[0] = array(1.0, 2.0, 3.0)
        if i == 7:
            del log[:]
            log.append(array(5.0))
        yield call(g, array(1.0 + i)), list(log)


@program(compiled=True)
def log_of_attributes(jit):
    box = Box(log=[], table={"log": []})

    def f(x):
        box.log.append(x.sum().item())
        box.table["log"].append(x + 1)
        return x * 2

    g = jit(f)
    for i in range(6):
        yield call(g, array(1.0 + i)), list(box.log), list(box.table["log"])
        if i == 4:
            box.log.clear()


@program()
def log_copied(jit):
    box = Box(log=[])

    def f(x):
        box.log.append(x.sum())
        total = 0.0
        for v in box.log:
            total = total + v
        return total

    g = jit(f)
    for i in range(6):
        yield call(g, array(1.0 + i))


@program()
def dict_mutations(jit):
    table = {"a": 1.0}

    def f(x):
        table["n"] = table.get("n", 0) + 1
        if table["n"] == 4:
            del table["a"]
        return x * table.get("a", 7.0)

    g = jit(f)
    for i in range(7):
        yield call(g, array(1.0 + i)), dict(table)


@program(compiled=True)
def keys_added_between_calls(jit):
    table = {"a": array(1.0)}

    def f(x):
        total = x
        for v in table.values():
            total = total + v
        return total

    g = jit(f)
    for i in range(8):
        if i % 3 == 2:
            table[str(i)] = array(float(i))
        yield call(g, array(1.0))


@program(compiled=True)
def rebound_closure_and_global(jit):
    global SCALE
    k = 1.0

    def f(x):
        return x * k * SCALE

    g = jit(f)
    try:
        for i in range(8):
            k = float(i // 2)
            SCALE = float(i // 3)
            yield call(g, array(1.0, 2.0))
    finally:
        SCALE = 2.0


@program()
def global_deleted_and_added(jit):
    scope = globals()

    def f(x):
        try:
            return x * LATER
        except NameError:
            return x - 1

    g = jit(f)
    for i in range(9):
        if i == 3:
            scope["LATER"] = 5.0
        if i == 6:
            del scope["LATER"]
        yield call(g, array(1.0))


@program()
def global_written(jit):
    global SCALE

    def f(x):
        global SCALE
        SCALE = SCALE + 1
        return x * SCALE

    g = jit(f)
    try:
        for _ in range(6):
            yield call(g, array(1.0)), SCALE
    finally:
        SCALE = 2.0


@program()
def function_attributes(jit):
    def helper(x):
        helper.calls = getattr(helper, "calls", 0) + 1
        return x * helper.calls

    f = jit(lambda x: helper(x))
    for _ in range(6):
        yield call(f, array(1.0)), helper.calls


@program()
def attributes_of_the_jitted_function(jit):
    @jit
    def f(x):
        f.calls += 1
        return x * f.calls

    f.calls = 0
    for _ in range(6):
        yield call(f, array(1.0)), f.calls


@program()
def user_module_attributes(jit):
    module = types.ModuleType("numen_test_settings")
    module.k = 1.0
    module.h = array(0.0)
    exec("def scaled(x):\n    return x * k", module.__dict__)
    sys.modules["numen_test_settings"] = module

    def f(x):
        module.h = module.h + x
        return module.scaled(x) + module.k

    g = jit(f)
    try:
        for i in range(8):
            module.k = float(i // 2)
            yield call(g, array(1.0)), module.h
    finally:
        del sys.modules["numen_test_settings"]


@program()
def partial_objects(jit):
    box = Box(k=1.0)

    def f(b, x, scale=1.0):
        b.n = getattr(b, "n", 0) + 1
        return x * b.k * scale

    g = jit(functools.partial(f, box, scale=2.0))
    part = functools.partial(f, box)
    h = jit(lambda x: part(x))
    for i in range(8):
        box.k = float(i // 2)
        yield call(g, array(1.0)), call(h, array(2.0)), box.n


@program()
def callable_objects(jit):
    class Affine:
        def __init__(self):
            self.k, self.n = 1.0, 0

        def __call__(self, x):
            self.n += 1
            return x * self.k

    a = Affine()
    f = jit(a)
    for i in range(8):
        a.k = float(i // 2)
        yield call(f, array(1.0)), a.n


@program(compiled=True)
def two_objects_share_an_array(jit):
    shared = array(1.0, 2.0)
    a, b = Box(w=shared), Box(w=shared)

    def f(x):
        a.w *= 2
        return x + b.w

    g = jit(f)
    for i in range(10):
        if i == 3:
            b.w = array(10.0, 20.0)
        if i == 6:
            a.w = b.w
        yield call(g, array(1.0, 1.0)), a.w, b.w


@program()
def shared_array_replaced_in_one_place(jit):
    shared = array(1.0, 2.0)
    a, b = Box(w=shared), Box(w=shared)
    g = jit(lambda x: x + a.w * 2 + b.w)
    for i in range(12):
        if i == 3:
            b.w = array(10.0, 20.0)
        if i == 5:
            a.w = array(7.0, 8.0)
        if i == 7:
            a.w = b.w
        if i == 9:
            a.w = b.w = array(3.0, 4.0)
        yield call(g, array(1.0, 1.0))


@program()
def argument_is_also_state(jit):
    box = Box(h=array(1.0, 2.0))

    def f(x):
        x += 1
        return x * box.h

    g = jit(f)
    other = array(5.0, 6.0)
    for x in (other, other, other, box.h, box.h, other, box.h):
        yield call(g, x), x, box.h
    box2 = Box(h=array(1.0, 2.0))

    def f2(x):
        return x * 2 + box2.h

    g2 = jit(f2)
    for x in (box2.h, box2.h, box2.h, other, other, box2.h):
        yield call(g2, x)


@program()
def captured_arrays_alias(jit):
    base = array(1.0, 2.0, 3.0)
    box = Box(a=base, b=array(0.0, 0.0))

    def f(x):
        box.a += x
        return box.b * 2

    g = jit(f)
    for i in range(9):
        if i == 3:
            box.b = base[1:]
        if i == 6:
            box.b = array(1.0, 1.0)
        yield call(g, array(1.0, 1.0, 1.0)), box.a, box.b


@program()
def state_replaced_by_a_view(jit):
    base = array(1.0, 2.0, 3.0, 4.0)
    box = Box(h=array(1.0, 1.0))

    def f(x):
        box.h *= 2
        return box.h + x

    g = jit(f)
    for i in range(9):
        if i == 3:
            box.h = base[1:3]
        if i == 6:
            box.h = base[::2]
        yield call(g, array(1.0, 1.0)), box.h, base


@program()
def state_moves_between_places(jit):
    box = Box(best=array(0.0), current=array(1.0), items=[array(1.0), array(2.0)])

    def f(x):
        box.best = box.current
        box.items[0] = box.items[1]
        return x + 1

    g = jit(f)
    for i in range(6):
        box.current = array(float(i))
        yield call(g, array(1.0)), box.best, box.current, box.items


@program()
def swap_arrays(jit):
    box = Box(a=array(1.0), b=array(2.0))

    def f(x):
        box.a, box.b = box.b, box.a
        return box.a + x

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0)), box.a, box.b


@program()
def swap_after_writes(jit):
    box = Box(a=array(1.0), b=array(2.0))

    def f(x):
        box.a += x
        box.a, box.b = box.b, box.a
        return box.a + x

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0)), box.a, box.b


@program()
def returns_what_it_stored(jit):
    box = Box(h=array(0.0, 0.0))

    def f(x):
        box.h = box.h + x
        box.part = box.h[1:]
        return box.h, box.h[:1], box.part

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0, 2.0)), box.h, box.part


@program()
def returns_captured_arrays(jit):
    w, leaf = array(1.0, 2.0), array(3.0, requires_grad=True)
    base = array(1.0, 2.0, 3.0)
    view = base[1:]
    f = jit(lambda x: (w, leaf, w[1:], view, view[1:], base, x))
    for _ in range(5):
        yield call(f, array(1.0)), w, leaf, base, view


@program()
def returns_captured_containers(jit):
    box = Box(items=[1, 2], table={"a": 1})
    f = jit(lambda x: (box.items, box.table, box, x * 2))
    for _ in range(5):
        out = call(f, array(1.0))
        yield out, box.items, box.table, out[2] is box


@program()
def stores_captured_containers(jit):
    items, table = [1, 2], {"a": 1}
    box = Box()

    def f(x):
        box.items = items
        box.table = table
        return x * 2

    g = jit(f)
    for _ in range(5):
        yield call(g, array(1.0)), box.items, items, box.table, table


@program()
def containers_as_arguments_are_changed(jit):
    def f(batch, items):
        batch["y"] = batch["x"] * 2
        items.append(batch["x"])
        items[0] = 5
        return batch["y"]

    g = jit(f)
    for i in range(5):
        batch, items = {"x": array(1.0 + i)}, [i]
        yield call(g, batch, items), batch, items


@program()
def containers_as_arguments_are_returned(jit):
    f = jit(lambda batch, items: (batch, items, items[0]))
    for i in range(5):
        batch, items = {"x": array(1.0 + i)}, [array(2.0)]
        yield call(f, batch, items), batch, items


@program()
def containers_as_arguments_are_kept(jit):
    box = Box()

    def f(items):
        box.items = items
        return items[0] * 2

    g = jit(f)
    for i in range(5):
        items = [array(1.0 + i)]
        yield call(g, items), box.items, items


@program(compiled=True)
def changing_scalars_in_containers(jit):
    f = jit(lambda batch: batch["x"] * batch["lr"])
    for i in range(6):
        batch = {"x": array(1.0, 2.0), "lr": 0.1 * i}
        yield call(f, batch), batch


@program()
def new_objects_into_state(jit):
    @dataclasses.dataclass
    class Pair:
        n: int
        x: object

    box = Box(n=0)

    def f(x, lr):
        box.n += 1
        box.pair = Pair(box.n, x * lr)
        box.last = (box.n, lr, {"lr": [lr]})
        box.closure = lambda: lr
        box.set = {lr}
        box.keys = {lr: box.n}
        return x * lr

    g = jit(f)
    for i in range(6):
        yield (
            call(g, array(1.0), 0.5 * i),
            box.n,
            box.pair,
            box.last,
            box.closure(),
            box.set,
            box.keys,
        )


@program()
def proxies_in_returned_objects(jit):
    @dataclasses.dataclass
    class Out:
        loss: object
        lr: float

    class Slim:
        __slots__ = ("lr",)

    def f(x, lr):
        slim = Slim()
        slim.lr = lr * 2
        return Out(x * lr, lr + 1), slim, {lr}, {lr: 1}, (lr, [lr, (lr,)])

    g = jit(f)
    for i in range(6):
        out, slim, *rest = call(g, array(1.0), 0.5 * i)
        yield out, slim.lr, rest


@program()
def object_arguments(jit):
    def f(x, box):
        box.n += 1
        return x * box.k

    g = jit(f)
    a, b = Box(k=1.0, n=0), Box(k=2.0, n=0)
    for i in range(12):
        box = (a, b)[i % 2] if i < 8 else Box(k=float(i), n=0)
        if i == 6:
            a.k = 9.0
        yield call(g, array(1.0), box), box.n


@program()
def namedtuple_arguments(jit):
    Batch = collections.namedtuple("Batch", "x y")
    f = jit(lambda b: Batch(b.x * 2, b.y + b.x))
    for i in range(6):
        yield call(f, Batch(array(1.0 * i), array(2.0)))


@program()
def hidden_setattr(jit):
    class Guarded:
        def __init__(self):
            object.__setattr__(self, "log", [])
            self.h = array(0.0)

        def __setattr__(self, name, value):
            self.log.append(name)
            object.__setattr__(self, name, value)

    s = Guarded()

    def f(x):
        s.h = s.h + x
        return s.h

    g = jit(f)
    for _ in range(6):
        yield call(g, array(1.0)), s.h, list(s.log)


@program()
def parameters_and_modules(jit):
    nm.manual_seed(0)
    net = nm.nn.Sequential(nm.nn.Linear(3, 4), nm.nn.ReLU(), nm.nn.Linear(4, 1))
    optimizer = nm.optim.SGD(net.parameters(), lr=0.1, momentum=0.9)
    rng = np.random.default_rng(0)

    def step(x):
        optimizer.zero_grad()
        loss = (net(x) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss.item()

    f = jit(step)
    for i in range(8):
        x = nm.array(rng.standard_normal((5, 3)).astype(np.float32))
        if i == 4:
            net.eval()
        if i == 5:
            optimizer.lr = 0.01
        yield call(f, x), [p.detach() for p in net.parameters()], [p.grad for p in net.parameters()]


@program()
def a_method_is_replaced(jit):
    class Model:
        def act(self, x):
            return x * 2

        def step(self, x):
            return self.act(x)

    m = Model()
    f = jit(m.step)
    for i in range(8):
        if i == 3:
            m.act = lambda x: x * 5
        if i == 6:
            Model.act = lambda self, x: x * 7
            del m.act
        yield call(f, array(1.0))


@program()
def text_of_values_into_state(jit):
    box = Box(log=[], last="")

    def f(x, lr):
        box.log.append(f"{x.sum().item():.1f} {lr}")
        box.last = str(x)
        return x * lr

    g = jit(f)
    for i in range(8):
        yield call(g, array(1.0 + i // 3), 0.5 * (i // 2)), list(box.log), box.last


@program(compiled=True)
def only_the_shape_of_an_array_is_read(jit):
    box = Box(h=array(1.0, 2.0), table={"x": array(1.0)})
    f = jit(lambda x: x * box.h.shape[0] + len(box.table["x"]) + box.h.dtype.itemsize)
    for i in range(9):
        box.h = nm.ones(1 + i // 3, nm.float32 if i > 6 else nm.float64)
        if i > 4:
            box.table["x"] = array(1.0, 2.0)
        yield call(f, array(1.0))


@program(compiled=True)
def requires_grad_of_state_comes_and_goes(jit):
    box = Box(w=array(1.0, 2.0, requires_grad=True), v=array(1.0))

    def f(x):
        y = (box.w * x).sum()
        if box.w.requires_grad:
            y.backward()
        return y.detach() * (2 if box.v.requires_grad else 3)

    g = jit(f)
    for i in range(24):
        box.w.requires_grad = (i // 4) % 2 == 0
        box.v.requires_grad = (i // 8) % 2 == 0
        yield call(g, array(1.0, 3.0)), box.w, box.w.grad


@program(compiled=True)
def nonlocal_counter_and_array(jit):
    n, h = 0, array(0.0)

    def f(x):
        nonlocal n, h
        n += 1
        h = h * 0.5 + x
        return h * n

    g = jit(f)
    for _ in range(8):
        yield call(g, array(1.0)), n, h


@program()
def slots_and_class_scalars_that_change(jit):
    class Slim:
        __slots__ = ("k", "w")
        shared = 1.0

    s = Slim()
    s.k, s.w = 1.0, array(1.0)

    def f(x):
        s.k = s.k * 0.5
        Slim.shared = Slim.shared + 1.0
        s.w = s.w + x * s.k
        return s.w * Slim.shared

    g = jit(f)
    for i in range(12):
        if i == 6:
            s.k = 8.0
        yield call(g, array(1.0)), s.k, s.w, Slim.shared


@program(compiled=True)
def scalars_of_changing_type(jit):
    box = Box(k=1)
    f = jit(lambda x: x * box.k)
    for k in (1, 1, True, True, 1.0, 1.0, 1, 2, 3, 2.5, 3.5, False, 0, 0.0, -0.0, None, 1, 1.5):
        box.k = k
        yield call(f, nm.arange(3)), call(f, nm.ones(2, nm.float32))


@program()
def attributes_deleted(jit):
    box = Box(k=1.0, j=2.0)

    def f(x):
        if hasattr(box, "j"):
            del box.j
        return x * getattr(box, "k", 5.0)

    g = jit(f)
    for i in range(8):
        if i == 4:
            del box.k
        yield call(g, array(1.0)), vars(box)


@program(compiled=True)
def frozen_dataclass_and_nested_objects(jit):
    @dataclasses.dataclass(frozen=True)
    class Config:
        k: float
        inner: object

    box = Box(config=Config(1.0, Box(k=2.0)))
    f = jit(lambda x: x * box.config.k + box.config.inner.k)
    for i in range(8):
        box.config.inner.k = float(i // 2)
        if i == 5:
            box.config = Config(3.0, box.config.inner)
        yield call(f, array(1.0))


@program()
def hostile_objects(jit):
    class Hostile:
        def __init__(self):
            self.k = 1.0

        def __eq__(self, other):
            raise RuntimeError("eq")

        __hash__ = None

        def __bool__(self):
            raise RuntimeError("bool")

        def __getattr__(self, name):
            raise KeyError(name)

        def __len__(self):
            raise RuntimeError("len")

        @property
        def bad(self):
            raise RuntimeError("property")

    class SlimHostile:
        __slots__ = ("k",)

        def __getattr__(self, name):
            raise KeyError(name)

    h, s = Hostile(), SlimHostile()
    s.k = 1.0
    f = jit(lambda x: x * h.k + s.k)
    g = jit(lambda x, o: x * o.k)
    for i in range(8):
        h.k = float(i // 2)
        s.k = float(i // 3)
        yield call(f, array(1.0)), call(g, array(1.0), h), call(g, array(1.0), s)


@program(compiled=True)
def two_jits_share_state(jit):
    box = Box(n=0, h=array(0.0))

    def up(x):
        box.n += 1
        box.h = box.h + x
        return box.h * box.n

    def down(x):
        box.n -= 2
        box.h *= x
        return box.h - box.n

    f, g = jit(up), jit(down)
    for i in range(10):
        yield call(f, array(1.0 + i)), call(g, array(0.5)), box.n, box.h
        if i % 3 == 0:
            yield call(f, array(2.0)), box.n


@program()
def argument_is_a_default_or_in_a_tuple(jit):
    w = array(1.0, 2.0)
    pair = (w, array(5.0, 6.0))

    def f(x, k=w):
        x += 1
        return x * k + pair[0]

    g = jit(f)
    other = array(3.0, 4.0)
    for x in (other, other, other, w, w, other, w):
        yield call(g, x), w, other


@program(compiled=True)
def views_of_one_flat_buffer(jit):
    flat = nm.zeros(6)
    box = Box(flat=flat, a=flat[:2], b=flat[2:].reshape(2, 2))

    def f(x):
        box.a += x
        box.b[0] *= 2
        box.b += box.flat.sum()
        box.flat -= 0.5
        return box.a * 1, box.b * 1

    g = jit(f)
    for i in range(10):
        if i == 5:
            box.flat = box.flat.copy()
            box.a, box.b = box.flat[:2], box.flat[2:].reshape(2, 2)
        yield call(g, array(1.0, 2.0)), box.flat, box.a, box.b


@program(compiled=True)
def values_of_one_call_decide_the_next(jit):
    box = Box(best=1e9, patience=0, lr=1.0, w=array(3.0))

    def f(x):
        loss = ((box.w - x) ** 2).sum().item()
        if loss < box.best - 1e-3:
            box.best, box.patience = loss, 0
        else:
            box.patience += 1
        if box.patience >= 2:
            box.lr *= 0.5
            box.patience = 0
        box.w = box.w - 0.3 * box.lr * (box.w - x)
        return loss

    g = jit(f)
    for i in range(40):
        yield call(g, array(float(i // 10))), vars(box)


@program()
def jitted_functions_in_state(jit):
    class Model:
        def __init__(self, k):
            self.k = k

        @jit
        def step(self, x):
            return x * self.k

    a, b = Model(2.0), Model(3.0)
    box = Box(f=a.step, held=[b.step])
    g = jit(lambda x: box.f(x) + box.held[0](x))
    for i in range(10):
        if i == 4:
            a.k = 7.0
        if i == 7:
            box.f = b.step
        yield call(g, array(1.0))
