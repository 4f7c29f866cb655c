"""300 random programs: jit, eager/kernels, the Python target and NumPy agree as the numerics
contract says.
"""

from __future__ import annotations

import pytest
from tests.fuzzing.check import check
from tests.fuzzing.generate import generate


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("first", range(0, 300, 20))
def test_programs_agree_every_way(first: int) -> None:
    compiled = 0
    for seed in range(first, first + 20):
        _, whole = check(generate(seed))
        compiled += whole
    assert compiled >= 14, "most programs must be compiled, not run eagerly"
