"""Containers of arrays: taken apart and built again."""

from collections import OrderedDict, defaultdict, namedtuple

import pytest

from numen.transforms.trees import flatten, map_leaves, spread_prefix

Point = namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "tree",
    [
        1,
        None,
        (),
        [],
        {},
        (1, [2, 3], {"a": 4, "b": (None, 5)}),
        Point(1, [2]),
        OrderedDict(b=1, a=2),
        [{"z": 1, "a": 2}],
    ],
)
def test_round_trip(tree):
    leaves, structure = flatten(tree)
    assert structure.unflatten(leaves) == tree
    assert type(structure.unflatten(leaves)) is type(tree)
    assert structure == flatten(tree)[1]
    assert hash(structure) == hash(flatten(tree)[1])
    assert structure.count == len(leaves)


def test_default_dict_keeps_its_factory():
    tree = defaultdict(list, a=1)
    leaves, structure = flatten(tree)
    built = structure.unflatten(leaves)
    assert built["missing"] == []
    assert built["a"] == 1


def test_structures_differ():
    structures = [
        flatten(t)[1] for t in (1, (1,), [1], {"a": 1}, {"b": 1}, (1, None), Point(1, 2), (1, 2))
    ]
    for i, a in enumerate(structures):
        assert [a == b for b in structures].count(True) == 1, i
    assert "Structure(('*', None))" in repr(structures[5])


def test_map_and_wrong_count():
    assert map_leaves(lambda x: x * 2, {"a": (1, 2)}) == {"a": (2, 4)}
    with pytest.raises(ValueError, match="expected 2 leaves, got 1"):
        flatten((1, 2))[1].unflatten([1])


def test_prefixes():
    tree = ({"a": 1, "b": [2, 3]}, 4)
    assert spread_prefix(0, tree, "axes") == [0, 0, 0, 0]
    assert spread_prefix((None, 1), tree, "axes") == [None, None, None, 1]
    assert spread_prefix(({"a": 0, "b": [1, None]}, 2), tree, "axes") == [0, 1, None, 2]
    for wrong in ((0,), {"a": 0}, ({"c": 0}, 1), ((0, 1), 1)):
        with pytest.raises(ValueError, match=r"axes: .* does not fit"):
            spread_prefix(wrong, tree, "axes")
