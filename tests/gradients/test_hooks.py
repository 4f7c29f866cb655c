"""Hooks on arrays and on nodes: as PyTorch's where it is installed, and by exact values."""

import gc
import weakref

import numpy as np
import pytest

import numen as nm
from numen.dispatch import hooks

# ------------------------------------------------------------ the same programs in PyTorch

LEAF = [1.0, 2.0, -3.0]


def order_of_registration(x, log):
    y = x * x
    y.register_hook(lambda g: log(g))
    y.register_hook(lambda g: g * 10)
    y.register_hook(lambda g: log(g))
    y.register_hook(lambda g: g + 1)
    (y * 3).sum().backward()
    return [x.grad]


def leaf_hooks_see_the_sum(x, log):
    x.register_hook(lambda g: log(g))
    x.register_hook(lambda g: -g)
    ((x * x).sum() + (2 * x).sum()).backward()
    return [x.grad]


def leaf_hooks_see_each_pass(x, log):
    x.register_hook(lambda g: log(g))
    (x * x).sum().backward()
    (3 * x).sum().backward()
    return [x.grad]


def removed_hooks_do_not_run(x, log):
    y = x * x
    first = y.register_hook(lambda g: log(g))
    second = y.register_hook(lambda g: g * 2)
    third = y.register_hook(lambda g: log(g))
    second.remove()
    first.remove()
    first.remove()
    y.sum().backward()
    third.remove()
    return [x.grad]


def a_hook_that_removes_itself(x, log):
    y = x * x
    handles = []
    handles.append(y.register_hook(lambda g: (log(g), handles[0].remove())[1]))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return [x.grad]


def values_that_are_not_reached(x, log):
    y, z = x * x, x + 1
    z.register_hook(lambda g: log(g))
    y.sum().backward()
    return [x.grad]


def retained(x, log):
    y = x * x
    z = y * 2
    y.retain_grad()
    z.retain_grad()
    z.sum().backward()
    return [x.grad, y.grad, z.grad]


def retained_after_hooks(x, log):
    y = x * x
    y.retain_grad()
    y.register_hook(lambda g: g * 5)
    y.sum().backward()
    return [x.grad, y.grad]


def retained_adds_up(x, log):
    y = x * x
    y.retain_grad()
    y.sum().backward(retain_graph=True)
    (2 * y).sum().backward()
    return [x.grad, y.grad]


def retaining_a_leaf_changes_nothing(x, log):
    x.retain_grad()
    (x * x).sum().backward()
    return [x.grad]


def retained_follows_the_array(x, log):
    y = x * 2
    y.retain_grad()
    y += 1
    y *= 3
    y.sum().backward()
    return [x.grad, y.grad]


def hooks_belong_to_the_value(x, log):
    y = x * 2
    y.register_hook(lambda g: log(g))
    y *= 5
    y.register_hook(lambda g: log(g))
    y.sum().backward()
    return [x.grad]


def hooks_on_a_base_that_a_view_writes(x, log):
    y = x * 2
    y.register_hook(lambda g: log(g))
    y[1:] *= 7
    y.sum().backward()
    return [x.grad]


def node_hooks(x, log):
    y = x * 3
    z = y * x
    z.grad_fn.register_hook(lambda inputs, outputs: [log(g) for g in (*inputs, *outputs)] and None)
    z.sum().backward()
    return [x.grad]


def node_hooks_replace(x, log):
    y = x * 3
    z = y * x
    z.grad_fn.register_hook(lambda inputs, outputs: (inputs[0] * 2, inputs[1] * 0))
    z.sum().backward()
    return [x.grad]


def node_prehooks(x, log):
    y = x * x
    y.grad_fn.register_prehook(lambda outputs: (outputs[0] * 4,))
    y.grad_fn.register_prehook(lambda outputs: log(outputs[0]))
    y.sum().backward()
    return [x.grad]


def all_kinds_at_one_node(x, log):
    y = x * x
    y.grad_fn.register_prehook(lambda outputs: log(outputs[0]))
    y.grad_fn.register_hook(lambda inputs, outputs: log(inputs[0]))
    y.retain_grad()
    y.register_hook(lambda g: (log(g), g + 1)[1])
    y.sum().backward()
    return [x.grad, y.grad]


