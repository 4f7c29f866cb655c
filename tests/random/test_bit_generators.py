"""Bit generators, seeds and states hold Arrays; sequences are shuffled in place."""

import copy
import pickle

import numpy as np
import pytest

import numen as nm

NAMES = ("MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64")


def same(ours, theirs):
    if isinstance(theirs, dict):
        return ours.keys() == theirs.keys() and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, np.ndarray):
        return isinstance(ours, nm.Array) and bool((ours == theirs).all())
    return ours == theirs


@pytest.mark.parametrize("name", NAMES)
def test_a_bit_generator_is_numpy_s_on_arrays(name):
    ours = getattr(nm.random, name)(nm.arange(4))
    theirs = getattr(np.random, name)(np.arange(4))
    assert same(ours.state, theirs.state)
    assert ours.random_raw(3).tolist() == theirs.random_raw(3).tolist()
    assert np.random.Generator(ours).random() == np.random.Generator(theirs).random()
    restored = getattr(nm.random, name)()
    restored.state = ours.state
    assert same(restored.state, theirs.state)
    if hasattr(theirs, "jumped"):
        assert same(ours.jumped().state, theirs.jumped().state)
    assert isinstance(theirs, getattr(nm.random, name))
    assert isinstance(ours, nm.random.BitGenerator)
    assert same(pickle.loads(pickle.dumps(ours)).state, theirs.state)


def test_keys_counters_and_single_numbers_are_arrays_too():
    ours = nm.random.Philox(counter=nm.array(3), key=nm.array([1, 2], nm.uint64))
    theirs = np.random.Philox(counter=np.array(3), key=np.array([1, 2], np.uint64))
    assert same(ours.state, theirs.state)
    assert nm.random.PCG64(nm.arange(9)[8]).random_raw() == np.random.PCG64(8).random_raw()
    assert nm.random.default_rng(nm.arange(3)).random() == np.random.default_rng([0, 1, 2]).random()
    state = nm.random.RandomState(nm.arange(3)).get_state()[1]
    assert same(state, np.random.RandomState(np.arange(3)).get_state()[1])


def test_seed_sequences_of_arrays():
    ours = nm.random.SeedSequence(nm.arange(3), spawn_key=(1,))
    theirs = np.random.SeedSequence(np.arange(3), spawn_key=(1,))
    assert ours.generate_state(4).tolist() == theirs.generate_state(4).tolist()
    assert isinstance(ours.spawn(1)[0], nm.random.SeedSequence)
    assert isinstance(nm.random.PCG64(ours).seed_seq, nm.random.SeedSequence)


def test_texts_name_the_bit_generator_and_the_place():
    g = nm.random.Generator(nm.random.SFC64(1))
    assert str(g) == "Generator(SFC64)"
    assert repr(g) == f"Generator(SFC64) at 0x{id(g):X}"
    r = nm.random.RandomState(1)
    assert repr(r) == f"RandomState(MT19937) at 0x{id(r):X}"


def test_generators_pickle_with_their_state():
    g = nm.random.default_rng(4)
    g.random(3)
    expected = copy.deepcopy(g).random(2).tolist()
    maker, arguments, _ = g.__reduce__()
    assert type(maker("MT19937").bit_generator) is nm.random.MT19937
    assert maker(*arguments).random(2).tolist() == expected
    r = nm.random.RandomState(nm.random.PCG64(2))
    r.standard_normal()
    state = r.__getstate__()
    expected = r.standard_normal(3).tolist()
    r.__setstate__(state)
    assert pickle.loads(pickle.dumps(r)).standard_normal(3).tolist() == expected


def test_the_global_state_takes_another_bit_generator():
    before = nm.random.get_bit_generator()
    try:
        nm.random.set_bit_generator(nm.random.PCG64(7))
        drawn = nm.random.random(3).tolist()
        assert drawn == np.random.RandomState(np.random.PCG64(7)).random(3).tolist()
        nm.random.seed(7)
        assert nm.random.random(3).tolist() == drawn
    finally:
        nm.random.set_bit_generator(before)
    assert nm.random.get_bit_generator() is before


@pytest.mark.parametrize("make", [nm.random.default_rng, nm.random.RandomState])
def test_lists_are_shuffled_in_place(make):
    theirs_of = np.random.default_rng if make is nm.random.default_rng else np.random.RandomState
    ours, theirs = [[], 1, (2,), "a", None], [[], 1, (2,), "a", None]
    make(3).shuffle(ours)
    theirs_of(3).shuffle(theirs)
    assert ours == theirs != [[], 1, (2,), "a", None]
    rows = [nm.arange(2), nm.arange(3), nm.arange(4)]
    kept = list(rows)
    make(1).shuffle(rows)
    assert {id(r) for r in rows} == {id(r) for r in kept}


def test_modules_of_the_package():
    from numen.random import bit_generator, mtrand

    assert nm.random.mtrand is mtrand
    assert mtrand.RandomState is nm.random.RandomState
    assert mtrand.normal is nm.random.normal
    assert bit_generator.ISeedSequence is np.random.bit_generator.ISeedSequence
    for module in (bit_generator, mtrand):
        with pytest.raises(AttributeError, match="nothing"):
            module.nothing


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_notices_draws_of_a_generator_that_it_reaches(name):
    g = nm.random.Generator(getattr(nm.random, name)(1))
    box = [False]

    def f(x):
        return x + g.random(2) if box[0] else x * 2

    traced = nm.jit(f)
    x = nm.ones(2)
    assert [traced(x).tolist() for _ in range(3)] == [[2.0, 2.0]] * 3
    box[0] = True
    drawn = [traced(x).tolist() for _ in range(3)]
    other = np.random.Generator(getattr(np.random, name)(1))
    assert drawn == [(1 + other.random(2)).tolist() for _ in range(3)]
