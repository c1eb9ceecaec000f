"""Metrics of binary labels and scores over all thresholds: AUC, average precision, KS, EER, and the curves themselves.

Every function sorts the rows by score. A metric in the registry is computed from a statistic that merges ranges of
scores, so the engine gives the same number as the function. The package imports `_core` and `_kernels`; the engine,
`reporting` and `cli` may import it.

Start with `ks.py`, the shortest metric. `multiclass.py` reduces several classes or labels to binary problems.
"""
