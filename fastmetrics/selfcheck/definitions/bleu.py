# Written by tools/generate.py from tests/oracles/text/bleu.py.
"""BLEU by its definition, on tokens.

K. Papineni, S. Roukos, T. Ward, W.-J. Zhu, "BLEU: a method for automatic evaluation of machine translation", ACL 2002,
section 2: modified n-gram precision (2.1), combination (2.1.3, 2.3), brevity penalty with the best match length (2.2).
Smoothings: B. Chen, C. Cherry, "A systematic comparison of smoothing techniques for sentence-level BLEU", WMT 2014:
floor is their method 1, add-k method 2, exp method 3 (that of mteval-v13a).
"""

import math
from collections import Counter
from collections.abc import Sequence

Tokens = Sequence[str]


def ngrams(tokens: Tokens, n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def closest_length(length: int, references: Sequence[Tokens]) -> int:
    """Return the reference length nearest to `length`; of two equally near ones the shorter."""
    return min((len(reference) for reference in references), key=lambda other: (abs(other - length), other))


def segment(hypothesis: Tokens, references: Sequence[Tokens], max_order: int = 4) -> list[int]:
    """Return [length, closest reference's length, matches of every order, n-grams of every order]."""
    correct, totals = [], []
    for n in range(1, max_order + 1):
        counts = ngrams(hypothesis, n)
        limits: Counter[tuple[str, ...]] = Counter()
        for reference in references:
            limits |= ngrams(reference, n)
        correct.append(sum((counts & limits).values()))
        totals.append(sum(counts.values()))
    return [len(hypothesis), closest_length(len(hypothesis), references), *correct, *totals]


def corpus(
    statistics: Sequence[Sequence[int]],
    max_order: int = 4,
    smooth: str = "exp",
    smooth_value: float | None = None,
    effective_order: bool = False,
    weights: Sequence[float] | None = None,
) -> float:
    """Return 100 BP exp(sum w_n log p_n), from the sums of the segments' statistics."""
    sys_len, ref_len, *by_order = map(sum, zip(*statistics, strict=True))
    correct: list[float] = [*by_order[:max_order]]
    totals: list[float] = [*by_order[max_order:]]
    if not any(correct):
        return 0.0
    if smooth == "add-k":
        k = 1 if smooth_value is None else smooth_value
        correct = correct[:1] + [matches + k for matches in correct[1:]]
        totals = totals[:1] + [total + k for total in totals[1:]]
    elif smooth == "floor":
        epsilon = 0.1 if smooth_value is None else smooth_value
        correct = [matches or epsilon for matches in correct]
    elif smooth == "exp":
        power = 0
        for n, matches in enumerate(correct):
            if matches == 0:
                power += 1
                correct[n] = 2.0**-power
    present = [n for n in range(max_order) if all(totals[: n + 1])]
    orders = present if effective_order else list(range(max_order))
    if len(present) < len(orders):
        return 0.0  # the precision of an order without n-grams is 0
    weights = [1 / max_order] * max_order if weights is None else list(weights)
    total_weight = sum(weights[n] for n in orders)
    if effective_order and len(orders) < max_order:
        if total_weight == 0:
            return 0.0
        weights = [weight / total_weight for weight in weights]
    logs = []
    for n in orders:
        if weights[n] == 0:
            continue
        if correct[n] == 0:
            return 0.0
        logs.append(weights[n] * math.log(correct[n] / totals[n]))
    brevity = 1.0 if sys_len >= ref_len else math.exp(1 - ref_len / sys_len)
    return 100 * brevity * math.exp(sum(logs))
