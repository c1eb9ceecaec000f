"""Slow, obvious definitions in plain Python, with their citations: those of tests/oracles that the self-check needs.

`tools/generate.py` writes them. They import neither NumPy nor another package of fastmetrics: a mistake of a kernel
cannot be in both. A definition returns None where the metric is undefined. `values.py` imports them. Start with
`curves.py`.
"""
