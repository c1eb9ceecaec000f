"""chrF and chrF++ by their definition.

M. Popović, "chrF: character n-gram F-score for automatic MT evaluation", WMT 2015: precision and recall of character
n-grams, averaged over orders, then F with beta. M. Popović, "chrF++: words helping character n-grams", WMT 2017: word
n-grams beside them, marks at the ends of words apart. Orders that one side has no n-gram of are left out, counts are
added over the corpus, and of several references the best counts, as in sacrebleu (Post, WMT 2018).
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
    """For every order: n-grams of the hypothesis (0 if the reference has none), of the reference, and of both."""
    statistics = []
    for split, orders in ((lambda text: list(text if whitespace else "".join(text.split())), char_order),
                          (words_of, word_order)):  # fmt: skip
        for n in range(1, orders + 1):
            own, other = ngrams(split(hypothesis), n), ngrams(split(reference), n)
            statistics += [sum(own.values()) if other else 0, sum(other.values()), sum((own & other).values())]
    return statistics


def f_score(statistics, beta=2):
    """From 0 to 100, a fraction."""
    square = Fraction(beta) ** 2
    orders = list(zip(*[iter(statistics)] * 3, strict=True))
    present = [(own, other, both) for own, other, both in orders if own and other]
    if not any(both for _, _, both in present):
        return Fraction(0)
    precision = sum(Fraction(both, own) for own, _, both in present) / len(present)
    recall = sum(Fraction(both, other) for _, other, both in present) / len(present)
    return 100 * (1 + square) * precision * recall / (square * precision + recall)


def corpus(segments, beta=2, **options):
    """segments: (hypothesis, references) each."""
    totals = None
    for hypothesis, references in segments:
        best = max((pair(hypothesis, reference, **options) for reference in references),
                   key=lambda own: f_score(own, beta))  # fmt: skip
        totals = best if totals is None else [own + more for own, more in zip(totals, best, strict=True)]
    return f_score(totals, beta)
