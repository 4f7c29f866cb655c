"""How far numen is NumPy: the same texts, NumPy's own tests, promotion tables, accuracy, random
inputs.

`python -m tests.against_numpy` prints the summary; `numpy_suite` runs NumPy's test files.
"""
