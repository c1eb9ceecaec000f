"""What reports and comparisons have in common: look-up of one item, and conversion to tables and flat names.

Imported by `_core.comparison`, the engine and `reporting`; imports only `_core`. Neither pyarrow, pandas nor polars is
loaded before a conversion asks for it. Start with `result_set.py`.
"""
