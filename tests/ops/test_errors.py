"""Bad inputs raise what NumPy raises; texts of ours name the op, the shapes and the dtypes."""

import pytest
from cases import ROWS, numpy_meaning, quiet, wrapped

from numen.errors import NumenError
from numen.ops import table

CASES = [
    pytest.param(name, *case, id=f"{name}-{i}")
    for name in ROWS
    if table[name].errors is not None
    for i, case in enumerate(table[name].errors())
]


@pytest.mark.parametrize("arrays", [False, True], ids=["raw", "arrays"])
@pytest.mark.parametrize(("name", "args", "params", "error"), CASES)
def test_bad_inputs_raise_numpys_class(name, args, params, error, arrays):
    with pytest.raises(error) as caught:
        quiet(table[name], *(wrapped(args) if arrays else args), **params)
    with pytest.raises(error):
        quiet(numpy_meaning(name), *args, **params)
    if isinstance(caught.value, NumenError):
        text = str(caught.value)
        assert text.startswith(f"{name}: ")
        assert all(str(a.dtype) in text and str(a.shape) in text for a in args)
