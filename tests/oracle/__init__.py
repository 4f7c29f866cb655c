"""numen's values and gradients against torch's own sample inputs: `python -m tests.oracle`.

torch's test-suite describes its operations, layers and optimisers in three tables (`op_db`,
`module_db`, `optim_db`), each entry with a generator of sample inputs. What numen has too runs on
the same inputs. Next: `__main__.py`.
"""