def after_accumulation(x, log):
    x.register_post_accumulate_grad_hook(lambda leaf: log(leaf.grad))
    (x * x).sum().backward()
    (x * x).sum().backward()
    return [x.grad]


def optimiser_in_the_backward_pass(x, log):
    def update(leaf):
        log(leaf.grad)
        leaf.grad = None

    x.register_post_accumulate_grad_hook(update)
    (x * x).sum().backward()
    assert x.grad is None
    return []


def leaf_and_accumulation(x, log):
    x.register_hook(lambda g: g * 2)
    x.register_post_accumulate_grad_hook(lambda leaf: log(leaf.grad))
    (x * x).sum().backward()
    return [x.grad]


def graph_of_the_gradient(x, log):
    y = x * x
    y.register_hook(lambda g: g * g)
    (y * x).sum().backward(create_graph=True)
    first = x.grad
    x.grad = None
    first.sum().backward()
    return [first, x.grad]


def hooks_stay_in_a_retained_graph(x, log):
    y = x * x
    y.register_hook(lambda g: log(g))
    y.sum().backward(retain_graph=True)
    y.sum().backward()
    return [x.grad]


SHARED = [
    order_of_registration,
    leaf_hooks_see_the_sum,
    leaf_hooks_see_each_pass,
    removed_hooks_do_not_run,
    a_hook_that_removes_itself,
    values_that_are_not_reached,
    retained,
    retained_after_hooks,
    retained_adds_up,
    retaining_a_leaf_changes_nothing,
    retained_follows_the_array,
    hooks_belong_to_the_value,
    hooks_on_a_base_that_a_view_writes,
    node_hooks,
    node_hooks_replace,
    node_prehooks,
    all_kinds_at_one_node,
    after_accumulation,
    optimiser_in_the_backward_pass,
    leaf_and_accumulation,
    graph_of_the_gradient,
    hooks_stay_in_a_retained_graph,
]


def run(program, x):
    """What a program logs, and the gradients it returns, as lists."""
    entries = []

    def log(g):
        entries.append(g.tolist())

    results = program(x, log)
    return entries, [r.tolist() for r in results]


@pytest.mark.filterwarnings("ignore:Using backward:UserWarning")
@pytest.mark.parametrize("program", SHARED, ids=lambda p: p.__name__)
def test_as_pytorch(program):
    torch = pytest.importorskip("torch")
    got = run(program, nm.array(LEAF, requires_grad=True))
    expected = run(program, torch.tensor(LEAF, dtype=torch.float64, requires_grad=True))
    assert got == expected


EXPECTED = {
    order_of_registration: ([[3, 3, 3], [30, 30, 30]], [[62, 124, -186]]),
    leaf_hooks_see_the_sum: ([[4, 6, -4]], [[-4, -6, 4]]),
    retained_after_hooks: ([], [[10, 20, -30], [5, 5, 5]]),
    retained_follows_the_array: ([], [[6, 6, 6], [1, 1, 1]]),
    hooks_belong_to_the_value: ([[1, 1, 1], [5, 5, 5]], [[10, 10, 10]]),
    node_prehooks: ([[4, 4, 4]], [[8, 16, -24]]),
    after_accumulation: ([[2, 4, -6], [4, 8, -12]], [[4, 8, -12]]),
}


@pytest.mark.parametrize("program", EXPECTED, ids=lambda p: p.__name__)
def test_exact_values(program):
    assert run(program, nm.array(LEAF, requires_grad=True)) == EXPECTED[program]


# ------------------------------------------------------------ what a hook may return


def test_a_hook_may_write_into_its_gradient():
    x = nm.array(LEAF, requires_grad=True)
    y = x * 2
    other = (x * 5).sum()

    def double(g):
        g *= 2

    y.register_hook(double)
    (y.sum() + other).backward()
    assert x.grad.tolist() == [9, 9, 9]


def test_what_a_hook_keeps_is_its_own():
    x = nm.array(LEAF, requires_grad=True)
    kept = []
    x.register_hook(kept.append)
    x.register_hook(lambda g: kept[0] if len(kept) > 1 else None)
    (x * x).sum().backward()
    kept[0] *= 100
    assert x.grad.tolist() == [2, 4, -6]
    kept.append(None)
    kept[0][...] = 7
    x.grad = None
    (x * x).sum().backward()
    kept[0] += 1
    assert x.grad.tolist() == [7, 7, 7]


