"""Text metrics: BLEU, chrF, NIST, ROUGE, METEOR and TER against references, perplexity, and comparisons of systems.

Each metric counts integer statistics per segment, so shards of a corpus and bootstrap samples give exact results. The
package root imports this package, and the engine finds its metrics in the registry; no other metric family imports it.
It imports `_core` and kernels. Start with `text_metric.py`, then read `bleu.py`; `registered_metrics.py` puts
the metrics into the registry.
"""
