"""Columns: checked, decoded, encoded and read as one type, one block at a time while it is in cache.

Kernels above `numeric`, and any Python module, may import this family. Start with `column_checks.pyx`.

Checks. `column_checks.pyx` decodes binary labels to uint8 and finds NaN and invalid weights in the first pass over a
block. It reports flags only; the Python side searches the first bad row and words the message.

Reading. `label_column.pxd` (int64), `real_columns.pxd` (float64) and `short_columns.pxd` (labels and scores of a call
on few rows) read any numeric type through the buffer protocol. Opening a buffer costs a tenth of a typed memoryview.
Blocks have 1024 to 2048 rows, so that converted values stay in the first-level cache.

Blocks. `column_blocks.pyx` is a column that is stored in blocks: kernels read it where it is.

Filters. `filtered_rows.pyx` numbers the rows that a filter keeps.

Encoding. `label_encoding.pyx` encodes integers and fixed-width text as int32 codes, `text_codes.pyx` encodes UTF-8
text. Both are open-addressing tables that are at most half full. Two labels share a code only if all their bits are
equal. `delta_packing.pyx` encodes integers as files of states have them.

Order. `ordered_bits.pxd` turns floats into unsigned integers with the same order. -0.0 ties with 0.0; NaN has no key.

Bounds. Codes are below 2**31. Integers from 2**53 on may be rounded when read as float64; the reader reports this.
"""
