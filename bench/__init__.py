"""Benchmarks of fastmetrics and its peers: one process, the same data, results asserted equal before they are timed.

    python -m bench

measures all files and writes bench/results.json, docs/benchmarks.md, docs/speed.svg and the table of the README; read
`__main__.py` and `timing.py` first.
"""
