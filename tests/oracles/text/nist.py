"""NIST by its definition, on tokens.

G. Doddington, "Automatic evaluation of machine translation quality using n-gram co-occurrence statistics", HLT 2002:
information of n-grams from the references (section 4), the sum over orders of the information of co-occurring n-grams
divided by all n-grams of the system, and the length penalty (equation 3). The paper leaves three rules open, which are
those of NIST's mteval-v13a: weights use the counts in all references of all segments; an n-gram matches at most as
often as it occurs in one reference of its segment; a pair that begins with the word "0" (false in Perl) is weighed like
its second word.
"""

import math
from collections import Counter


def ngrams(tokens, n):
    return Counter(tuple(tokens[start : start + n]) for start in range(len(tokens) - n + 1))


def information(references, max_order=5, zero_is_context=False):
    """Return the information in bits of every n-gram of the references (a list of token lists for every segment)."""
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
    """Return the matching n-grams of every order, with their counts."""
    matches = []
    for n in range(1, max_order + 1):
        limits = Counter()
        for reference in references:
            limits |= ngrams(reference, n)
        matches.append(ngrams(hypothesis, n) & limits)
    return matches


def penalty(sys_len, ref_len):
    if sys_len >= ref_len:
        return 1.0
    if sys_len == 0:
        return 0.0
    beta = math.log(0.5) / math.log(1.5) ** 2
    return math.exp(beta * math.log(sys_len / ref_len) ** 2)


def corpus(hypotheses, references, max_order=5, zero_is_context=False, weights=None):
    """Return the scores for orders 1 to max_order. references: a list of token lists for every segment."""
    if weights is None:
        weights = information(references, max_order, zero_is_context)
    summands = [[] for _ in range(max_order)]
    totals = [0] * max_order
    for hypothesis, texts in zip(hypotheses, references, strict=True):
        for n, matches in enumerate(segment(hypothesis, texts, max_order)):
            summands[n] += [weights[ngram] * count for ngram, count in matches.items()]
            totals[n] += max(0, len(hypothesis) - n)
    sys_len = sum(map(len, hypotheses))
    ref_len = sum(sum(map(len, texts)) / len(texts) for texts in references)
    scores, score = [], 0.0
    for n in range(max_order):
        score += math.fsum(summands[n]) / max(totals[n], 1)
        scores.append(score * penalty(sys_len, ref_len))
    return scores
