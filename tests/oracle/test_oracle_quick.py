"""The comparison with torch's sample inputs, on a few of its entries, and what it is made of."""

import re
import warnings

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("expecttest")

with warnings.catch_warnings():  # torch's own tests warn when they are imported
    warnings.simplefilter("ignore")
    import torch
    from tests.oracle import absent, compare, report, tables
    from tests.oracle.cases import Tally
    from tests.oracle.counterparts import Counterpart, counterpart
    from tests.oracle.disagreements import REASONS
    from tests.oracle.mapping import COUNTERPARTS
    from tests.oracle.operations import run

OPERATIONS = ("add", "einsum", "gather", "linalg.solve", "nn.functional.conv1d", "cumsum", "sort")


def findings(tally):
    return [(f.kind, f.text, f.sample) for f in tally.findings if not f.explained]


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_agrees(name):
    tally = tables.run("operations", name, 6, False)
    assert findings(tally) == []
    assert tally.counts["compared"] >= 4
    assert tally.counts["equal values"] > 0 and tally.counts["equal gradients"] > 0


def test_an_operation_agrees_under_jit():
    tally = tables.run("operations", "mul", 2, True)
    assert findings(tally) == []
    assert tally.counts["equal gradients"] == tally.counts["compared"] > 0


@pytest.mark.parametrize("name", ["Linear", "BatchNorm1d"])
def test_a_layer_agrees(name):
    tally = tables.run("modules", name, 2, False)
    assert findings(tally) == []
    assert tally.counts["equal gradients"] > 0


def test_an_optimiser_agrees():
    tally = tables.run("optimizers", "SGD", None, False)
    assert findings(tally) == []
    assert tally.counts["equal values"] == tally.counts["compared"] > 4


def test_every_entry_has_a_counterpart_or_a_reason():
    names = tables.table("operations")
    assert set(COUNTERPARTS) <= set(names)
    for name in names:
        assert name in COUNTERPARTS or absent.reason(name), name
    assert len(COUNTERPARTS) >= 350


def test_reasons_name_entries_of_the_tables():
    known = {name for _, name in tables.entries()}
    for reason in REASONS:
        assert set(reason.operations) <= known
        assert reason.right in ("numen", "torch", "convention")
        assert re.fullmatch(r"[^|]+\.", reason.because)


class Doubled:
    """An entry like torch's whose operation is not the one it is compared with."""

    name, variant_test_name = "doubled", ""
    supports_autograd, error_inputs_func = True, None

    def __call__(self, x):
        return 2 * x

    def supported_dtypes(self, device):
        return {torch.float64}

    supported_backward_dtypes = supported_dtypes

    def sample_inputs(self, device, dtype, requires_grad):
        from torch.testing._internal.opinfo.core import SampleInput

        yield SampleInput(torch.tensor([1.0, 2.0], dtype=dtype, requires_grad=requires_grad))


@pytest.mark.parametrize(
    ("function", "kinds"),
    [
        (lambda x: 2 * x, []),
        (lambda x: 3 * x, ["value", "gradient"]),
        (lambda x: x + x.detach(), ["gradient"]),
        (lambda x: (2 * x).astype(np.float32), ["dtype"]),
        (lambda x: 2 * x[:1], ["shape", "gradient"]),
        (lambda x: x.nothing, ["raises"]),
    ],
)
def test_what_differs_is_found(function, kinds):
    tally = run(Doubled(), Counterpart(function), None)
    assert [f.kind for f in tally.findings] == kinds
    assert all(f.explained is None for f in tally.findings)
    assert isinstance(tally, Tally) and counterpart(function).function is function


def test_the_page_and_the_exit_code_count_what_has_no_reason():
    found = {"part": "operations", "name": "abs", "absent": None, "counts": {"compared": 1}}
    finding = {"kind": "value", "text": "t", "sample": "s", "dtype": "float64", "index": 0}
    finding |= {"name": "abs", "explained": None}
    results = [{**found, "left out": {}, "findings": [finding]}]
    assert len(report.unexplained(results)) == 1
    assert "disagreements without a reason: 1 value" in report.text(results)
    assert "| disagreements, unexplained | 1 | 0 | 0 |" in report.page(results)
    results[0]["findings"][0]["explained"] = REASONS[0].because
    assert report.unexplained(results) == []


def test_bounds():
    ones = np.ones(3)
    assert compare.close(ones + 5e-8, ones) is None
    assert compare.close(ones + 5e-7, ones) is not None
    assert compare.close(np.array([1e-3, 1.0]), np.array([1.00001e-3, 1.0])) is None
    assert compare.close(np.array([1e-3, 1.0]), np.array([1.00001e-3, 1.0]), True) is not None
    assert compare.close(np.array([np.nan, np.inf]), np.array([np.nan, np.inf])) is None
    assert compare.close(np.array([np.inf]), np.array([-np.inf])) is not None
    assert compare.close(np.array([1]), np.array([2])) is not None