def test_a_prehook_gives_each_leaf_memory_of_its_own():
    a, b = nm.array([1.0], requires_grad=True), nm.array([2.0], requires_grad=True)
    y = a + b
    y.grad_fn.register_prehook(lambda outputs: (nm.array([5.0]),))
    y.backward()
    a.grad += 1
    assert (a.grad.tolist(), b.grad.tolist()) == ([6], [5])


@pytest.mark.parametrize(
    "bad", [nm.zeros(2), nm.zeros(3, nm.float32), 3.0, "text", nm.zeros((1, 3))], ids=str
)
def test_a_replacement_must_fit(bad):
    x = nm.array(LEAF, requires_grad=True)
    y = x * x
    y.register_hook(lambda g: bad)
    with pytest.raises(nm.GradientError, match="hook on the gradient of multiply: expected None"):
        y.sum().backward()


@pytest.mark.parametrize("bad", [nm.zeros(3), (nm.zeros(3),), (1, 2, 3)])
def test_a_node_s_hook_returns_a_tuple(bad):
    x = nm.array(LEAF, requires_grad=True)
    y = x * x
    y.grad_fn.register_hook(lambda inputs, outputs: bad)
    with pytest.raises(nm.GradientError, match="expected a tuple of 2 gradients or None"):
        y.sum().backward()


def test_a_prehook_returns_a_tuple():
    y = nm.array(LEAF, requires_grad=True) * 2
    y.grad_fn.register_prehook(lambda outputs: outputs[0])
    with pytest.raises(nm.GradientError, match="prehook of multiply: expected a tuple of one"):
        y.sum().backward()


def test_an_ndarray_will_do():
    x = nm.array(LEAF, requires_grad=True)
    x.register_hook(lambda g: np.full(3, 2.5))
    (x * x).sum().backward()
    assert type(x.grad) is nm.Array
    assert x.grad.tolist() == [2.5, 2.5, 2.5]


def test_an_exception_passes_through():
    x = nm.array(LEAF, requires_grad=True)

    def fail(g):
        raise LookupError("mine")

    x.register_hook(fail)
    with pytest.raises(LookupError, match="mine"):
        (x * x).sum().backward()


def test_gradients_are_not_recorded_in_hooks():
    x = nm.array(LEAF, requires_grad=True)
    w = nm.array(2.0, requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append((g * w).requires_grad))
    (x * x).sum().backward()
    (x * x).sum().backward(create_graph=True)
    assert seen == [False, True]


@pytest.mark.parametrize("size", [5, 40_000])
def test_large_arrays(size):
    x = nm.ones(size, requires_grad=True)
    y = nm.exp(x) * 1
    seen = []
    y.register_hook(lambda g: seen.append(g.shape) or g * 2)
    y.grad_fn.register_hook(lambda inputs, outputs: seen.append(inputs[0].shape))
    y.sum().backward()
    assert seen == [(size,), (size,)]
    np.testing.assert_allclose(x.grad, 2 * np.e)


def test_gradients_have_the_array_s_shape_and_dtype():
    x = nm.ones((2, 3), nm.float32, requires_grad=True)
    row = nm.ones(3, nm.float64, requires_grad=True)
    seen = []
    for a in (x, row):
        a.register_hook(lambda g: seen.append((g.shape, g.dtype)))
    y = x + row
    y.grad_fn.register_hook(lambda inputs, _: seen.append([(g.shape, g.dtype) for g in inputs]))
    y.sum().backward()
    expected = [((2, 3), np.float32), ((3,), np.float64)]
    assert seen[0] == expected
    assert sorted(seen[1:], key=lambda s: len(s[0])) == expected[::-1]


# ------------------------------------------------------------ in transforms


def test_hooks_run_in_grad_and_vjp():
    def f(x):
        y = x * x
        y.register_hook(lambda g: g * 10)
        x.register_hook(lambda g: g + 1)
        return y.sum()

    x = nm.array(LEAF)
    assert nm.grad(f)(x).tolist() == [21, 41, -59]
    _, pull = nm.vjp(f, x)
    assert pull(nm.array(2.0))[0].tolist() == [41, 81, -119]


