"""Results of an evaluation: `Report` and `Result`, which are data only.

They are plain Python and can be read, written and unpickled without pyarrow or pandas. What draws them (tables, pages,
plots) is looked up by name when it is needed. The scan and everything above import this package; it imports `_core`.
Read `result` first, then `report`.
"""
