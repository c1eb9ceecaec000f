"""Definitions in plain Python: loops over rows, pairs and lists, with fractions where the value is one.

They import neither NumPy nor another module of fastmetrics: a mistake of a kernel cannot be in both. A definition
returns None where the metric is undefined. The definitions with citations that the tests use are in tests/oracles/.
Start with `scores.py`.
"""
