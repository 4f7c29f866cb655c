"""Programs that change an array after an op has used it: the right gradient, or an error that names
both lines.

In each program the line that saves ends with `# saved`, the line that writes with `# written`; a
program without such marks has a gradient, which finite differences check.
"""

import gc
import inspect
import re
import threading
import weakref

import numpy as np
import pytest

import numen as nm
from numen.dispatch import places

START = np.array([0.7, 1.3, 2.1])


def one_of_several(rows):
    """Decorates a program: adds it to a list."""

    def add(program):
        rows.append(program)
        return program

    return add


PROGRAMS = []
program = one_of_several(PROGRAMS)

# ------------------------------------------------------------ the op saved its argument


@program
def operand_incremented(x):
    y = x * 2
    z = nm.sin(y)  # saved
    y += 1  # written
    return z.sum()


@program
def product_of_itself(x):
    y = x * 2
    z = y * y  # saved
    y[0] = 5.0  # written
    return z.sum()


@program
def a_constant_scaled(x):
    w = nm.ones(3)
    z = x * w  # saved
    w *= 3  # written
    return z.sum()


@program
def a_constant_assigned(x):
    w = nm.ones(3)
    z = x * w  # saved
    w[1] = 3  # written
    return z.sum()


@program
def a_constant_filled(x):
    w = nm.ones(3)
    z = x * w  # saved
    w.fill(4)  # written
    return z.sum()


@program
def a_constant_copied_over(x):
    w = nm.ones(3)
    z = x * w  # saved
    nm.copyto(w, 2.0)  # written
    return z.sum()


@program
def a_constant_as_output(x):
    w = nm.ones(3)
    z = x * w  # saved
    nm.multiply(w, 2.0, out=w)  # written
    return z.sum()


@program
def a_constant_put(x):
    w = nm.ones(3)
    z = x * w  # saved
    nm.put(w, [0, 2], [5.0, 6.0])  # written
    return z.sum()


@program
def a_constant_sorted(x):
    w = nm.array([3.0, 1.0, 2.0])
    z = x * w  # saved
    w.sort()  # written
    return z.sum()


@program
def a_value_with_gradient_assigned(x):
    y = x * 2
    z = y**3  # saved
    y[1:] = x[:2]  # written
    return z.sum() + y.sum()


@program
def a_matrix_operand(x):
    m = nm.eye(3)
    z = x @ m  # saved
    m[0, 0] = 7.0  # written
    return z.sum()


@program
def a_denominator(x):
    y = x + 1
    z = 2 / y  # saved
    y -= 1  # written
    return z.sum()


@program
def an_exponent(x):
    n = nm.array([1.0, 2.0, 3.0])
    z = x**n  # saved
    n += 1  # written
    return z.sum()


# ------------------------------------------------------------ through other names of the memory


@program
def through_a_view(x):
    y = x * 2
    part = y[1:]
    z = nm.cos(y)  # saved
    part *= 3  # written
    return z.sum()


@program
def a_saved_view(x):
    y = x * 2
    z = nm.cos(y[:2])  # saved
    y += 1  # written
    return z.sum()


@program
def a_view_of_other_elements(x):
    y = x * 2
    first, last = y[:1], y[2:]
    z = nm.cos(first)  # saved
    last += 1  # written
    return z.sum()


@program
def a_reshaped_view(x):
    y = x * 2
    column = y.reshape(3, 1)
    z = y * y  # saved
    column[2] = 1.0  # written
    return z.sum()


@program
def a_detached_view(x):
    y = x * 2
    values = y.detach()
    z = nm.sin(y)  # saved
    values += 1  # written
    return z.sum()


@program
def without_recording(x):
    y = x * 2
    z = nm.sin(y)  # saved
    with nm.no_grad():
        y += 1  # written
    return z.sum()


@program
def the_other_branch(x):
    y = x * 2
    z = y * y if float(y[0]) < 10 else y  # saved
    if float(z[0]) < 100:
        y /= 2  # written
    return z.sum()


@program
def twice(x):
    y = x * 2
    z = nm.sin(y)  # saved
    y += 1
    y += 2  # written
    return z.sum()


def helper_that_saves(y):
    return nm.sin(y)


def helper_that_writes(y):
    y *= 2


@program
def inside_the_package(x):
    w = nm.ones((2, 3))
    z = nm.nn.functional.linear(x, w)  # saved
    w *= 2  # written
    return z.sum()


