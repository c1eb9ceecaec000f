"""Metrics of predicted probabilities: log loss, Brier score, normalized entropy, likelihood, and their D2 scores.

The public package and the engine's registry import this package; no other metrics family does. It imports `_core` and
`_kernels`. Each metric is a function and a registered metric
over the same additive statistic. Start with `log_loss.py`; `probability_targets.py` has the labels that scikit-learn
accepts beyond 0 and 1.
"""
