"""Texts of words between blanks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

Words = Sequence[str]


def _grams(words: Words, order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + order]) for start in range(len(words) - order + 1))


def corpus_bleu(hypotheses: Sequence[Words], references: Sequence[Words]) -> float:
    """BLEU of up to four words, without smoothing, one reference for each hypothesis."""
    logs = []
    for order in range(1, 5):
        matched = total = 0
        for hypothesis, reference in zip(hypotheses, references, strict=True):
            grams = _grams(hypothesis, order)
            matched += (grams & _grams(reference, order)).total()
            total += grams.total()
        if not matched:
            return 0.0
        logs.append(math.log(matched / total))
    words, wanted = (sum(map(len, texts)) for texts in (hypotheses, references))
    penalty = min(0.0, 1 - wanted / words)
    return 100 * math.exp(penalty + math.fsum(logs) / 4)


def longest_common(one: Words, other: Words) -> int:
    """The length of the longest common subsequence."""
    before = [0] * (len(other) + 1)
    for word in one:
        row = [0]
        for place, found in enumerate(other):
            row.append(before[place] + 1 if word == found else max(before[place + 1], row[place]))
        before = row
    return before[-1]


def rouge_l(hypothesis: Words, reference: Words) -> Fraction:
    """F1 of the longest common subsequence."""
    common = longest_common(hypothesis, reference)
    return Fraction(2 * common, len(hypothesis) + len(reference)) if common else Fraction(0)