@program
def by_a_function_of_the_package(x):
    y = x * 2
    z = y * y  # saved
    nm.nn.functional.relu(-y, inplace=False)
    nm.put_along_axis(y, nm.array([0]), 0.0, 0)  # written
    return z.sum()


@program
def in_a_loop(x):
    y = x * 1
    total = 0.0
    for _ in range(3):
        total = total + (y * y).sum()  # saved
        y += 1  # written
    return total


# ------------------------------------------------------------ nothing is wrong


@program
def the_result_is_kept(x):
    y = nm.exp(x)
    y *= 2
    return y.sum()


@program
def a_part_of_the_result_is_kept(x):
    y = nm.exp(x)
    y[0] = 3.0
    return (y * 2).sum()


@program
def a_root_squared_in_place(x):
    y = nm.sqrt(x)
    y *= y
    return y.sum()


@program
def written_before_use(x):
    y = x * 2
    y += x
    return nm.sin(y).sum()


@program
def a_copy_is_written(x):
    y = x * 2
    z = nm.sin(y)
    y = y.copy()
    y += z
    return y.sum() + z.sum()


@program
def nothing_is_saved(x):
    y = x * 2
    z = y + 1
    y *= 5
    return (z * 3).sum() + y.sum()


@program
def accumulated(x):
    total = nm.zeros(3)
    for i in range(4):
        total += x * i
    return (total * total).sum()


@program
def an_element_counts_once(x):
    v = nm.zeros(3)
    v[0] = v[0] + x[0]
    v[0] = v[0] + x[0]
    v[1:] = v[1:] + v[0] * x[1:]
    return v.sum()


@program
def elements_moved(x):
    y = x * 1
    y[0] = y[1] * 2
    y[1] = y[0] + y[2]
    return (y * nm.array([1.0, 10.0, 100.0])).sum()


@program
def views_follow(x):
    y = nm.zeros((2, 3))
    row = y[1]
    row += x
    y *= 2
    return (row * row).sum() + y.sum()


@program
def overwritten_then_unused(x):
    y = x * 2
    z = y.sum()
    y[...] = 0.0
    return z + y.sum()


def marked(function, mark):
    """The numbers of the lines of a function that end with a mark."""
    lines, first = inspect.getsourcelines(function)
    return [first + i for i, line in enumerate(lines) if line.rstrip().endswith(f"# {mark}")]


def finite_differences(function, x, step=1e-6):
    gradient = np.empty_like(x)
    for i in range(x.size):
        up, down = x.copy(), x.copy()
        up[i] += step
        down[i] -= step
        gradient[i] = float(function(nm.array(up))) - float(function(nm.array(down)))
    return gradient / (2 * step)


def names(error, function):
    """Assert that an error names the file and the marked lines of a function."""
    (saved,), (written,) = marked(function, "saved"), marked(function, "written")
    found = re.search(
        r'saved in   File "(.+)", line (\d+), in (\w+).*\n *written in File "(.+)", line (\d+)',
        str(error),
    )
    assert found is not None, str(error)
    file, line, name, written_file, written_line = found.groups()
    assert (file, written_file) == (__file__, __file__)
    assert (int(line), int(written_line), name) == (saved, written, function.__name__)
    assert "backward: " in str(error) and "array of shape" in str(error)


def test_there_are_at_least_thirty_programs():
    assert len(PROGRAMS) >= 30
    assert 10 <= sum(not marked(p, "written") for p in PROGRAMS) < len(PROGRAMS) - 15


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda p: p.__name__)
def test_right_or_both_lines(function):
    x = nm.array(START, requires_grad=True)
    loss = function(x)
    if marked(function, "written"):
        with pytest.raises(nm.GradientError) as caught:
            loss.backward()
        names(caught.value, function)
        assert x.grad is None
    else:
        loss.backward()
        np.testing.assert_allclose(x.grad, finite_differences(function, START), rtol=1e-6)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda p: p.__name__)
def test_transforms_agree(function):
    x = nm.array(START)
    if marked(function, "written"):
        with pytest.raises(nm.GradientError) as caught:
            nm.grad(function)(x)
        names(caught.value, function)
    else:
        expected = finite_differences(function, START)
        np.testing.assert_allclose(nm.grad(function)(x), expected, rtol=1e-6)


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda p: p.__name__)
def test_jit_gives_the_same_or_an_error(function):
    step = nm.jit(lambda x: nm.grad(function)(x))
    x = nm.array(START)
    for _ in range(3):
        if marked(function, "written"):
            with pytest.raises(nm.GradientError) as caught:
                step(x)
            names(caught.value, function)
        else:
            np.testing.assert_allclose(step(x), finite_differences(function, START), rtol=1e-6)


