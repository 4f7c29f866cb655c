"""Random statements inside `vmap` and `jvp` mean what plain runs and reverse mode say."""

from __future__ import annotations

import pytest
from tests.fuzzing.generate import generate
from tests.fuzzing.transformed import compare_jvp, compare_vmap


@pytest.mark.parametrize("first", range(0, 120, 40))
def test_programs_agree_under_transforms(first: int) -> None:
    compared = 0
    for seed in range(first, first + 40):
        program = generate(seed)
        compared += compare_vmap(program)
        compared += compare_jvp(program)
    assert compared > 400
