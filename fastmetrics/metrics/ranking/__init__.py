"""Ranking metrics: ranked lists (NDCG, MAP, MRR, precision at k, ...), GAUC, label ranking, and runs against qrels.

A module has one metric, or the metrics that share a statistic. `lists/` has what metrics of ranked lists share, `runs/`
evaluates runs of retrieval systems (tables, dicts, TREC files). The package imports `_core` and `_kernels` only. The
registry imports it, and users import its public functions from `fastmetrics`.

Start with `ndcg.py`, then read `lists/list_mean.py`.
"""
