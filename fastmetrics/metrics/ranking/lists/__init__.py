"""Ranked lists: input forms, tables of the groups of an exchange, measures, and means over lists.

The metrics of `metrics.ranking` and its `runs` package import it. It imports `_core` and `_kernels` only.

Start with `list_measures.py` (measures as the kernel reads them). `list_inputs.py` reads the arguments of functions,
`list_tables.py` and `group_pairs.py` measure the groups of a hash exchange, `list_mean.py` registers the metrics.
"""
