"""Text against references: BLEU, chrF, NIST, ROUGE, METEOR and perplexity."""

from fastmetrics.metrics.text.perplexities import perplexity, token_nll

__all__ = [
    "perplexity",
    "token_nll",
]
