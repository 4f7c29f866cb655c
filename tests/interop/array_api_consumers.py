"""SciPy and scikit-learn on Arrays, in a process of its own: SCIPY_ARRAY_API is read at import.

`python array_api_consumers.py` runs every text with numen and with NumPy and prints, as JSON, what
is wrong with each (null: nothing). `test_consumers.py` reads that.
"""

import importlib.util
import json
import os
import sys
import warnings

SKLEARN = """
PCA(n_components=2, svd_solver="full").fit(X).transform(X)
PCA(n_components=2, svd_solver="covariance_eigh").fit(X).explained_variance_
Ridge(solver="svd").fit(X, target).coef_
Ridge(solver="svd").fit(X, target).predict(X)
StandardScaler().fit_transform(X)
StandardScaler().fit(X).inverse_transform(X)
MinMaxScaler(clip=True).fit_transform(X)
MaxAbsScaler().fit_transform(X)
Normalizer().fit_transform(X)
Binarizer(threshold=0.5).fit_transform(X)
KernelCenterer().fit_transform(X @ X.T)
LinearDiscriminantAnalysis().fit(X, labels).predict(X)
LinearDiscriminantAnalysis().fit(X, labels).predict_proba(X)
PolynomialFeatures(degree=2).fit_transform(X)
LabelEncoder().fit(labels).transform(labels)
train_test_split(X, labels, random_state=0)[0]
""".strip().splitlines()
METRICS = """
accuracy_score(labels, guesses)
zero_one_loss(labels, guesses)
f1_score(labels, guesses)
r2_score(target, X[:, 1])
mean_squared_error(target, X[:, 1])
mean_absolute_error(target, X[:, 1])
explained_variance_score(target, X[:, 1])
confusion_matrix(labels, guesses)
pairwise.euclidean_distances(X)
pairwise.cosine_similarity(X)
pairwise.rbf_kernel(X, X)
""".strip().splitlines()
SCIPY = """
special.expit(X)
special.logsumexp(X, axis=1)
special.softmax(X, axis=0)
special.log_softmax(X, axis=1)
special.erf(X)
special.gammaln(P)
special.xlogy(P, P)
special.betainc(2.0, 3.0, P / 10)
fft.fft(X)
fft.rfft(X, axis=0)
fft.ifftn(X)
fft.fftshift(X)
fft.dct(X)
stats.zscore(X)
stats.zmap(X, X[:5, :])
stats.skew(X)
stats.kurtosis(X, axis=1)
stats.moment(X, order=3)
stats.gmean(P)
stats.hmean(P)
stats.sem(X)
stats.ttest_1samp(X[:, 0], 0.1).pvalue
stats.pearsonr(X[:, :2], X[:, 2:], axis=0).statistic
stats.entropy(P / 10)
stats.differential_entropy(X[:, 0])
cluster.vq.whiten(X)
cluster.vq.vq(X, X[:3, :])[0]
cluster.hierarchy.linkage(X)
ndimage.gaussian_filter(X, 1.0)
ndimage.uniform_filter(X, 3)
ndimage.label(X > 0)[0]
ndimage.rotate(X, 30.0, reshape=False)
signal.detrend(X)
signal.sosfilt(xp.asarray([[0.1, 0.2, 0.1, 1.0, -0.5, 0.1]]), X)
signal.fftconvolve(X, X)
signal.convolve(X[:, 0], X[:4, 0])
signal.hilbert(X)
integrate.trapezoid(X)
integrate.cumulative_simpson(X)
interpolate.BSpline(xp.arange(8.0), X[:4, 0], 3)(xp.asarray([3.2, 3.7]))
optimize.elementwise.find_root(lambda x: x * x - 2, (xp.asarray(0.0), xp.asarray(2.0))).x
differentiate.derivative(xp.exp, P).df
spatial.transform.Rotation.from_rotvec(X[0, :3]).as_matrix()
constants.convert_temperature(X, "Celsius", "Kelvin")
""".strip().splitlines()


def sklearn_scope():
    from sklearn import (
        decomposition,
        discriminant_analysis,
        linear_model,
        metrics,
        model_selection,
        preprocessing,
    )

    scope = {}
    for module in (decomposition, discriminant_analysis, linear_model, metrics, preprocessing):
        scope.update({name: getattr(module, name) for name in module.__all__})
    return {
        **scope,
        "train_test_split": model_selection.train_test_split,
        "pairwise": metrics.pairwise,
    }


def scipy_scope():
    import scipy
    import scipy.cluster
    import scipy.optimize.elementwise

    names = "special fft stats cluster ndimage signal integrate interpolate optimize differentiate"
    return {name: getattr(scipy, name) for name in [*names.split(), "spatial", "constants"]}


def data(xp):
    import numpy as np

    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 4))
    values = {
        "X": X,
        "P": rng.uniform(0.5, 5.0, size=(6, 3)),
        "target": X[:, 0] * 2 + 0.1 * rng.normal(size=30),
        "labels": (X[:, 0] > 0).astype(np.int64),
        "guesses": (X[:, 0] + 0.3 * X[:, 1] > 0).astype(np.int64),
    }
    return {"xp": xp, **{name: xp.asarray(value) for name, value in values.items()}}


def fault(text, scope, may_be_a_number=False):
    """What is wrong with numen's result of a text; None if it is an Array equal to NumPy's."""
    import numpy as np

    import numen as nm

    try:
        actual, expected = [eval(text, {**scope, **data(xp)}) for xp in (nm, np)]
        if not isinstance(actual, nm.Array) and not (may_be_a_number and np.isscalar(expected)):
            return f"a {type(actual).__name__}, no Array"
        actual = np.asarray(actual)
        if actual.dtype != np.asarray(expected).dtype:
            return f"{actual.dtype} for {np.asarray(expected).dtype}"
        np.testing.assert_allclose(actual, expected, rtol=1e-9, atol=1e-12)
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return None


def main():
    warnings.simplefilter("error")
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    faults = {}
    if importlib.util.find_spec("scipy"):
        scope = scipy_scope()
        faults.update({text: fault(text, scope) for text in SCIPY})
    if importlib.util.find_spec("sklearn"):
        import sklearn

        scope = sklearn_scope()
        # sklearn divides 0 by 0 on purpose and silences only NumPy's own arrays.
        warnings.filterwarnings("ignore", "invalid value encountered in divide")
        with sklearn.config_context(array_api_dispatch=True):
            faults.update({text: fault(text, scope) for text in SKLEARN})
            faults.update({text: fault(text, scope, may_be_a_number=True) for text in METRICS})
    json.dump(faults, sys.stdout)


if __name__ == "__main__":
    assert os.environ.get("SCIPY_ARRAY_API") == "1"
    main()
