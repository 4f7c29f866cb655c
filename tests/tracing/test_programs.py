"""Programs that try to make jit differ from the plain function; `programs.py` compares the two
runs.
"""

from __future__ import annotations

import pytest
from tests.tracing import (
    programs_arrays,
    programs_gradients,
    programs_odd,
    programs_scalars,
    programs_state,
)
from tests.tracing.programs import PROGRAMS, run

assert (
    programs_arrays and programs_gradients and programs_odd and programs_scalars and programs_state
)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("f", "compiled", "reason"), PROGRAMS)
def test_program(f, compiled, reason):
    run(f, compiled, reason)
