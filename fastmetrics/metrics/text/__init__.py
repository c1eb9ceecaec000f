"""Text against references: BLEU, chrF, NIST, ROUGE, METEOR and perplexity."""

__all__: list[str] = []
