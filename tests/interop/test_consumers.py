"""SciPy, scikit-learn, pandas and matplotlib on Arrays."""

import importlib.util
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from array_api_consumers import METRICS, SCIPY, SKLEARN

import numen as nm
from numen.errors import GradientError


@pytest.fixture(scope="module")
def faults():
    """What another process found wrong with each text; it sets SCIPY_ARRAY_API before the
    import."""
    script = Path(__file__).with_name("array_api_consumers.py")
    path = os.pathsep.join([str(Path(nm.__file__).parents[1]), *sys.path])
    env = {**os.environ, "SCIPY_ARRAY_API": "1", "PYTHONPATH": path}
    run = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.skipif(not importlib.util.find_spec("scipy"), reason="needs SciPy")
@pytest.mark.parametrize("text", SCIPY)
def test_scipy_on_the_array_api(text, faults):
    assert faults[text] is None


@pytest.mark.skipif(not importlib.util.find_spec("sklearn"), reason="needs scikit-learn")
@pytest.mark.parametrize("text", [*SKLEARN, *METRICS])
def test_scikit_learn_on_the_array_api(text, faults):
    assert faults[text] is None


# ------------------------------------------------------------ SciPy without the array API


def test_minimize_a_numen_function_by_its_gradient():
    optimize = pytest.importorskip("scipy.optimize")

    def rosenbrock(x):
        return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()

    found = optimize.minimize(
        lambda x: nm.value_and_grad(rosenbrock)(nm.asarray(x)), np.zeros(4), jac=True
    )
    assert found.success
    np.testing.assert_allclose(found.x, 1, atol=1e-4)
    one = optimize.minimize(rosenbrock, np.zeros(2), jac=nm.grad(rosenbrock), method="BFGS")
    np.testing.assert_allclose(one.x, 1, atol=1e-4)


def test_scipys_ufuncs():
    special = pytest.importorskip("scipy.special")
    data = np.asarray([0.5, 1.5, -2.0])
    x = nm.asarray(data)
    for name in ("erf", "expit", "exprel", "j0", "i0"):
        result = getattr(special, name)(x)
        assert type(result) is nm.Array
        assert result.tolist() == getattr(special, name)(data).tolist()
    assert special.xlogy(x, data).dtype == np.float64
    out = nm.zeros(3)
    assert special.erf(x, out=out) is out
    assert out.tolist() == special.erf(data).tolist()


def test_a_ufunc_without_derivative_says_so_in_the_backward_pass():
    special = pytest.importorskip("scipy.special")
    x = nm.array([0.5, 1.5], requires_grad=True)
    y = special.jv(1, x)
    assert y.detach().tolist() == special.jv(1, [0.5, 1.5]).tolist()
    assert y.requires_grad
    with pytest.raises(GradientError, match="jv has no derivative"):
        (y * x).sum().backward()


def test_sparse_matrices_and_solvers():
    sparse = pytest.importorskip("scipy.sparse")
    linalg = pytest.importorskip("scipy.linalg")
    x = nm.asarray([1.0, 2.0])
    matrix = sparse.csr_array(np.asarray([[0.0, 3.0], [4.0, 0.0]]))
    assert np.asarray(matrix @ x).tolist() == [6.0, 4.0]
    assert sparse.csr_array(nm.eye(2)).nnz == 2
    np.testing.assert_allclose(linalg.solve(nm.asarray([[2.0, 0.0], [0.0, 4.0]]), x), [0.5, 0.5])


# ------------------------------------------------------------ pandas


def test_pandas_takes_arrays():
    pandas = pytest.importorskip("pandas")
    x = nm.asarray([[1.0, 2.0], [3.0, 5.0]])
    frame = pandas.DataFrame(x, columns=["a", "b"])
    assert frame["b"].tolist() == [2.0, 5.0]
    assert frame.dtypes.tolist() == [np.float64, np.float64]
    series = pandas.Series(x[:, 0])
    assert series.tolist() == [1.0, 3.0]
    frame["c"] = x[:, 1] - x[:, 0]
    assert frame["c"].tolist() == [1.0, 2.0]
    assert frame.mean().tolist() == [2.0, 3.5, 1.5]
    by_name = pandas.DataFrame({"n": nm.asarray([1, 2]), "flag": nm.asarray([True, False])})
    assert [str(kind) for kind in by_name.dtypes] == ["int64", "bool"]


def test_pandas_operators_in_both_orders():
    pandas = pytest.importorskip("pandas")
    x, series = nm.asarray([1.0, 2.0]), pandas.Series([10.0, 20.0], index=["p", "q"])
    for result, expected in [
        (series + x, [11.0, 22.0]),
        (x + series, [11.0, 22.0]),
        (x * series, [10.0, 40.0]),
        (series / x, [10.0, 10.0]),
        (x - series, [-9.0, -18.0]),
        (np.add(x, series), [11.0, 22.0]),
    ]:
        assert type(result) is pandas.Series
        assert result.index.tolist() == ["p", "q"]
        assert result.tolist() == expected
    assert (series > 5 * x).tolist() == [True, True]


def test_arrays_from_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    x = nm.asarray(frame)
    assert type(x) is nm.Array
    assert x.tolist() == [[1.0, 0.5], [2.0, 1.5]]
    assert nm.asarray(frame["a"]).dtype == np.int64


# ------------------------------------------------------------ matplotlib


def test_matplotlib_draws_arrays():
    matplotlib = pytest.importorskip("matplotlib")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        matplotlib.use("Agg")
        from matplotlib import pyplot as plt

        figure, axes = plt.subplots(2, 2)
        x = nm.linspace(0, 1, 20)
        (line,) = axes[0, 0].plot(x, nm.sin(x))
        assert line.get_ydata().tolist() == np.sin(np.linspace(0, 1, 20)).tolist()
        axes[0, 0].errorbar(x, x, yerr=0.1 * nm.ones(20))
        axes[0, 0].set_xlim(x[0], x[-1])
        image = axes[0, 1].imshow(nm.outer(x, x))
        assert image.get_array().shape == (20, 20)
        counts, edges, _ = axes[1, 0].hist(x, bins=4)
        assert counts.tolist() == [5, 5, 5, 5]
        assert edges[-1] == 1
        axes[1, 1].scatter(x, x, c=x, s=10 * x)
        axes[1, 1].contour(nm.outer(x, x))
        axes[1, 1].fill_between(x, x, x**2)
        figure.canvas.draw()
        plt.close(figure)
        with pytest.raises(GradientError, match="detach"):
            plt.plot(nm.array([1.0, 2.0], requires_grad=True))
        plt.close("all")
