"""Text formats: TREC run and qrels files, correctly rounded decimal numbers, quotes of CSV files.

`metrics.ranking` and `engine.input` import the kernels, and those of other readers use the headers. This family imports
no other family.
Start with `trec_files.pyx`.

Layout. Text is not copied: a row is a span of the file's bytes. Consecutive rows of one query are a segment. Files are
split at newlines, so several threads can parse one file.

Numerics. `decimals.h` rounds a decimal number as Python's float() does, in double-double arithmetic with Ziv's test. If
the rounding is uncertain, or a number has more than 19 digits, Python's float() parses it.

Bounds. Callers provide 64 readable bytes after the text, because lines are compared in blocks of 64 bytes. A relevance
has at most 18 digits.
"""
