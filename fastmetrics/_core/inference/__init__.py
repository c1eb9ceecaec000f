"""Inference from contributions: standard errors, intervals, tests of differences, verdicts, numbers of units.

A contribution is what leaving one unit out changes. These are functions of numbers and arrays that know no metric and
no engine. What stands above `_core` may import it. Start with `errors.py`: all else reads its `ErrorEstimate`.
"""
