"""Slow, obvious definitions of every metric in plain Python, each with its citation.

Counts and weights are Python integers or `fractions.Fraction`, so a value that the library promises to be exact is
returned as an exact `Fraction` and compared with `==` after one rounding (`float(fraction)` rounds correctly).
Values that contain a logarithm or a root are floats, summed exactly and rounded once.
`None` means "undefined" (the library answers NaN).

Nothing here imports fastmetrics or NumPy: an oracle shares no code with the code it tests.
`tests/common/test_oracles.py` tests the oracles themselves against scikit-learn.
"""