def test_the_innermost_line_of_the_program_counts():
    y = nm.array(START, requires_grad=True) * 2
    z = helper_that_saves(y)
    helper_that_writes(y)
    with pytest.raises(nm.GradientError, match=r"in helper_that_saves: return nm\.sin") as caught:
        z.sum().backward()
    assert "in helper_that_writes: y *= 2" in str(caught.value)


def test_what_a_jitted_function_writes():
    @nm.jit
    def decay(w):
        w *= 0.5

    w = nm.ones(3)
    for _ in range(3):
        decay(w)
    z = nm.array(START, requires_grad=True) * w
    decay(w)
    line = inspect.currentframe().f_lineno - 1
    with pytest.raises(nm.GradientError, match=f"written in File .*, line {line}, in test_what"):
        z.sum().backward()


def test_what_a_jitted_function_saves():
    f = nm.jit(lambda x, w: (x * w * w).sum())
    x, w = nm.array(START, requires_grad=True), nm.ones(3)
    for _ in range(3):
        z = f(x, w)
    w += 1
    with pytest.raises(nm.GradientError, match="written in place afterwards"):
        z.backward()


def test_custom_rules_name_both_lines():
    class Product(nm.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_arrays
            return g * w, g * x

    def by_a_function(x):
        w = nm.ones(3)
        y = Product.apply(x, w)  # saved
        w *= 5  # written
        return y.sum()

    test_right_or_both_lines(by_a_function)


def test_vmap_names_both_lines():
    def batched(x):
        y = x * 2
        z = nm.sin(y)  # saved
        y += 1  # written
        return z.sum()

    with pytest.raises(nm.GradientError) as caught:
        nm.vmap(nm.grad(batched))(nm.ones((2, 3)))
    names(caught.value, batched)


def test_writes_beside_a_transform_are_seen():
    x = nm.array(START)

    def writes_what_it_was_given(v):
        z = v * v  # saved
        x[0] = 5.0  # written
        return z.sum()

    with pytest.raises(nm.GradientError) as caught:
        nm.grad(writes_what_it_was_given)(x)
    names(caught.value, writes_what_it_was_given)


@pytest.mark.parametrize("transform", [nm.vjp, nm.linearize])
def test_writes_between_a_transform_and_its_function_are_seen(transform):
    x = nm.array(START)
    _, function = transform(lambda v: v * v, x)
    assert function(nm.ones(3)) is not None
    x[0] = 100.0
    with pytest.raises(nm.GradientError, match=r"in test_writes_between.*: x\[0\] = 100"):
        function(nm.ones(3))


def test_a_twin_keeps_its_own_views():
    x = nm.array(START)
    part = x[1:]

    def f(v):
        outer = x[:2]
        w = v * 1
        inner = w[:2]
        inner *= 2
        assert not outer.requires_grad and not part.requires_grad
        return (w * w).sum()

    np.testing.assert_allclose(nm.grad(f)(x), 2 * START * np.array([4.0, 4.0, 1.0]))
    x += 1
    assert not part.requires_grad
    np.testing.assert_array_equal(part, START[1:] + 1)


@pytest.mark.parametrize("op", [nm.exp, nm.sin])
def test_modules_with_backward_hooks(op):
    class Layer(nm.nn.Module):
        def forward(self, x):
            return op(x)

    def run(x, hooked):
        layer = Layer()
        if hooked:
            layer.register_full_backward_hook(lambda *given: None)
        h = x * 1
        y = layer(h)
        if hooked:
            h += 1  # the layer got a copy
        y *= 3
        return y.sum()

    gradients = [nm.grad(lambda x, h=h: run(x, h))(nm.array(START)) for h in (False, True)]
    np.testing.assert_array_equal(*gradients)


def test_checkpoint_names_both_lines():
    def recomputed(x):
        y = x * 1
        z = nm.checkpoint(lambda v: nm.sin(v).sum())(y)  # saved
        y += 1  # written
        return z

    test_right_or_both_lines(recomputed)


def test_an_optimiser_is_named():
    w = nm.array(START, requires_grad=True)
    optimizer = nm.optim.SGD([w], lr=0.1)
    (w * w).sum().backward()
    z = (w * w).sum()
    optimizer.step()
    line = inspect.currentframe().f_lineno - 1
    with pytest.raises(nm.GradientError, match=rf"written in File .*, line {line}, "):
        z.backward()


def test_source_that_is_not_to_be_had():
    scope = {"nm": nm, "x": nm.array(START, requires_grad=True)}
    exec(compile("y = x * 2\nz = y * y\ny += 1\n", "<made up>", "exec"), scope)
    with pytest.raises(nm.GradientError, match='saved in   File "<made up>", line 2, in <module>'):
        scope["z"].sum().backward()


def test_places_hold_no_variable():
    class Large:
        pass

    def forward(x):
        large = Large()
        seen.append(weakref.ref(large))
        w = nm.ones(3)
        z = x * w
        w += 1
        return z

    seen = []
    z = forward(nm.array(START, requires_grad=True))
    gc.collect()
    assert z.requires_grad
    assert seen[0]() is None


def test_threads_have_places_of_their_own():
    found = []

    def work():
        y = nm.array(START, requires_grad=True) * 2
        z = y * y
        y += 1
        try:
            z.sum().backward()
        except nm.GradientError as error:
            found.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 4
    assert all(["in work: z = y * y" in text for text in found])


def test_an_unknown_place_says_so():
    assert places.describe_place(None) == "an unknown place"


def test_a_long_line_is_cut():
    place = places.here()
    text = places.describe_place(place)
    assert text.endswith("test_a_long_line_is_cut: place = places.here()")
    code = compile("\n" * 3 + "x" * 300, __file__, "exec")
    line = places.describe_place((code, 0))
    assert len(line.split(": ", 1)[-1]) <= places.LONGEST_LINE


# ------------------------------------------------------------ every way to write

WAYS = """
y += 1
y **= 2
y @= nm.eye(3) * 2
y[0] = 4
y[1:, :2] = 4
y[y > 1] = 0.5
y[[0, 2]] = 3.0
y[nm.array([0, 1])] += 1
y.flat[2] = 9
y.flat = 2.0
y.fill(2)
y.sort()
y.partition(1)
nm.put(y, [0], 7)
nm.place(y, y > 1, [0.5])
nm.putmask(y, y > 1, 0.5)
nm.copyto(y, 3.0)
nm.fill_diagonal(y, 3.0)
nm.put_along_axis(y, nm.array([[0], [0], [0]]), 9.0, 1)
nm.add.at(y, [0], 1.0)
nm.exp(y, out=y)
nm.add(y, 1, out=y, where=y > 1)
nm.cumsum(y, axis=0, out=y)
nm.matmul(y, nm.eye(3) * 3, out=y)
nm.clip(y, 0, 1, out=y)
nm.sum(nm.ones((3, 3)), axis=0, out=y[0])
nm.random.default_rng(0).shuffle(y)
nm.nan_to_num(y, copy=False)
y.T[0] += 1
y.reshape(9)[3] = 5
y.real += 1
y.view()[0] = 4
y[:, None][0] *= 3
nm.squeeze(y)[0] = 1
nm.asarray(y)[0] = 1
nm.split(y, 3)[1][...] = 2
nm.flip(y)[0] = 3
nm.lib.stride_tricks.as_strided(y, (3,), (8,))[0] = 5
[row.__imul__(2) for row in y]
nm.einsum("ii->i", y)[...] = 7
y.detach()[0] = 5
y.detach().T[0] = 5
nm.frombuffer(y.detach(), nm.float64)[0] = 2
nm.from_dlpack(y.detach())[0] = 3
nm.array(y, copy=False)[0] = 2
nm.nn.init.zeros_(y)
""".strip().splitlines()

MATRIX = np.array([[0.7, 1.3, 2.1], [0.2, 1.1, 3.0], [1.5, 0.4, 0.9]])
SAVERS = {
    "computed": lambda x, y: nm.sin(y),
    "row": lambda x, y: y[0] * y[0],
    "product": lambda x, y: y @ y,
    "constant": lambda x, y: x * y,
}


@pytest.mark.parametrize("saver", SAVERS)
@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_write_gives_a_wrong_gradient(way, saver):
    x = nm.array(MATRIX, requires_grad=True)
    y = nm.array(MATRIX) if saver == "constant" else x * 2
    z = SAVERS[saver](x, y)
    expected = nm.grad(lambda v: SAVERS[saver](v, y if saver == "constant" else v * 2).sum())(x)
    scope = {"nm": nm, "y": y}
    exec(compile(way, "<way>", "exec"), scope)
    try:
        z.sum().backward()
    except nm.GradientError as error:
        text = str(error)
        assert f'saved in   File "{__file__}", line ' in text
        assert 'written in File "<way>", line 1, in <' in text
    else:
        np.testing.assert_array_equal(x.grad, expected)
