"""Benchmarks: fastmetrics beside its peers, in one run, on the same data, equality asserted before anything is timed.

    pytest bench --benchmark-json=bench/results/latest.json
    python -m bench.render

`--rows 1000000` makes a quick run of the first. The second writes docs/benchmarks.md and the README's table.
"""
