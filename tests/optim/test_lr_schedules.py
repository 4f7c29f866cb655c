"""Schedules of the learning rate against PyTorch's values, closed forms and their saved state."""

import json
import math
import warnings

import pytest

import numen as nm
from numen import optim
from numen.optim import lr_scheduler as ours

STEPS = 50
CASES = {
    "StepLR": lambda s, o: s.StepLR(o, 7, 0.3),
    "MultiStepLR": lambda s, o: s.MultiStepLR(o, [3, 11, 11, 30], 0.5),
    "ExponentialLR": lambda s, o: s.ExponentialLR(o, 0.93),
    "CosineAnnealingLR": lambda s, o: s.CosineAnnealingLR(o, 12, 0.01),
    "WarmRestarts": lambda s, o: s.CosineAnnealingWarmRestarts(o, 4, 2, 0.01),
    "WarmRestarts 1": lambda s, o: s.CosineAnnealingWarmRestarts(o, 9),
    "LinearLR": lambda s, o: s.LinearLR(o, 0.25, 0.75, 13),
    "ConstantLR": lambda s, o: s.ConstantLR(o, 0.25, 9),
    "PolynomialLR": lambda s, o: s.PolynomialLR(o, 20, 2.0),
    "LambdaLR": lambda s, o: s.LambdaLR(o, lambda i: 1 / (1 + i)),
    "LambdaLR 2": lambda s, o: s.LambdaLR(o, [lambda i: 0.9**i, lambda i: 1 / (1 + i)]),
    "MultiplicativeLR": lambda s, o: s.MultiplicativeLR(o, lambda i: 0.9 if i % 2 else 1.05),
    "OneCycleLR": lambda s, o: s.OneCycleLR(o, 0.5, total_steps=STEPS),
    "OneCycleLR 3": lambda s, o: s.OneCycleLR(
        o, [0.5, 0.2], epochs=10, steps_per_epoch=5, anneal_strategy="linear", three_phase=True
    ),
    "CyclicLR": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 6, 9),
    "CyclicLR 2": lambda s, o: s.CyclicLR(o, [0.01, 0.02], [0.2, 0.1], 5, mode="triangular2"),
    "CyclicLR exp": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 6, mode="exp_range", gamma=0.97),
    "CyclicLR fn": lambda s, o: s.CyclicLR(o, 0.01, 0.2, 6, scale_fn=lambda c: 1 / c),
    "SequentialLR": lambda s, o: s.SequentialLR(
        o, [s.LinearLR(o, 0.1, total_iters=5), s.CosineAnnealingLR(o, 20), s.StepLR(o, 4)], [5, 30]
    ),
    "ChainedScheduler": lambda s, o: s.ChainedScheduler(
        [s.ConstantLR(o, 0.1, 6), s.ExponentialLR(o, 0.95)]
    ),
}


def optimizer(kind="SGD"):
    groups = [{"params": [nm.ones(1)]}, {"params": [nm.ones(1)], "lr": 0.03}]
    extra = {"momentum": 0.8} if kind == "SGD" else {}
    return getattr(optim, kind)(groups, lr=0.1, **extra)


def momentum_of(group):
    return group["momentum"] if "momentum" in group else group["betas"][0]


def course(schedule, opt, steps=STEPS):
    """Rate and momentum of each group over the steps."""
    rows = []
    for _ in range(steps):
        rows.append([(g["lr"], momentum_of(g)) for g in opt.param_groups])
        assert schedule.get_last_lr() == [g["lr"] for g in opt.param_groups]
        schedule.step()
    return rows


