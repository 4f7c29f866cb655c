"""Anomaly mode: the op, the line, the elements and the parameter of the first NaN or infinity.

In each program the line to be named ends with `# here`.
"""

import inspect
import threading

import numpy as np
import pytest

import numen as nm

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


def line_here(function):
    lines, first = inspect.getsourcelines(function)
    (found,) = [first + i for i, line in enumerate(lines) if line.rstrip().endswith("# here")]
    return found


FORWARD = {}
BACKWARD = {}


def forward(op, count, index):
    def add(function):
        FORWARD[function.__name__] = (function, op, count, index)
        return function

    return add


def backward(op, count, index):
    def add(function):
        BACKWARD[function.__name__] = (function, op, count, index)
        return function

    return add


# ------------------------------------------------------------ forward


@forward("log", 2, (0,))
def logarithm(x):
    y = x * 2
    z = nm.log(y - 2)  # here
    return z.sum()


@forward("divide", 1, (1,))
def quotient(x):
    y = x - nm.array([0.0, 2.0, 0.0])
    return (1 / y).sum()  # here


@forward("divide", 3, (0,))
def in_place(x):
    y = x.copy()
    y /= 0  # here
    return y.sum()


@forward("sqrt", 3, (0,))
def into_an_output(x):
    out = nm.zeros(3)
    nm.sqrt(-x, out=out)  # here
    return out.sum()


@forward("exp", 1, (2,))
def overflow(x):
    return nm.exp(x * nm.array([1.0, 1.0, 1e4])).sum()  # here


@forward("cast", 1, (2,))
def a_cast(x):
    y = x * nm.array([1.0, 1.0, 1e300])
    return y.astype(nm.float32).sum()  # here


@forward("power", 1, (0,))
def a_power(x):
    return ((x - nm.array([3.0, 0.0, 0.0])) ** 1.5).sum()  # here


@forward("multiply", 1, (1,))
def infinities_make_nan(x):
    mask = nm.array([0.0, -np.inf, 0.0])
    y = x + mask
    return (y * nm.array([1.0, 0.0, 1.0])).sum()  # here


@forward("inv", 4, (0, 0))
def on_the_host(x):
    tiny = nm.array([[5e-324, 0.0], [0.0, 5e-324]])
    return nm.linalg.inv(tiny).sum()  # here


@forward("mean", 1, ())
def a_mean_of_nothing(x):
    return nm.mean(x[:0])  # here


@forward("matmul", 9, (0, 0))
def a_product(x):
    y = nm.outer(x, x) * 1e200
    return (y @ y).sum()  # here


def check(error, function, direction, op, count, index):
    assert (error.op, error.direction) == (op, direction)
    assert (error.count, error.index) == (count, index)
    assert (error.filename, error.lineno) == (__file__, line_here(function))
    text = str(error)
    assert f'File "{__file__}", line {error.lineno}, in {function.__name__}' in text
    assert "array of shape" in text


@pytest.mark.parametrize("gradient", [False, True], ids=["plain", "recorded"])
@pytest.mark.parametrize("name", FORWARD)
def test_forward(name, gradient):
    function, op, count, index = FORWARD[name]
    x = nm.array([1.0, 2.0, 0.5], requires_grad=gradient)
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError) as caught:
        function(x)
    check(caught.value, function, "forward", op, count, index)
    function(x)  # outside nothing is looked at


# ------------------------------------------------------------ backward


@backward("sqrt", 1, (1,))
def root_at_zero(x):
    y = x - nm.array([0.0, 2.0, 0.0])
    z = nm.sqrt(y)  # here
    return (z * 3).sum()


@backward("sqrt", 1, (1,))
def a_norm_at_zero(x):
    y = x - nm.array([0.0, 2.0, 0.0])
    z = y * y
    z = z**0.5  # here
    return z.sum()


@backward("log", 3, (0,))
def a_steep_logarithm(x):
    y = x * 1e-320
    z = nm.log(y)  # here
    return z.sum()


@backward("arcsin", 1, (0,))
def at_the_edge(x):
    z = nm.arcsin(x / 2 + nm.array([0.5, -1.0, 0.0]))  # here
    return z.sum()


