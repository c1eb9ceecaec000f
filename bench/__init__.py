"""Benchmarks: fastmetrics beside its peers, in one run, on the same data, equality asserted before anything is timed.

    pytest bench/test_rankings.py --benchmark-json=bench/results/ranking.json
    python -m bench.render

`--rows 1000000` makes a quick run of the first. The second writes docs/benchmarks.md and the README's table, of all
runs in bench/results.
"""
