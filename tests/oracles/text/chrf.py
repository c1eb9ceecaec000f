"""chrF and chrF++ by their definition.

M. Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015: precision and recall of character
n-grams, averaged over orders, then F with beta. M. Popović, "chrF++: words helping character n-grams", WMT 2017: also
word n-grams, with punctuation at the ends of words as words of their own. As in sacrebleu (Post, WMT 2018), orders are
left out if one side has no n-grams, counts are added over the corpus, and the best of several references counts.
"""

from collections import Counter
from fractions import Fraction

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


def words_of(text):
    words = []
    for word in text.split():
        if len(word) > 1 and word[-1] in PUNCTUATION:
            words += [word[:-1], word[-1]]
        elif len(word) > 1 and word[0] in PUNCTUATION:
            words += [word[0], word[1:]]
        else:
            words.append(word)
    return words


def ngrams(symbols, n):
    return Counter(tuple(symbols[start : start + n]) for start in range(len(symbols) - n + 1))


def pair(hypothesis, reference, char_order=6, word_order=0, whitespace=False):
    """Return for every order the n-grams of the hypothesis (0 if the reference has none), of the reference, of both."""
    statistics = []
    for split, orders in ((lambda text: list(text if whitespace else "".join(text.split())), char_order),
                          (words_of, word_order)):  # fmt: skip
        for n in range(1, orders + 1):
            ours, theirs = ngrams(split(hypothesis), n), ngrams(split(reference), n)
            statistics += [sum(ours.values()) if theirs else 0, sum(theirs.values()), sum((ours & theirs).values())]
    return statistics


def f_score(statistics, beta=2):
    """Return the score, from 0 to 100, as a fraction."""
    square = Fraction(beta) ** 2
    present = [order for order in list(zip(*[iter(statistics)] * 3, strict=True)) if order[0] and order[1]]
    if not any(matches for _, _, matches in present):
        return Fraction(0)
    precision = sum(Fraction(matches, n_hypothesis) for n_hypothesis, _, matches in present) / len(present)
    recall = sum(Fraction(matches, n_reference) for _, n_reference, matches in present) / len(present)
    return 100 * (1 + square) * precision * recall / (square * precision + recall)


def corpus(segments, beta=2, **options):
    """Return the score of segments, which are pairs (hypothesis, references)."""
    totals = None
    for hypothesis, references in segments:
        best = max((pair(hypothesis, reference, **options) for reference in references),
                   key=lambda statistics: f_score(statistics, beta))  # fmt: skip
        totals = best if totals is None else [total + count for total, count in zip(totals, best, strict=True)]
    return f_score(totals, beta)