@pytest.mark.parametrize("kind", ["SGD", "Adam"])
@pytest.mark.parametrize("case", CASES)
def test_fifty_steps_are_pytorch_s(case, kind):
    torch = pytest.importorskip("torch")
    opt = optimizer(kind)
    groups = [{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": 0.03}]
    extra = {"momentum": 0.8} if kind == "SGD" else {}
    peer = getattr(torch.optim, kind)(groups, lr=0.1, **extra)
    got = course(CASES[case](ours, opt), opt)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        expected = course(CASES[case](torch.optim.lr_scheduler, peer), peer)
    for row, other in zip(got, expected, strict=True):
        for (rate, momentum), (their_rate, their_momentum) in zip(row, other, strict=True):
            assert rate == pytest.approx(their_rate, rel=1e-12, abs=1e-15)
            assert momentum == pytest.approx(their_momentum, rel=1e-12)


@pytest.mark.parametrize("options", [{}, {"mode": "max", "threshold_mode": "abs"}])
def test_plateaus_are_pytorch_s(options):
    torch = pytest.importorskip("torch")
    opt = optimizer()
    peer = torch.optim.SGD([{"params": [torch.ones(1)]}, {"params": [torch.ones(1)], "lr": 0.03}])
    peer.param_groups[0]["lr"] = 0.1
    more = {"patience": 2, "cooldown": 3, "min_lr": [0.002, 0.001], "factor": 0.4, **options}
    a = ours.ReduceLROnPlateau(opt, **more)
    b = torch.optim.lr_scheduler.ReduceLROnPlateau(peer, **more)
    for i in range(STEPS):
        measure = 1 / (1 + i // 4) if i < 20 else 0.3 + 0.01 * (i % 3)
        a.step(measure)
        b.step(measure)
        assert a.get_last_lr() == pytest.approx(b.get_last_lr())
    assert opt.lr < 0.1


@pytest.mark.parametrize("case", CASES)
def test_saved_state_goes_on_alike(case):
    opt = optimizer()
    schedule = CASES[case](ours, opt)
    course(schedule, opt, 17)
    # Through JSON: plain data is all there is in it.
    text = json.dumps(schedule.state_dict())
    state = opt.state_dict()
    expected = course(schedule, opt, 20)
    other = optimizer()
    restored = CASES[case](ours, other)
    other.load_state_dict(state)
    restored.load_state_dict(json.loads(text))
    assert course(restored, other, 20) == expected


def test_closed_forms():
    opt = optim.SGD([nm.ones(1)], lr=1.0)
    schedule = ours.CosineAnnealingLR(opt, 10)
    for i in range(10):
        assert opt.lr == pytest.approx((1 + math.cos(math.pi * i / 10)) / 2)
        schedule.step()
    opt = optim.SGD([nm.ones(1)], lr=1.0)
    schedule = ours.StepLR(opt, 3, 0.5)
    schedule.step(7)
    assert opt.lr == 0.25


def test_going_on_from_a_step_needs_the_initial_rate():
    with pytest.raises(KeyError, match="initial_lr"):
        ours.StepLR(optimizer(), 3, last_epoch=4)


def test_bad_arguments():
    opt = optimizer()
    with pytest.raises(TypeError, match="Optimizer"):
        ours.StepLR([1], 3)
    with pytest.raises(ValueError, match="2 values of lr_lambda"):
        ours.LambdaLR(opt, [lambda i: 1.0])
    with pytest.raises(ValueError, match="factor"):
        ours.ConstantLR(opt, 2.0)
    with pytest.raises(ValueError, match="start_factor"):
        ours.LinearLR(opt, 0.0)
    with pytest.raises(ValueError, match="T_0"):
        ours.CosineAnnealingWarmRestarts(opt, 0)
    with pytest.raises(ValueError, match="mode"):
        ours.CyclicLR(opt, 0.1, 0.2, mode="square")
    with pytest.raises(ValueError, match="momentum"):
        ours.CyclicLR(optim.Adagrad([nm.ones(1)]), 0.1, 0.2)
    with pytest.raises(ValueError, match="total_steps"):
        ours.OneCycleLR(opt, 0.1)
    with pytest.raises(ValueError, match="factor"):
        ours.ReduceLROnPlateau(opt, factor=1.5)
    with pytest.raises(ValueError, match="milestones"):
        ours.SequentialLR(opt, [ours.StepLR(opt, 3)], [4])
    with pytest.raises(ValueError, match="another optimiser"):
        ours.ChainedScheduler([ours.StepLR(opt, 3), ours.StepLR(optimizer(), 3)])
    with pytest.raises(ValueError, match="measure"):
        ours.ChainedScheduler([ours.ReduceLROnPlateau(opt)])
    schedule = ours.OneCycleLR(opt, 0.1, total_steps=2)
    schedule.step()
    schedule.step()
    with pytest.raises(ValueError, match="step 3"):
        schedule.step()