@pytest.mark.parametrize("name", BACKWARD)
def test_backward(name):
    function, op, count, index = BACKWARD[name]
    x = nm.array([1.0, 2.0, 0.5], requires_grad=True)
    with nm.detect_anomaly():
        loss = function(x)
        with pytest.raises(nm.AnomalyError) as caught:
            loss.backward()
    check(caught.value, function, "backward", op, count, index)
    assert str(caught.value).startswith(f"backward of {op}: ")
    function(x).backward()


@pytest.mark.parametrize("name", BACKWARD)
def test_backward_of_transforms(name):
    function, op, count, index = BACKWARD[name]
    x = nm.array([1.0, 2.0, 0.5])
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError) as caught:
        nm.grad(function)(x)
    check(caught.value, function, "backward", op, count, index)


def test_a_graph_of_before():
    x = nm.array([0.0, 1.0], requires_grad=True)
    loss = nm.sqrt(x).sum()
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError, match="backward of sqrt"):
        loss.backward()


def test_a_sum_of_gradients_that_overflows():
    x = nm.array([1e-9], requires_grad=True)
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError, match="the sum of several gradients"):
        (x * 1e308 + x * 1e308).backward()


def test_a_hook_that_returns_nan():
    x = nm.array([1.0, 2.0], requires_grad=True)
    y = x * 2
    y.register_hook(lambda g: g * nm.nan)
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError, match="a hook's result"):
        y.sum().backward()


def test_hooks_run():
    x = nm.array([1.0, 2.0], requires_grad=True)
    seen = []
    x.register_hook(lambda g: seen.append(g.tolist()) or g * 2)
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(leaf.grad.tolist()))
    with nm.detect_anomaly():
        (x * x).sum().backward()
    assert seen == [[2, 4], [4, 8]]


def test_recomputed_ops_have_their_line():
    @nm.checkpoint
    def root(x):
        return nm.sqrt(x * 1).sum()  # here

    x = nm.array([1.0, 0.0], requires_grad=True)
    with nm.detect_anomaly():
        loss = root(x)
        with pytest.raises(nm.AnomalyError) as caught:
            loss.backward()
    assert caught.value.op == "sqrt"
    assert caught.value.lineno == line_here(test_recomputed_ops_have_their_line)


# ------------------------------------------------------------ jit


@pytest.mark.parametrize("name", [*FORWARD, *BACKWARD])
def test_jitted_functions_name_the_same_line(name):
    function, op, count, index = {**FORWARD, **BACKWARD}[name]
    direction = "forward" if name in FORWARD else "backward"
    step = nm.jit(function if name in FORWARD else lambda x: nm.grad(function)(x))
    x = nm.array([1.0, 2.0, 0.5])
    for _ in range(3):
        step(x)
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError) as caught:
        step(x)
    if name != "a_mean_of_nothing":  # rows compute it: a division
        check(caught.value, function, direction, op, count, index)
    assert caught.value.lineno == line_here(function)
    step(x)


def test_a_jitted_function_in_the_context_gives_its_result():
    f = nm.jit(lambda x: (nm.exp(x) * 3).sum())
    x = nm.array([1.0, 2.0])
    values = [float(f(x)) for _ in range(3)]
    with nm.detect_anomaly():
        values.append(float(f(x)))
    assert len(set(values)) == 1


def test_the_context_inside_a_jitted_function():
    @nm.jit
    def f(x):
        with nm.detect_anomaly():
            return nm.log(x).sum()

    for _ in range(3):
        assert float(f(nm.array([1.0]))) == 0
        with pytest.raises(nm.AnomalyError, match="forward log"):
            f(nm.array([0.0]))
    assert "anomaly mode is switched inside the traced function" in nm.explain(f).reasons


# ------------------------------------------------------------ other transforms


def test_transforms_of_finite_functions_pass():
    x = nm.array([1.0, 2.0])
    with nm.detect_anomaly():
        assert nm.vmap(nm.log)(x).shape == (2,)
        assert nm.hessian(lambda v: (v**3).sum())(x).tolist() == [[6, 0], [0, 12]]
        _, tangent = nm.jvp(nm.sqrt, (x,), (x,))
    np.testing.assert_allclose(tangent, np.sqrt([1.0, 2.0]) / 2)


