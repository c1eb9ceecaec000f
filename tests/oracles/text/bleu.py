"""BLEU by its definition, on tokens.

K. Papineni, S. Roukos, T. Ward, W.-J. Zhu, "BLEU: a method for automatic evaluation of machine translation", ACL 2002,
section 2: modified n-gram precision (2.1), combination (2.1.3, 2.3), brevity penalty with the best match length (2.2).
Smoothings: B. Chen, C. Cherry, "A systematic comparison of smoothing techniques for sentence-level BLEU", WMT 2014:
floor is their method 1, add-k method 2, exp method 3 (that of mteval-v13a).
"""

import math
from collections import Counter


def ngrams(tokens, n):
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def closest_length(length, references):
    """The length of the reference nearest to `length`; the shorter of two as near."""
    return min((len(reference) for reference in references), key=lambda own: (abs(own - length), own))


def segment(hypothesis, references, max_order=4):
    """[length, closest reference's length, matches of every order, n-grams of every order]."""
    correct, totals = [], []
    for n in range(1, max_order + 1):
        own = ngrams(hypothesis, n)
        allowed = Counter()
        for reference in references:
            allowed |= ngrams(reference, n)
        correct.append(sum((own & allowed).values()))
        totals.append(sum(own.values()))
    return [len(hypothesis), closest_length(len(hypothesis), references), *correct, *totals]


def corpus(statistics, max_order=4, smooth="exp", smooth_value=None, effective_order=False, weights=None):
    """100 BP exp(sum w_n log p_n), from the sums of the segments' statistics."""
    sys_len, ref_len, *both = map(sum, zip(*statistics, strict=True))
    correct, totals = both[:max_order], both[max_order:]
    if not any(correct):
        return 0.0
    if smooth == "add-k":
        k = 1 if smooth_value is None else smooth_value
        correct = correct[:1] + [own + k for own in correct[1:]]
        totals = totals[:1] + [own + k for own in totals[1:]]
    elif smooth == "floor":
        epsilon = 0.1 if smooth_value is None else smooth_value
        correct = [own or epsilon for own in correct]
    elif smooth == "exp":
        power = 0
        for n, own in enumerate(correct):
            if own == 0:
                power += 1
                correct[n] = 2.0**-power
    present = [n for n in range(max_order) if all(totals[: n + 1])]
    orders = present if effective_order else list(range(max_order))
    if len(present) < len(orders):
        return 0.0  # an order without n-grams has the precision 0
    own_weights = [1 / max_order] * max_order if weights is None else list(weights)
    used = sum(own_weights[n] for n in orders)
    if effective_order and len(orders) < max_order:
        if used == 0:
            return 0.0
        own_weights = [weight / used for weight in own_weights]
    logs = []
    for n in orders:
        if own_weights[n] == 0:
            continue
        if correct[n] == 0:
            return 0.0
        logs.append(own_weights[n] * math.log(correct[n] / totals[n]))
    brevity = 1.0 if sys_len >= ref_len else math.exp(1 - ref_len / sys_len)
    return 100 * brevity * math.exp(sum(logs))
