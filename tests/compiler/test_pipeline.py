"""What the schedule makes of typical graphs: fused kernels, in-place writes, no baked sizes."""

import numpy as np
import pytest

from numen.compiler.nest_text import format_nest, verify_nest
from numen.compiler.passes.schedule import GemmStep, HostStep, NestStep
from numen.compiler.pipeline import PASSES, compile_steps, stages
from numen.graph import Graph, TensorType, verify

F4, F8, F2 = np.dtype("f4"), np.dtype("f8"), np.dtype("f2")


class Builder(Graph):
    """A graph with short forms."""

    def array(self, *shape, dtype=F4, strides=None):
        return self.input(TensorType(np.dtype(dtype), shape), strides=strides)

    def number(self):
        return self.op("cast", (self.input(TensorType(F8, ()), kind="scalar"),), {"dtype": F4})

    def constant(self, value, dtype=F4):
        return self.const(value, dtype)

    def reduce(self, op, x, *axis, keepdims=False):
        return self.op(op, (x,), {"axis": axis, "keepdims": keepdims})

    def assign(self, base, index, value):
        return self.op("setitem", (base, value), {"path": (("getitem", (("index", index),)),)})

    def write(self, target, value):
        self.writes.append((self.inputs.index(target), value))


def schedule(graph, **options):
    verify(graph)
    for _, stage in stages(graph):
        verify(stage)
    result = compile_steps(graph, **options)
    for step in result.steps:
        if isinstance(step, NestStep):
            verify_nest(step.kernel.nest)
    return result


def kinds(result):
    return [type(step).__name__.removesuffix("Step").lower() for step in result.steps]


def nests(result):
    return [step.kernel for step in result.steps if isinstance(step, NestStep)]


def adam(rows):
    g = Builder()
    p, grad, m, v = (g.array(rows, 8) for _ in range(4))
    lr = g.number()
    scaled = g.op("multiply", (grad, g.constant(0.1)))
    new_m = g.op("add", (g.op("multiply", (m, g.constant(0.9))), scaled))
    squared = g.op("multiply", (g.op("multiply", (grad, grad)), g.constant(0.01)))
    new_v = g.op("add", (g.op("multiply", (v, g.constant(0.99))), squared))
    root = g.op("add", (g.op("sqrt", (new_v,)), g.constant(1e-8)))
    step = g.op("divide", (g.op("multiply", (new_m, lr)), root))
    g.write(p, g.op("subtract", (p, step)))
    g.write(m, new_m)
    g.write(v, new_v)
    return g


def test_passes_have_names():
    assert PASSES[0][0] == "dce"
    assert PASSES[-1][0] == "prepare"


def test_an_adam_step_is_one_kernel_with_three_stores_in_place():
    (kernel,) = nests(schedule(adam(8)))
    assert kernel.extents == (64,)
    assert [store.storage.kind for store in kernel.stores] == ["input"] * 3
    assert len(kernel.loads) == 4
    assert len(kernel.scalars) == 6  # the learning rate and five constants


def test_another_size_has_the_same_kernels():
    texts = [[format_nest(k.nest) for k in nests(schedule(adam(rows)))] for rows in (8, 9)]
    assert texts[0] == texts[1]


def test_a_mean_has_no_size_in_its_kernel():
    def graph(rows):
        g = Builder()
        g.outputs = [g.reduce("mean", g.array(rows, 5), 0)]
        return g

    texts = [[format_nest(k.nest) for k in nests(schedule(graph(rows)))] for rows in (6, 7)]
    assert texts[0] == texts[1]


def test_a_chain_is_one_kernel():
    g = Builder()
    x, bias = g.array(4, 6), g.array(6)
    y = g.op("relu", (g.op("add", (g.op("multiply", (x, g.constant(2.5))), bias)),))
    g.outputs = [g.op("where", (g.op("less", (y, x)), g.op("exp", (y,)), x))]
    result = schedule(g)
    assert kinds(result) == ["nest"]
    (kernel,) = nests(result)
    assert kernel.extents == (4, 6)
    assert [b.strides for b in kernel.nest.buffers] == [("s", "1"), ("0", "1"), ("s", "1")]


def test_producers_and_consumers_of_a_reduction_are_in_its_kernel():
    g = Builder()
    x = g.array(4, 6)
    total = g.reduce("sum", g.op("multiply", (x, x)), 1, keepdims=True)
    g.outputs = [g.op("sqrt", (g.op("add", (total, g.constant(1e-5))),))]
    (kernel,) = nests(schedule(g))
    assert kernel.nest.reduced
    assert kernel.extents == (4, 6)


def test_reductions_of_the_same_elements_share_a_kernel():
    g = Builder()
    x = g.array(4, 6)
    low, high = g.reduce("min", x, 1), g.reduce("max", x, 1)
    g.outputs = [g.op("subtract", (high, low)), low]
    (kernel,) = nests(schedule(g))
    assert sum(instr.op == "reduce" for instr in kernel.nest.body) == 2
    assert len(kernel.loads) == 1


def test_softmax_computes_exp_once():
    g = Builder()
    x = g.array(4, 6)
    shifted = g.op("subtract", (x, g.reduce("max", x, 1, keepdims=True)))
    e = g.op("exp", (shifted,))
    g.outputs = [g.op("divide", (e, g.reduce("sum", e, 1, keepdims=True)))]
    result = schedule(g)
    assert kinds(result) == ["nest"] * 4  # max, exp, sum, division
    texts = [format_nest(kernel.nest) for kernel in nests(result)]
    assert sum(text.count("= rint") + text.count("bitcast") > 0 for text in texts) <= 1


