"""Tail probabilities and quantiles of the normal, Student's, chi-square, binomial and studentized range distributions.

Every p-value and every interval reads them. They are made of `elementary` and of IEEE arithmetic alone, so a
probability has the same bits on every processor and system, and no SciPy is needed. May be imported by everything above
`_core`. Read `incomplete_integrals.py` first: its two integrals give all tails but the normal one.
"""
