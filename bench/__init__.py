"""Benchmarks of fastmetrics and its peers: one process, the same data, results asserted equal before they are timed.

    pytest bench/ranking --benchmark-json=bench/results/ranking.json
    python -m bench.render

The first command measures; `--rows 1000000` makes it quick. The second writes docs/benchmarks.md, docs/speed.svg and
the table of the README, from all runs in bench/results. Read `timing.py` first.
"""
