"""Significance tests, confidence intervals and corrections for multiple tests.

Every test returns a `SignificanceResult`. The functions take arrays or counts and do not need the engine. The package
imports `_core` and `_kernels`; the engine, `reporting` and `cli` may import it.

Start with `paired_t_test.py`, the shortest test. `delong.py` compares two AUCs.
"""