@pytest.mark.parametrize(
    ("run", "text"),
    [
        (lambda x: nm.vmap(nm.log)(x), "forward log: 1 inf among the 2 elements of the result"),
        (lambda x: nm.jvp(nm.sqrt, (x,), (x + 1,)), "forward sqrt: 1 inf .* the tangent of the"),
        (lambda x: nm.jacrev(nm.sqrt)(x), "backward of sqrt"),
        (lambda x: nm.jacfwd(nm.sqrt)(x), "forward sqrt: 1 inf among .* the tangent"),
        (lambda x: nm.vmap(nm.grad(nm.sqrt))(x), "backward of sqrt"),
    ],
    ids=["vmap", "jvp", "jacrev", "jacfwd", "vmap of grad"],
)
def test_transforms(run, text):
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError, match=text):
        run(nm.array([1.0, 0.0]))


# ------------------------------------------------------------ parameters


def test_a_parameter_is_named_forward():
    net = nm.nn.Sequential(nm.nn.Linear(2, 3), nm.nn.ReLU(), nm.nn.Linear(3, 1))
    with nm.no_grad():
        net[0].weight.fill(1)
        net[2].weight.fill(3e38)
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError) as caught:
        net(nm.full((4, 2), 100.0, nm.float32))
    assert "parameter '2.weight' of Sequential" in str(caught.value)
    assert caught.value.op == "matmul"


def test_a_parameter_is_named_backward():
    class Scale(nm.nn.Module):
        def __init__(self):
            super().__init__()
            self.scale = nm.nn.Parameter(nm.zeros(3))

        def forward(self, x):
            return x * nm.sqrt(self.scale)  # here

    net = nm.nn.Sequential(Scale())
    with nm.detect_anomaly():
        loss = net(nm.ones((2, 3))).sum()
        with pytest.raises(nm.AnomalyError) as caught:
            loss.backward()
    assert "parameter '0.scale' of Sequential" in str(caught.value)
    assert (caught.value.op, caught.value.lineno) == ("sqrt", line_here(Scale))


def test_fit_says_which_step():
    class Root(nm.nn.Module):
        def __init__(self):
            super().__init__()
            self.w = nm.nn.Parameter(nm.array([1.0]))

        def forward(self, x):
            return nm.sqrt(self.w - x)  # here

    net = Root()
    x = nm.array([0.5, 0.5, 0.5, 2.0]).reshape(4, 1)
    loss = nm.nn.functional.mse_loss
    optimizer = nm.optim.SGD(net.parameters(), lr=1e-3)
    options = {"batch_size": 1, "shuffle": False, "progress": False}
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError) as caught:
        nm.fit(net, loss, optimizer, (x, 0 * x), **options)
    assert caught.value.lineno == line_here(Root)
    assert caught.value.__notes__ == ["fit: at epoch 1 of 1, batch 4 of 4 (step 4)"]
    with pytest.raises(nm.train.NonFiniteLossError, match=r"with nm\.detect_anomaly"):
        nm.fit(net, loss, optimizer, (x, 0 * x), **options)


# ------------------------------------------------------------ what is not reported


def test_what_arrives_is_not_blamed():
    x = nm.array([1.0, np.nan, np.inf])
    with nm.detect_anomaly():
        y = (x * 2 + 1).sum()
        nm.where(nm.array([True, False, False]), x, 0.0)
        nm.cumsum(x)
        nm.full_like(x, nm.nan)
        x += 1
        nm.sqrt(x, out=x)
    assert np.isnan(float(y))


def test_what_arrives_is_reported_on_demand():
    x = nm.array([1.0, np.nan])
    text = "forward multiply: 1 NaN among .* index \\(1,\\); NaN was among the arguments"
    with nm.detect_anomaly(check_inputs=True), pytest.raises(nm.AnomalyError, match=text):
        x * 2
    y = nm.array([1.0, 2.0], requires_grad=True) * 2
    with nm.detect_anomaly(check_inputs=True), pytest.raises(nm.AnomalyError, match="backward of"):
        y.backward(nm.array([1.0, np.nan]))


