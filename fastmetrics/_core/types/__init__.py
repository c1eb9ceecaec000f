"""Types of public signatures: what columns, tables and logs may be, and the values of named options.

Every module may import it, and only under `TYPE_CHECKING`: at run time nothing is loaded but `metric_names.py`, which
makes the methods of `Metric`. It imports nothing of fastmetrics. Start with `arrays.py`; `options.py` has the named
values, which tests compare with the docstrings.
"""
