"""Texts as arrays: blocks of code points, tokenizers, word ids, Porter stems, and WordNet.

Imported by `fastmetrics.metrics.text`, by `_kernels.text`, and by `_core.columns.text_columns`, which reads Arrow
columns. The kernels here import no other family. Start with `text_blocks.pyx`.

Layout of a block. `points` (uint32) has the code points of all texts, one text after the other; text i is
points[offsets[i]:offsets[i + 1]]. Segment s has the texts segments[s]:segments[s + 1]; the first is the hypothesis.
Blocks are made from lists of strings or of tokens (`text_blocks.pyx`) or from UTF-8 in Arrow columns
(`arrow_text_rows.pyx`).

From texts to ids. A tokenizer (`tokenizers.pyx`) reads a block in one pass and writes token_points, token_starts and
text_tokens: token i is token_points[token_starts[i]:token_starts[i + 1]], and text i has the tokens
text_tokens[i]:text_tokens[i + 1]. `vocabulary.pyx` then gives equal tokens equal ids. `stemmer.pyx` stems words in the
same layout, and `wordnet.pyx` looks up synonyms in the files of WordNet.

Unicode. Character classes come from `unicode_classes.h`, which tools/unicode_classes.py generates. Decoding rejects
lone surrogates, so that every text is valid.

Bounds. Positions and offsets are int64. A token is never longer than its text, and a stem never longer than its word,
so the size of every output array is known before a pass. Word ids are below 2**31; `vocabulary.pyx` raises
OverflowError beyond. A vocabulary or a table of names belongs to one thread.
"""
