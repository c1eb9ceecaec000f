"""NIST by its definition, on tokens.

G. Doddington, "Automatic evaluation of machine translation quality using n-gram co-occurrence statistics", HLT 2002:
information of n-grams from the references (section 4), the sum over orders of the information of co-occurring n-grams
by all n-grams of the system, and the length penalty (equation 3). What the paper leaves open is decided as in NIST's
own mteval-v13a: weights count all references of all segments, a match is at most as often as in one reference of its
segment, and the word "0" (false to Perl) is no context for a pair.
"""

import math
from collections import Counter


def ngrams(tokens, n):
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def information(references, max_order=5, zero_is_context=False):
    """Bits that the last word of an n-gram tells, for every n-gram of the references (a list for every segment)."""
    counts = Counter()
    n_words = 0
    for texts in references:
        for text in texts:
            n_words += len(text)
            for n in range(1, max_order + 1):
                counts.update(ngrams(text, n))
    weights = {}
    for ngram, count in counts.items():
        before = counts[ngram[:-1]] if len(ngram) > 1 else n_words
        if ngram[:-1] == ("0",) and not zero_is_context:
            before = n_words
        weights[ngram] = math.log2(before / count)
    return weights


def segment(hypothesis, references, max_order=5):
    """By order, the n-grams that count with how often they do."""
    matches = []
    for n in range(1, max_order + 1):
        allowed = Counter()
        for reference in references:
            allowed |= ngrams(reference, n)
        matches.append(ngrams(hypothesis, n) & allowed)
    return matches


def penalty(sys_len, ref_len):
    if sys_len >= ref_len:
        return 1.0
    if sys_len == 0:
        return 0.0
    beta = math.log(0.5) / math.log(1.5) ** 2
    return math.exp(beta * math.log(sys_len / ref_len) ** 2)


def corpus(hypotheses, references, max_order=5, zero_is_context=False, weights=None):
    """The scores of orders 1 to max_order. references: a list of token lists for every segment."""
    if weights is None:
        weights = information(references, max_order, zero_is_context)
    told = [[] for _ in range(max_order)]
    possible = [0] * max_order
    for hypothesis, texts in zip(hypotheses, references, strict=True):
        for n, matches in enumerate(segment(hypothesis, texts, max_order)):
            told[n] += [weights[ngram] * count for ngram, count in matches.items()]
            possible[n] += max(0, len(hypothesis) - n)
    sys_len = sum(map(len, hypotheses))
    ref_len = sum(sum(map(len, texts)) / len(texts) for texts in references)
    scores, score = [], 0.0
    for n in range(max_order):
        score += math.fsum(told[n]) / max(possible[n], 1)
        scores.append(score * penalty(sys_len, ref_len))
    return scores