def test_a_mask_of_infinities_is_the_program_s_own():
    scores = nm.array([[1.0, 2.0, 3.0]], requires_grad=True)
    hidden = nm.array([[True, False, False]])
    with nm.detect_anomaly():
        masked = nm.where(hidden, -np.inf, scores)
        weights = nm.nn.functional.softmax(masked, 1)
        (weights * nm.array([[1.0, 2.0, 3.0]])).sum().backward()
    assert np.isfinite(np.asarray(scores.grad)).all()


def test_a_given_cotangent_is_not_blamed():
    x = nm.array([1.0, 2.0], requires_grad=True)
    with nm.detect_anomaly():
        (x * 2).backward(nm.array([np.nan, 1.0]))
    assert np.isnan(np.asarray(x.grad)).tolist() == [True, False]


def test_sums_that_overflow_raise_no_alarm():
    large = nm.array(np.full(1000, 1e200))
    small = nm.array(np.full((8, 8), 3e38, np.float32))
    with nm.detect_anomaly():
        large * 2
        small.T + 0
        nm.array(np.full(100, 6e4, np.float16)) * 1
        nm.array(np.full(10, 1e200 + 1e200j)) * 1
        nm.array(np.ones((3, 4, 5)))[:, ::2] * 3


def test_uninitialised_memory_is_not_looked_at():
    x = nm.array(np.ones(4))
    with nm.detect_anomaly():
        nm.empty_like(x)
        nm.array(np.array([2**63 - 1])).view(nm.float64)
        assert (nm.array(["a", "b"]) == nm.array(["a", "c"])).tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
def test_dtypes(dtype):
    x = nm.array([0.0, 1.0], dtype=dtype)
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError, match=f"a {dtype} array"):
        nm.log(x)


def test_bfloat16():
    x = nm.array([0.0, 1.0]).astype(nm.bfloat16)
    with nm.detect_anomaly(), pytest.raises(nm.AnomalyError, match="bfloat16 array"):
        1 / x


# ------------------------------------------------------------ options and switching


def test_options():
    x = nm.array([1.0, 0.0])
    with nm.detect_anomaly(check_inf=False):
        1 / x
        with pytest.raises(nm.AnomalyError, match="1 NaN"):
            nm.log(x - 1) * 0
    with nm.detect_anomaly(check_nan=False):
        nm.sqrt(x - 1)
        with pytest.raises(nm.AnomalyError, match="1 inf"):
            1 / x


def test_contexts_nest():
    x = nm.array([0.0])
    with nm.detect_anomaly():
        with nm.set_detect_anomaly(False):
            1 / x
        with nm.detect_anomaly(check_inf=False):
            1 / x
        with pytest.raises(nm.AnomalyError):
            1 / x
    1 / x


def test_switch():
    x = nm.array([0.0])
    nm.set_detect_anomaly(True)
    try:
        with pytest.raises(nm.AnomalyError):
            1 / x
    finally:
        nm.set_detect_anomaly(False)
    1 / x


def test_decorator():
    @nm.detect_anomaly()
    def f(x):
        return 1 / x

    with pytest.raises(nm.AnomalyError):
        f(nm.array([0.0]))
    assert f(nm.array([2.0])).tolist() == [0.5]


def test_each_thread_has_its_own():
    results = []
    with nm.detect_anomaly():
        thread = threading.Thread(target=lambda: results.append((1 / nm.array([0.0])).tolist()))
        thread.start()
        thread.join()
    assert results == [[np.inf]]


def test_no_trace_of_it_is_left():
    from numen.dispatch import modes

    before = modes.ACTIVE, modes.state.special
    with nm.detect_anomaly(), nm.detect_anomaly():
        assert modes.ACTIVE - before[0] == 1
    with pytest.raises(nm.AnomalyError), nm.detect_anomaly():
        1 / nm.array([0.0])
    assert (modes.ACTIVE, modes.state.special) == before
    assert modes.state.anomaly is None


def test_the_error_s_classes():
    assert issubclass(nm.AnomalyError, nm.GradientError)
    assert issubclass(nm.AnomalyError, RuntimeError)  # PyTorch's
    error = nm.AnomalyError("text")
    assert (error.filename, error.lineno, error.index) == (None, 0, ())
