"""What an evaluation has to compute, before any row is read.

Metric strings become statistics, each computed once, sorted by the exchange that they need; column names become roles;
and the options of intervals are checked. Everything above imports this package. It imports the registry and `_core`,
and neither opens data nor knows a metric by name. Read `metric_plan` first.
"""