def test_hooks_run_in_second_derivatives():
    def f(x):
        y = x * x
        y.register_hook(lambda g: g * g)
        return (y * x).sum()

    # dy/dx = (x)^2 * 2x + x*x = 2 x^3 + x^2, differentiated: 6 x^2 + 2 x
    assert float(nm.grad(nm.grad(f))(nm.array(3.0))) == 60


def times_ten(x):
    def scale(g):
        g *= 10

    y = x * x
    y.register_hook(scale)
    return y.sum()


def test_hooks_run_in_nested_transforms():
    x = nm.array([[1.0, 2.0], [3.0, 4.0]])
    assert nm.vmap(nm.grad(times_ten))(x).tolist() == [[20, 40], [60, 80]]
    assert nm.hessian(times_ten)(x[0]).tolist() == [[20, 0], [0, 20]]
    value, tangent = nm.jvp(nm.grad(times_ten), (x[0],), (x[1],))
    assert (value.tolist(), tangent.tolist()) == ([20, 40], [60, 80])


def test_complex_gradients():
    z = nm.array([1 + 2j, 3 - 1j], requires_grad=True)
    seen = []
    y = z * z
    y.register_hook(lambda g: seen.append(g.dtype) or 2 * g)
    abs(y).sum().backward()  # of |z|^2: 2 z
    np.testing.assert_allclose(z.grad, 4 * np.array([1 + 2j, 3 - 1j]))
    assert seen == [np.complex128]


def test_an_outer_leaf_s_hook_does_not_run_in_grad():
    x = nm.array(LEAF, requires_grad=True)
    seen = []
    x.register_hook(seen.append)
    assert nm.grad(lambda v: (v * v).sum())(x).tolist() == [2, 4, -6]
    assert not seen


# ------------------------------------------------------------ under jit


def test_a_hook_inside_a_jitted_function_makes_it_eager():
    seen = []

    @nm.jit
    def f(x):
        def double(v):
            y = v * v
            y.register_hook(lambda g: seen.append(g.tolist()) or g * 2)
            return y.sum()

        return nm.grad(double)(x)

    for _ in range(4):
        assert f(nm.array(LEAF)).tolist() == [4, 8, -12]
    assert seen == [[1, 1, 1]] * 4
    assert nm.explain(f).reasons == ["register_hook inside the traced function"]


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_leaf_s_hook_runs_at_each_jitted_step(when):
    w = nm.array(LEAF, requires_grad=True)
    seen = []

    @nm.jit
    def step(x):
        w.grad = None
        (w * x).sum().backward()

    x = nm.ones(3)
    if when == "after":
        for _ in range(4):
            step(x)
        assert nm.explain(step).compiled
    handle = w.register_hook(lambda g: seen.append(g.tolist()) or g * 3)
    for _ in range(4):
        step(x)
        assert w.grad.tolist() == [3, 3, 3]
    assert seen == [[1, 1, 1]] * 4
    assert nm.explain(step).reasons == ["a gradient hook runs inside the traced function"]
    handle.remove()
    for _ in range(4):
        step(x)
        assert w.grad.tolist() == [1, 1, 1]
    assert len(seen) == 4
    assert nm.explain(step).compiled


def test_a_leaf_s_hook_runs_once_behind_a_jitted_loss():
    w = nm.array(LEAF, requires_grad=True)
    loss = nm.jit(lambda x: (w * w * x).sum())
    seen = []
    w.register_hook(lambda g: seen.append(g.tolist()) or g * 2)
    for i in range(1, 5):
        w.grad = None
        loss(nm.ones(3)).backward()
        assert w.grad.tolist() == [4, 8, -12]
        assert len(seen) == i
    assert nm.explain(loss).compiled


def test_retain_grad_inside_a_jitted_function():
    @nm.jit
    def f(x):
        y = x * 2
        z = (y * y).sum()
        y.retain_grad()
        z.backward()
        return y.grad

    x = nm.array(LEAF, requires_grad=True)
    for _ in range(3):
        assert f(x).tolist() == [4, 8, -12]
    assert nm.explain(f).reasons == ["retain_grad inside the traced function"]


