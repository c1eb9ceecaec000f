"""Kernels of text metrics: BLEU, chrF, TER, ROUGE, METEOR and NIST.

Imported by `fastmetrics.metrics.text` only. They import `text.tokens` and `_kernels.columns` (growing memory). Read
`tokens/__init__.py` for the layout of blocks, then start with `bleu_ngrams.pyx`.

Layout. Every kernel reads a block of segments. `ids` has the word ids of all texts, text i has the tokens
text_tokens[i]:text_tokens[i + 1], and segment s has the texts segments[s]:segments[s + 1]: the hypothesis, then its
references. ROUGE adds a level of sentences, and chrF reads code points instead of ids. Each kernel writes one row of
int64 counts per segment (ROUGE: per reference). Scores are computed from sums of these rows, so blocks can be counted
in any order.

N-grams. An n-gram is the pair (number of its first n - 1 words, last word). The pair is a uint64 and is itself the key
of an open-addressing table (`pair_hash_table.pxd`, `shared_ngrams.pxd`), so different n-grams are never taken for
equal. For texts of up to 1024 symbols and orders up to 8, `ngram_masks.h` uses bit masks of positions instead.
`ngram_matcher.pyx` has the memory of one thread for both.
`lcs.pxd` has one bit per token of the hypothesis.

Bounds. Word ids are below 2**31 (`tokens/vocabulary.pyx`). BLEU has at most 2**30 reference n-grams in a segment, ROUGE
fewer than 2**31 tokens. Both raise OverflowError beyond. NIST adds weights as integer multiples of 2**-57, in two
halves of 32 bits. Its sums are exact for fewer than 2**31 matches of an order.

Memory and threads. Scratch memory belongs to the caller or to an object that one thread uses, and it is reused for all
segments. All loops run without the GIL. Integer counts do not depend on the number of threads.
"""
