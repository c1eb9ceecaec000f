"""Runs of retrieval systems against relevance judgments (qrels): reading, joining, evaluating and comparing.

Users reach its public functions through `fastmetrics`. It imports `metrics.ranking.lists`, `_core` and `_kernels`.

Start with `evaluate_ranking.py`: `sources.py` reads tables, `join.py` joins them by query and item, `ranking_result.py`
measures the lists. `trec_files.py`, `trec_measures.py`, `trec_metric_names.py` and `evaluate_trec.py` are
trec_eval's.
"""
