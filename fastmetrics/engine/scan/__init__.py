"""One pass over a log: every batch is validated, added to additive states, and kept for the exchanges.

Afterwards the exchanges are resolved to final states, and intervals, plots and the report are made of them. The entry
points and `partitions` import this package; it imports `plan`, `input`, `results` and `_core`. Read `scan`, then
`plan_scan`, `log_scan` and `resolve`.
"""