def test_views_are_strides():
    g = Builder()
    x = g.array(4, 6)
    y = g.op("transpose", (x,), {"axes": (1, 0)})
    y = g.op("getitem", (y,), {"index": (slice(None, None, -2), 1)})
    g.outputs = [g.op("negative", (y,))]
    (kernel,) = nests(schedule(g))
    (load,) = kernel.loads
    assert (load.layout.offset, load.layout.strides) == (4 * (5 + 6), (-8,))


def test_a_sum_over_all_axes_is_one_axis():
    g = Builder()
    x, y = g.array(4, 6), g.array(4, 6)
    g.outputs = [g.reduce("sum", g.op("multiply", (x, y)), 0, 1)]
    (kernel,) = nests(schedule(g))
    assert kernel.extents == (24,)


def test_reduced_axes_that_do_not_join_are_copied_together_first():
    g = Builder()
    g.outputs = [g.reduce("sum", g.array(3, 4, 5), 0, 2)]
    copy, total = nests(schedule(g))
    assert not copy.nest.reduced
    assert total.extents == (4, 15)


def test_a_reshape_that_strides_cannot_say_is_copied_first():
    g = Builder()
    y = g.op("transpose", (g.array(3, 4),), {"axes": (1, 0)})
    g.outputs = [g.op("exp", (g.op("reshape", (y,), {"shape": (12,)}),))]
    assert len(nests(schedule(g))) == 2


def test_constants_are_arguments():
    def text(number):
        g = Builder()
        g.outputs = [g.op("multiply", (g.array(8), g.constant(number)))]
        return format_nest(nests(schedule(g))[0].nest)

    assert text(2.5) == text(3.5)
    assert text(0.0) != text(-0.0)


def test_in_place_slices_need_no_copy():
    g = Builder()
    x = g.array(6)
    y = g.op("getitem", (x,), {"index": (slice(1, 3),)})
    g.write(x, g.assign(x, (slice(1, 3),), g.op("multiply", (y, g.constant(2)))))
    (kernel,) = nests(schedule(g))
    assert kernel.extents == (2,)
    assert kernel.stores[0].storage.kind == "input"


def test_a_shifted_write_goes_through_memory_of_its_own():
    g = Builder()
    x = g.array(6)
    y = g.op("getitem", (x,), {"index": (slice(0, 5),)})
    g.write(x, g.assign(x, (slice(1, 6),), g.op("multiply", (y, g.constant(2)))))
    first, second = nests(schedule(g))
    assert first.stores[0].storage.kind == "local"
    assert second.stores[0].storage.kind == "input"
    assert first.extents == second.extents == (5,)


def test_rows_that_do_not_overlap_are_written_directly():
    g = Builder()
    x = g.array(3, 4)
    y = g.op("getitem", (x,), {"index": (0,)})
    g.write(x, g.assign(x, (1,), g.op("tanh", (y,))))
    assert len(nests(schedule(g))) == 1


def test_a_swap_goes_through_memory_of_its_own():
    g = Builder()
    x, y = g.array(4), g.array(4)
    g.write(x, y)
    g.write(y, x)
    stores = [store.storage.kind for kernel in nests(schedule(g)) for store in kernel.stores]
    assert sorted(stores)[:2] == ["input", "input"]
    assert "local" in stores


def test_a_base_that_lives_on_is_copied():
    g = Builder()
    y = g.op("tanh", (g.array(6),))
    z = g.assign(y, (slice(0, 2),), g.constant(0))
    g.outputs = [y, z]
    assert len(nests(schedule(g))) == 2  # tanh with the copy, the slice


def test_matrix_products_read_views():
    g = Builder()
    x, w = g.array(4, 6), g.array(5, 6)
    y = g.op("matmul", (x, g.op("transpose", (w,), {"axes": (1, 0)})))
    g.outputs = [g.op("relu", (y,))]
    result = schedule(g)
    assert kinds(result) == ["gemm", "nest"]
    assert result.steps[0].b[1].strides == (4, 24)


def test_a_fortran_product_is_the_transposed_one():
    g = Builder()
    g.outputs = [g.op("matmul", (g.array(4, 6), g.array(6, 5)))]
    result = schedule(g, orders=["F"])
    (step,) = result.steps
    assert isinstance(step, GemmStep)
    assert step.transposed


def test_what_has_no_kernel_is_a_host_call():
    g = Builder()
    x = g.array(4)
    half = g.op("cast", (g.op("tanh", (x,)),), {"dtype": F2})
    g.outputs = [g.op("cast", (g.op("relu", (half,)),), {"dtype": F4})]
    result = schedule(g)
    assert kinds(result) == ["nest", "host", "host", "host"]
    assert [s.name for s in result.steps if isinstance(s, HostStep)] == ["cast", "relu", "cast"]


def test_empty_results_need_no_kernel():
    g = Builder()
    g.outputs = [g.op("exp", (g.array(0, 4),))]
    assert schedule(g).steps == ()


def test_a_long_chain_is_cut_into_kernels():
    g = Builder()
    x = y = g.array(4)
    for _ in range(1500):
        y = g.op("add", (g.op("multiply", (y, y)), x))
    g.outputs = [y]
    assert 5 <= len(nests(schedule(g))) <= 40


@pytest.mark.parametrize("order", ["C", "F", (1, 0, 2)])
def test_output_orders(order):
    g = Builder()
    g.outputs = [g.op("exp", (g.array(3, 4, 5),))]
    (kernel,) = nests(schedule(g, orders=[order]))
    strides = {"C": (80, 20, 4), "F": (4, 12, 48), (1, 0, 2): (20, 60, 4)}[order]
    assert kernel.stores[0].layout.strides == strides
