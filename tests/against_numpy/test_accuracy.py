"""NumPy's validation sets: inputs with results of a higher-precision library and the error allowed
(ulp), against NumPy's functions through numen and against numen's own kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.against_numpy.ulps import ulps

import numen as nm

FOLDER = Path(np._core.__file__).parent / "tests" / "data"
SETS = {path.stem.rpartition("-")[2]: path for path in sorted(FOLDER.glob("umath-validation*.csv"))}
BITS = {"np.float16": np.uint16, "np.float32": np.uint32, "np.float64": np.uint64}

pytestmark = pytest.mark.skipif(not SETS, reason="this NumPy comes without its test data")


def columns(name: str) -> dict[str, tuple[Any, Any, int]]:
    """A set's inputs, results and allowed error, by dtype."""
    rows: dict[str, list[tuple[int, int, int]]] = {}
    for line in SETS[name].read_text().splitlines():
        dtype, _, rest = line.partition(",")
        if dtype.strip() in BITS:
            given, wanted, allowed = rest.split(",")
            row = (int(given, 16), int(wanted, 16), int(allowed))
            rows.setdefault(dtype.strip(), []).append(row)
    out = {}
    for dtype, found in rows.items():
        kind = np.dtype(dtype.removeprefix("np."))
        inputs, results = (np.array([row[k] for row in found], BITS[dtype]) for k in (0, 1))
        out[dtype] = (inputs.view(kind), results.view(kind), max(row[2] for row in found))
    return out


@pytest.mark.parametrize("engine", ["numpy", "kernels"])
@pytest.mark.parametrize("name", SETS)
def test_error_within_the_allowed(name: str, engine: str) -> None:
    function = getattr(nm, name)
    for dtype, (given, wanted, allowed) in columns(name).items():
        with nm.config(engine=engine), np.errstate(all="ignore"):
            result = function(nm.array(given)).numpy()
        worst = int(np.max(ulps(result, wanted)))
        assert worst <= allowed, f"{name}, {dtype}: {worst} ulp, allowed {allowed}"
