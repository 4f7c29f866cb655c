"""NumPy's generators: every method draws NumPy's bits, and gives what NumPy gives."""

import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest

import numen as nm
from numen.dispatch.core import SCALAR

# one call of every distribution that both generators have
SHARED = """
beta(2, 3, size=4)
beta(A, 3)
binomial(10, 0.3, size=(2, 3))
binomial(10, P)
bytes(5)
chisquare(2, 3)
dirichlet([1, 2, 3], 2)
dirichlet(A)
exponential()
exponential(A, (2, 3))
f(2, 3, 4)
gamma(A, 2)
geometric(0.3, 5)
gumbel(1, 2, 3)
hypergeometric(5, 6, 4, 3)
laplace(size=3)
logistic(A)
lognormal(A, 0.5)
logseries(0.4, 3)
multinomial(10, [0.2, 0.3, 0.5], 2)
multinomial(10, P)
multivariate_normal([0, 1], [[1, 0.5], [0.5, 2]], 3)
negative_binomial(5, 0.4, 3)
noncentral_chisquare(3, 2, 4)
noncentral_f(3, 4, 2, 3)
normal()
normal(A, A)
normal(1, size=(2, 0))
pareto(3, 2)
poisson(A)
poisson()
power(2, 3)
rayleigh(2, 3)
standard_cauchy(3)
standard_exponential(3)
standard_exponential()
standard_gamma(A)
standard_normal(3)
standard_normal()
standard_t(3, 2)
triangular(0, 1, 3, 2)
uniform(A, 9)
uniform()
vonmises(0, 2, 3)
wald(2, 3, 3)
weibull(2, 3)
zipf(3, 4)
permutation(6)
permutation(M)
permutation(A)
choice(5)
choice(5, 3, replace=False)
choice(A, (2, 2))
choice(A, p=P)
choice(["a", "b"])
random(3)
random()
beta(-1, 2)
normal(1, -1)
choice(3, 5, False)
""".strip().splitlines()

NEWER = """
integers(7)
integers(0, 300, 5, dtype="uint8")
integers(0, 255, 5, dtype="uint8", endpoint=True)
integers(A.astype(int), 20)
random(3, dtype="float32")
random(dtype="float32")
random(dtype="int32")
standard_normal((2, 2), dtype="float32")
standard_exponential(3, method="inv")
standard_gamma(2.0, dtype="float32", size=2)
permuted(M, axis=1)
permuted(M)
permutation(M, axis=1)
choice(M, 2, axis=1)
choice(M, 2, axis=1, shuffle=False, replace=False)
multivariate_hypergeometric([3, 4, 5], 4, 2)
multivariate_normal([0, 1], [[1, 0.5], [0.5, 2]], 2, method="cholesky")
dirichlet(A, size=2)
""".strip().splitlines()

OLDER = """
rand()
rand(2, 3)
randn()
randn(3)
randint(5)
randint(2, 9, (2, 2), dtype="int8")
random_sample(3)
tomaxint(2)
get_state()
""".strip().splitlines()


def same(ours, theirs, text):
    if isinstance(theirs, Exception):
        assert type(ours) is type(theirs), (text, ours, theirs)
    elif isinstance(theirs, tuple):
        for a, b in zip(ours, theirs, strict=True):
            same(a, b, text)
    elif isinstance(theirs, (np.ndarray, np.number)):
        assert isinstance(ours, nm.Array), text
        assert (ours._v is SCALAR) == isinstance(theirs, np.generic), text
        np.testing.assert_array_equal(ours.numpy(), theirs, err_msg=text, strict=True)
    else:
        assert type(ours) is type(theirs), (text, type(ours))
        assert ours == theirs, text


def drawn(generator, text, module):
    scope = {
        "g": generator,
        "A": module.array([1.0, 2.0, 3.0]),
        "P": module.array([0.2, 0.3, 0.5]),
        "M": module.arange(12.0).reshape(3, 4),
    }
    try:
        return eval(f"g.{text}", scope)
    except Exception as error:
        return error


@pytest.mark.parametrize("text", SHARED + NEWER)
def test_generator(text):
    ours, theirs = nm.random.default_rng(12), np.random.default_rng(12)
    same(drawn(ours, text, nm), drawn(theirs, text, np), text)
    assert ours.random() == theirs.random()  # the state went on alike


@pytest.mark.parametrize("text", SHARED + OLDER)
def test_random_state(text):
    ours, theirs = nm.random.RandomState(12), np.random.RandomState(12)
    same(drawn(ours, text, nm), drawn(theirs, text, np), text)
    assert ours.random_sample() == theirs.random_sample()


@pytest.mark.parametrize("text", [t for t in SHARED + OLDER if "tomaxint" not in t])
def test_functions_share_numpy_s_state(text):
    before = np.random.get_state()
    try:
        np.random.seed(5)
        theirs = drawn(np.random, text, np)
        nm.random.seed(5)
        same(drawn(nm.random, text, nm), theirs, text)
    finally:
        np.random.set_state(before)


def test_the_names_are_numpy_s():
    extras = {"Stream", "default_stream", "manual_seed"}
    assert set(nm.random.__all__) - extras == set(np.random.__all__)
    for ours, theirs in (
        (nm.random.Generator, np.random.Generator),
        (nm.random.RandomState, np.random.RandomState),
    ):
        missing = {n for n in dir(theirs) if not n.startswith("_")} - set(dir(ours))
        assert not missing
    assert issubclass(nm.random.PCG64, np.random.PCG64)
    with pytest.raises(AttributeError):
        nm.random.nothing


def test_every_bit_generator_serves():
    for name in ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"):
        ours = nm.random.Generator(getattr(nm.random, name)(nm.random.SeedSequence(3)))
        theirs = np.random.Generator(getattr(np.random, name)(np.random.SeedSequence(3)))
        same(ours.normal(size=3), theirs.normal(size=3), name)


