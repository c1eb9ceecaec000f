"""Classification metrics: true labels against predicted labels.

Only the public package and entry points import this package. It imports `_core` and `_kernels`, never another family.
Start with `label_counts.py`, which counts pairs of labels; every metric is in a file of its name.
`fixed_threshold.py` registers the metrics of scores and a threshold.
"""
