"""Translation edit rate, by the book and slowly.

M. Snover, B. Dorr, R. Schwartz, L. Micciulla, J. Makhoul, A study of translation edit rate with targeted human
annotation, AMTA 2006; the search is that of Tercom 7 (TERcost, TERcalc), with the choices of sacrebleu:

- Edit distances are found in a beam of 25 around the diagonal (wider where the lengths differ more than 50 times).
  Going back, a match or substitution is preferred, then leaving out a word of the hypothesis, then one of the
  reference.
- A shift takes 1 to 10 words that stand in the reference, at most 50 places away, where some of them and some of these
  are wrong, and that are not aligned with themselves. They go before, between or behind the words that the
  reference's are aligned with. The best saves most edits, then is the longest, starts first, goes to the first place.
- Shifts are made while they save edits. Once 1000 were tried for a pair of texts, no more is made.
"""

import math

MOST_SHIFTED, FARTHEST, BEAM, MOST_TRIED = 10, 50, 25, 1000


def matrix(hypothesis, reference):
    """Distances of all prefixes, infinite outside of the beam, and the step that leads to each."""
    n, m = len(hypothesis), len(reference)
    ratio = m / n if n else 1
    beam = math.ceil(ratio / 2 + BEAM) if ratio / 2 > BEAM else BEAM
    cells = {(0, j): (j, "left") for j in range(m + 1)}
    infinite = (math.inf, "")
    for i in range(1, n + 1):
        middle = math.floor(i * ratio)
        stop = m + 1 if i == n else min(m + 1, middle + beam)
        for j in range(max(0, middle - beam), stop):
            steps = [(cells.get((i - 1, j), infinite)[0] + 1, "up")]
            if j:
                wrong = hypothesis[i - 1] != reference[j - 1]
                steps.insert(0, (cells.get((i - 1, j - 1), infinite)[0] + wrong, "both"))
                steps.append((cells.get((i, j - 1), infinite)[0] + 1, "left"))
            cells[i, j] = min(steps, key=lambda step: step[0])  # the first of equal ones
    return cells


def distance(hypothesis, reference):
    return matrix(hypothesis, reference)[len(hypothesis), len(reference)][0]


def align(hypothesis, reference):
    """For each word of the reference the last of the hypothesis up to it; which words of both are wrong."""
    cells = matrix(hypothesis, reference)
    i, j = len(hypothesis), len(reference)
    places, wrong_here, wrong_there = [0] * j, [True] * i, [True] * j
    while i or j:
        step = cells[i, j][1]
        if step != "up":
            places[j - 1] = i - 1
        if step == "both":
            wrong_here[i - 1] = wrong_there[j - 1] = hypothesis[i - 1] != reference[j - 1]
        i -= step != "left"
        j -= step != "up"
    return places, wrong_here, wrong_there


def shifted(words, start, length, target):
    moved, rest = words[start : start + length], words[:start] + words[start + length :]
    if target > start + length:
        target -= length  # of the words without those that move; inside of them, it counts as it is
    return rest[:target] + moved + rest[target:]


def candidates(hypothesis, reference):
    """Every shift that is tried, in order, as (start, length, target), by pairs of equal runs."""
    places, wrong_here, wrong_there = align(hypothesis, reference)
    for i in range(len(hypothesis)):
        for j in range(len(reference)):
            for length in range(1, MOST_SHIFTED + 1):
                same = hypothesis[i : i + length] == reference[j : j + length]
                if abs(i - j) > FARTHEST or not same or i + length > len(hypothesis) or j + length > len(reference):
                    break
                stays = i <= places[j] < i + length
                if stays or not any(wrong_here[i : i + length]) or not any(wrong_there[j : j + length]):
                    continue
                targets = [places[j - 1] + 1 if j else 0, *(places[j + k] + 1 for k in range(length))]
                yield [(i, length, t) for k, t in enumerate(targets) if k == 0 or t != targets[k - 1]]


def edits(hypothesis, reference):
    """The number of edits of one pair of lists of words."""
    if not reference:
        return len(hypothesis)
    shifts = tried = 0
    while True:
        before = distance(hypothesis, reference)
        best = None
        for group in candidates(hypothesis, reference):
            for start, length, target in group:
                words = shifted(hypothesis, start, length, target)
                own = (before - distance(words, reference), length, -start, -target)
                if best is None or own > best[0]:
                    best = own, words
            tried += len(group)
            if tried >= MOST_TRIED:
                break
        if tried >= MOST_TRIED or best is None or best[0][0] <= 0:
            return shifts + before
        shifts += 1
        hypothesis = best[1]


def corpus(hypotheses, references):
    """Edits and mean lengths of references, added over segments of (words, lists of words)."""
    pairs = zip(hypotheses, references, strict=True)
    total = sum(min(edits(words, other) for other in others) for words, others in pairs)
    lengths = math.fsum(sum(map(len, others)) / len(others) for others in references)
    return total, lengths
