"""The shared base of all metric families: columns, exchanges, resampling, score statistics, comparison, the registry.

Every package above may import it. It imports only the kernels (`fastmetrics._kernels`) and knows no metric by name. Its
sub-packages are layers: columns, exchange, resampling, score_statistics, comparison; each imports only those before it.
Start with `statistic.py` (statistic, merge, finalize) and `registry` (the list of metrics).
"""