# ------------------------------------------------------------ the graph


def test_grad_fn_leads_through_the_graph():
    x = nm.array(LEAF, requires_grad=True)
    y = x * 2
    z = nm.exp(y + x)
    assert x.grad_fn is None
    assert nm.zeros(2).grad_fn is None
    assert (z.grad_fn.name(), y.grad_fn.name()) == ("exp", "multiply")
    assert z.grad_fn is z.grad_fn
    ((inner, number),) = z.grad_fn.next_functions
    assert (inner.name(), number) == ("add", 0)
    assert inner.next_functions[0][0] is y.grad_fn
    leaf = inner.next_functions[1][0]
    assert leaf.name() == "accumulate"
    assert leaf.next_functions == ()
    (first, _), (second, _) = y.grad_fn.next_functions
    assert first is leaf
    assert second is None


def test_metadata_is_kept():
    y = nm.array(LEAF, requires_grad=True) * 2
    y.grad_fn.metadata["layer"] = 3
    assert y.grad_fn.metadata == {"layer": 3}


def test_a_leaf_s_node_has_hooks():
    x = nm.array(LEAF, requires_grad=True)
    leaf = (x * x).grad_fn.next_functions[0][0]
    seen = []
    leaf.register_prehook(lambda outputs: (outputs[0] * 2,))
    leaf.register_hook(lambda inputs, outputs: seen.append((inputs, outputs[0].tolist())))
    (x * x).sum().backward()
    assert x.grad.tolist() == [4, 8, -12]
    assert seen == [((), [4, 8, -12])]


@pytest.mark.parametrize(
    "method", ["register_hook", "retain_grad", "register_post_accumulate_grad_hook"]
)
def test_arrays_without_gradient_have_no_hooks(method):
    arguments = () if method == "retain_grad" else (print,)
    with pytest.raises(nm.GradientError, match=f"{method}: this array does not require a gradient"):
        getattr(nm.zeros(2), method)(*arguments)


def test_only_leaves_accumulate():
    y = nm.array(LEAF, requires_grad=True) * 2
    with pytest.raises(nm.GradientError, match=r"only leaves accumulate.*multiply made"):
        y.register_post_accumulate_grad_hook(print)


def test_hooks_are_callable():
    with pytest.raises(TypeError, match="register_hook: expected a callable hook, got 3"):
        nm.array(LEAF, requires_grad=True).register_hook(3)


def test_retains_grad():
    x = nm.array(LEAF, requires_grad=True)
    y = x * 2
    assert not y.retains_grad
    y.retain_grad()
    assert y.retains_grad
    assert not x.retains_grad
    y.sum().backward()
    assert y.grad.tolist() == [1, 1, 1]
    y.grad = None
    assert y.grad is None


def test_a_handle_is_a_context():
    x = nm.array(LEAF, requires_grad=True)
    with x.register_hook(lambda g: 0 * g):
        (x * x).sum().backward()
    assert x.grad.tolist() == [0, 0, 0]
    (x * x).sum().backward()
    assert x.grad.tolist() == [2, 4, -6]


# ------------------------------------------------------------ life


def test_nothing_is_left_over():
    gc.collect()
    before = hooks.LIVE, len(hooks.retaining)
    x = nm.array(LEAF, requires_grad=True)
    y = x * x
    y.register_hook(lambda g, seen=[y]: g)  # a cycle through the graph
    z = y * 3
    z.retain_grad()
    assert (hooks.LIVE, len(hooks.retaining)) == (before[0] + 1, before[1] + 1)
    z.sum().backward()
    reference = weakref.ref(y)
    del x, y, z
    gc.collect()
    assert reference() is None
    assert (hooks.LIVE, len(hooks.retaining)) == before


def test_a_moved_parameter_keeps_its_hooks():
    layer = nm.nn.Linear(2, 1)
    seen = []
    layer.weight.register_hook(lambda g: seen.append(g.dtype))
    layer.to(nm.float64)
    layer(nm.ones((1, 2), nm.float64)).sum().backward()
    assert seen == [np.float64]
