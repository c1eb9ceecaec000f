"""Generated translations to score, the same on every run, with lengths and repetitions like those of real ones.

Words are drawn by Zipf's law from a vocabulary of 40,000, with punctuation, numbers, capitals and some words in other
scripts. Hypotheses are references with words replaced, dropped and moved. No segment occurs twice.
"""

from typing import Any

import numpy as np

SEED = 20260101
VOCABULARY = 40_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgk"))
ENDINGS = ("", "", "", "", "", ",", ".", "ing", "s", "ed", "-", '"', "%")
OTHER_SCRIPTS = ("Größe", "любовь", "città", "東京", "naïve", "Ελλάδα", "señor")


def make_vocabulary(random: np.random.Generator) -> list[str]:
    lengths = np.clip(random.poisson(5, VOCABULARY), 1, 14)
    words = ["".join(LETTERS[(random.random(length) ** 2 * len(LETTERS)).astype(int)]) for length in lengths]
    for rank in range(0, VOCABULARY, 97):
        words[rank] = OTHER_SCRIPTS[rank // 97 % len(OTHER_SCRIPTS)] + words[rank]
    for rank in range(50, VOCABULARY, 41):
        words[rank] = f"{rank % 2000}.{rank % 97}"
    return words


def translations(n_segments: int, n_tokens: int = 24) -> tuple[list[str], list[str]]:
    """Return hypotheses and references, each of about n_tokens tokens of 13a."""
    random = np.random.default_rng(SEED)
    vocabulary = make_vocabulary(random)
    n_words = max(1, round(n_tokens / 1.18))
    lengths = np.maximum(1, random.poisson(n_words, n_segments))
    drawn = np.minimum(random.zipf(1.35, int(lengths.sum())) - 1, VOCABULARY - 1)
    endings = random.integers(0, len(ENDINGS), drawn.shape[0])
    changes = random.random(drawn.shape[0])
    replaced = random.integers(0, VOCABULARY, drawn.shape[0])
    hypotheses, references = [], []
    start = 0
    for number, length in enumerate(lengths.tolist()):
        span = slice(start, start + length)
        start += length
        reference = [vocabulary[word] + ENDINGS[end] for word, end in zip(drawn[span], endings[span], strict=True)]
        hypothesis = [
            vocabulary[other] if change < 0.25 else word
            for word, change, other in zip(reference, changes[span], replaced[span], strict=True)
            if change < 0.92
        ]
        if length > 3 and changes[span][0] < 0.5:
            hypothesis[1:3] = hypothesis[1:3][::-1]
        references.append(f"{' '.join(reference).capitalize()} {number}.")
        hypotheses.append(f"{' '.join(hypothesis).capitalize()} {number}.")
    return hypotheses, references


def clear_line_cache(metric: Any) -> None:
    """Clear the caches of sacrebleu's tokenizers: a second round would hit them, but a script scores a file once."""
    for tokenizer in (metric.tokenizer, getattr(metric.tokenizer, "_post_tokenizer", None)):
        clear_cache = getattr(type(tokenizer).__call__, "cache_clear", None)
        if clear_cache is not None:
            clear_cache()


def n_segments(rows: int) -> int:
    """Return the number of segments for a bench of so many rows; 20,000 at the full size."""
    return max(500, rows // 500)
