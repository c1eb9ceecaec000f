"""The question as data: `Evaluation`, its options, and the files that it is read from and written to.

Results, the scan and the entry points import this package; it imports `plan` and `_core`. Read `options` first: it is
the one table of options.
"""
