"""From anything that holds columns to validated batches of rows.

`sources` opens files, Arrow data, data frames and dicts of arrays as record batches. `row_selection` finds the rows of
a batch that are evaluated, with their slices and weights; `slices` numbers the values of the `by` columns.
`batch_validation` reads the columns of these rows as numbers and keys. The scan and the entry points import this
package; it imports `plan` and `_core`. pyarrow is imported when data is opened, never before. Read `batches` first: it
defines the interface of all sources.
"""