def test_seeds_may_be_arrays_and_generators():
    expected = np.random.default_rng([1, 2]).random()
    assert nm.random.default_rng(nm.array([1, 2])).random() == expected
    ours = nm.random.default_rng(1)
    assert nm.random.default_rng(ours) is ours
    wrapped = nm.random.default_rng(np.random.default_rng(1))
    assert wrapped.random() == np.random.default_rng(1).random()


def test_generators_are_copied_pickled_and_spawned():
    for ours in (nm.random.default_rng(3), nm.random.RandomState(3)):
        ours.normal(size=3)
        for twin in (copy.deepcopy(ours), pickle.loads(pickle.dumps(ours))):
            assert type(twin) is type(ours)
            assert twin.normal(size=2).tolist() == copy.deepcopy(ours).normal(size=2).tolist()
    ours, theirs = nm.random.default_rng(3).spawn(2), np.random.default_rng(3).spawn(2)
    assert [g.random() for g in ours] == [g.random() for g in theirs]


def test_state_goes_back():
    state = nm.random.RandomState(4)
    before = state.get_state()
    first = state.rand(3).tolist()
    state.set_state(before)
    assert state.rand(3).tolist() == first
    state.set_state(state.get_state(legacy=False))


@pytest.mark.parametrize("axis", [0, 1])
def test_shuffle_writes_in_place(axis):
    x, expected = nm.arange(12.0).reshape(4, 3), np.arange(12.0).reshape(4, 3)
    view = x[1]
    nm.random.default_rng(7).shuffle(x, axis=axis)
    np.random.default_rng(7).shuffle(expected, axis=axis)
    assert x.tolist() == expected.tolist()
    assert view.tolist() == expected[1].tolist()
    items = [1, 2, 3, 4]
    nm.random.default_rng(7).shuffle(items)
    assert sorted(items) == [1, 2, 3, 4]
    with pytest.raises(ValueError, match="read-only"):
        nm.random.default_rng(7).shuffle(nm.broadcast_to(nm.arange(3), (2, 3)))


def test_out_is_written_and_returned():
    out = nm.zeros(3)
    assert nm.random.default_rng(1).random(out=out) is out
    assert out.tolist() == np.random.default_rng(1).random(3).tolist()
    m = nm.arange(6).reshape(2, 3)
    assert nm.random.default_rng(1).permuted(m, axis=1, out=m) is m
    expected = np.random.default_rng(1).permuted(np.arange(6).reshape(2, 3), axis=1)
    assert m.tolist() == expected.tolist()
    with pytest.raises(TypeError, match="out must be an Array"):
        nm.random.default_rng(1).random(out=np.zeros(3))


def recorded(axis):
    x = nm.array(np.arange(12.0).reshape(4, 3), requires_grad=True)
    return x, np.arange(12.0).reshape(4, 3), nm.random.default_rng(7), np.random.default_rng(7)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("method", ["permutation", "choice", "shuffle"])
def test_gradients_follow_the_order(method, axis):
    x, data, ours, theirs = recorded(axis)
    if method == "choice":
        picked = ours.choice(x, 5, axis=axis)
        expected = theirs.choice(data, 5, axis=axis)
    elif method == "permutation":
        picked, expected = ours.permutation(x, axis=axis), theirs.permutation(data, axis=axis)
    else:
        picked, expected = x * 1, data.copy()
        ours.shuffle(picked, axis=axis)
        theirs.shuffle(expected, axis=axis)
    assert picked.tolist() == expected.tolist()
    assert ours.random() == theirs.random()
    (picked * picked).sum().backward()
    counts = np.array([[(expected == v).sum() for v in row] for row in data])
    assert x.grad.tolist() == (2 * counts * data).tolist()


@pytest.mark.parametrize("method", ["permutation", "choice", "shuffle"])
def test_gradients_follow_the_older_order(method):
    x = nm.array([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    ours, theirs = nm.random.RandomState(2), np.random.RandomState(2)
    data = np.array([1.0, 2.0, 3.0, 4.0])
    if method == "shuffle":
        picked, expected = x * 1, data.copy()
        ours.shuffle(picked)
        theirs.shuffle(expected)
    else:
        picked, expected = getattr(ours, method)(x), getattr(theirs, method)(data)
    assert picked.tolist() == expected.tolist()
    picked.sum().backward()
    assert x.grad.tolist() == [int((expected == v).sum()) for v in data]


def test_a_draw_has_no_derivative_by_its_parameters():
    mean = nm.array([1.0, 2.0], requires_grad=True)
    drawn = nm.random.default_rng(0).normal(mean)
    assert drawn.tolist() == np.random.default_rng(0).normal([1.0, 2.0]).tolist()
    with pytest.raises(nm.GradientError, match="normal has no derivative"):
        drawn.sum().backward()
    with pytest.raises(nm.LeafWriteError):
        nm.random.default_rng(0).shuffle(mean)


def test_a_trace_with_a_generator_is_not_compiled():
    ours, theirs = nm.random.default_rng(0), np.random.default_rng(0)
    f = nm.jit(lambda x: x + ours.normal(size=3))
    assert [f(nm.zeros(3)).tolist() for _ in range(4)] == [
        theirs.normal(size=3).tolist() for _ in range(4)
    ]
    loose = nm.jit(lambda x: x * ours.random())
    assert [loose(nm.ones(1)).item() for _ in range(4)] == [theirs.random() for _ in range(4)]


def test_importing_numen_does_not_import_numpy_random():
    code = "import sys, numpy; a = 'numpy.random' in sys.modules; import numen; "
    code += "assert a or 'numpy.random' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
