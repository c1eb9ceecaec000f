"""Translations to score: generated, the same on every run, with the lengths and repetitions of real ones.

Words are drawn by Zipf's law from a vocabulary of 40,000 and joined with punctuation, numbers, capitals and some words
in other scripts; hypotheses are references with words replaced, dropped and moved. No segment comes twice.
"""

from typing import Any

import numpy as np

SEED = 20260101
VOCABULARY = 40_000
LETTERS = np.array(list("etaoinshrdlucmfwypvbgk"))
ENDINGS = ("", "", "", "", "", ",", ".", "ing", "s", "ed", "-", '"', "%")
OTHER_SCRIPTS = ("Größe", "любовь", "città", "東京", "naïve", "Ελλάδα", "señor")


def words(random: np.random.Generator) -> list[str]:
    lengths = np.clip(random.poisson(5, VOCABULARY), 1, 14)
    made = ["".join(LETTERS[(random.random(length) ** 2 * len(LETTERS)).astype(int)]) for length in lengths]
    for place in range(0, VOCABULARY, 97):
        made[place] = OTHER_SCRIPTS[place // 97 % len(OTHER_SCRIPTS)] + made[place]
    for place in range(50, VOCABULARY, 41):
        made[place] = f"{place % 2000}.{place % 97}"
    return made


def translations(n_segments: int, n_tokens: int = 24) -> tuple[list[str], list[str]]:
    """Hypotheses and references of about n_tokens tokens of 13a each."""
    random = np.random.default_rng(SEED)
    vocabulary = words(random)
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


def forget_lines(metric: Any) -> None:
    """sacrebleu's tokenizers remember lines, which a second round would find: a script scores a file once."""
    for tokenizer in (metric.tokenizer, getattr(metric.tokenizer, "_post_tokenizer", None)):
        forget = getattr(type(tokenizer).__call__, "cache_clear", None)
        if forget is not None:
            forget()


def n_segments(rows: int) -> int:
    """20,000 at the full size of the benches."""
    return max(500, rows // 500)
