"""Comparison of models, runs or texts: differences, tests, corrections for several tests, win counts.

Start with `comparison.py`, which has the result classes. `test_results.py` has the result class and the options of
significance tests. The engine and metric families may import it. It imports all other packages of `_core`.
"""
