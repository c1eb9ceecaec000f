"""The distance of each half of the units at the other half's threshold, by definition, in fractions."""

from fractions import Fraction


def distances(half):
    """TPR - FPR of a half of rows (score, label), at every threshold: a score of at least the threshold is above."""
    of_class = [[score for score, label in half if label == own] for own in (0, 1)]

    def at(threshold):
        false_rate, true_rate = (Fraction(sum(score >= threshold for score in own), len(own)) for own in of_class)
        return true_rate - false_rate

    return at


def crossed(first, second, thresholds):
    """The mean of both; None if a half lacks a class. Of equal distances that of the first threshold is taken."""
    if any({label for _, label in half} != {0, 1} for half in (first, second)):
        return None
    total = Fraction(0)
    for chosen, read in ((first, second), (second, first)):
        of_chosen = [distances(chosen)(threshold) for threshold in thresholds]
        greatest = max(of_chosen, key=abs)
        total += distances(read)(thresholds[of_chosen.index(greatest)]) * (1 if greatest >= 0 else -1)
    return total / 2
