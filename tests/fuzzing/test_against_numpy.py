"""Random statements mean what they mean in NumPy, views, scalars and errors included."""

from __future__ import annotations

import pytest
from tests.fuzzing.against_numpy import WAYS, compare
from tests.fuzzing.generate import generate


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_statements_agree_with_numpy(first: int) -> None:
    for seed in range(first, first + 40):
        program = generate(seed)
        for way in WAYS:
            compare(program, way)
