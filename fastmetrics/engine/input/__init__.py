"""From anything that holds columns to validated batches of rows.

`sources` opens files, Arrow data, data frames and dicts of arrays as record batches; `batch_validation` turns each
batch into columns of numbers and keys without invalid rows; `slices` numbers the values of the `by` columns. The scan
and the entry points import this package; it imports `plan` and `_core`. pyarrow is imported when data is opened, never
before. Read `batches` first: it defines the interface of all sources.
"""
