"""One pass over a log, which fills a partial state, and what is made of it.

The exchanges are resolved to final states, and intervals, plots and the report are made of them. The entry points and
`distributed` import this package; it imports `partial`, `plan`, `input`, `results` and `_core`. Read `read_log`, then
`resolve` and `final_report`.
"""
