"""Texts as tokens and word ids: tokenizers, encoders with their vocabularies, stems and WordNet's synonyms.

Metrics of this family import these modules. They import `inputs`, `_core` and kernels, and no metric. Start with
`tokenizers.py`, then `word_encoder.py`.
"""
