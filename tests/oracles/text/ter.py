"""Translation edit rate by its definition.

M. Snover, B. Dorr, R. Schwartz, L. Micciulla, J. Makhoul, A study of translation edit rate with targeted human
annotation, AMTA 2006. The search is that of Tercom 7 (TERcost, TERcalc), with the choices of sacrebleu:

- Edit distances are computed in a beam of 25 around the diagonal (wider if the lengths differ more than 50 times). The
  trace back prefers a match or substitution, then a deletion of a hypothesis word, then an insertion.
- A shift moves 1 to 10 words to equal words of the reference, at most 50 positions away. Some words of both runs must
  be wrong, and the run must not be aligned with itself. Targets are before, between and after the words that the
  reference's run is aligned with. The best shift saves most edits, then is the longest, then starts first, then has the
  first target.
- Shifts are made while they save edits. After 1000 candidates were tried for a pair of texts, no more shifts are made.
"""

import math

MOST_SHIFTED, FARTHEST, BEAM, MOST_TRIED = 10, 50, 25, 1000


def matrix(hypothesis, reference):
    """Return for all pairs of prefixes the distance, infinite outside of the beam, and the last step to it."""
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
    """Return for each reference word the last hypothesis word aligned up to it, and which words of both are wrong."""
    cells = matrix(hypothesis, reference)
    i, j = len(hypothesis), len(reference)
    aligned, wrong_words, wrong_references = [0] * j, [True] * i, [True] * j
    while i or j:
        step = cells[i, j][1]
        if step != "up":
            aligned[j - 1] = i - 1
        if step == "both":
            wrong_words[i - 1] = wrong_references[j - 1] = hypothesis[i - 1] != reference[j - 1]
        i -= step != "left"
        j -= step != "up"
    return aligned, wrong_words, wrong_references


def shifted(words, start, length, target):
    moved, rest = words[start : start + length], words[:start] + words[start + length :]
    if target > start + length:
        target -= length  # a position among the other words; a target inside the run stays as it is
    return rest[:target] + moved + rest[target:]


def candidates(hypothesis, reference):
    """Yield the shifts to try, in their order, as lists of (start, length, target), one list per pair of equal runs."""
    aligned, wrong_words, wrong_references = align(hypothesis, reference)
    for i in range(len(hypothesis)):
        for j in range(len(reference)):
            for length in range(1, MOST_SHIFTED + 1):
                same = hypothesis[i : i + length] == reference[j : j + length]
                if abs(i - j) > FARTHEST or not same or i + length > len(hypothesis) or j + length > len(reference):
                    break
                stays = i <= aligned[j] < i + length
                if stays or not any(wrong_words[i : i + length]) or not any(wrong_references[j : j + length]):
                    continue
                targets = [aligned[j - 1] + 1 if j else 0, *(aligned[j + k] + 1 for k in range(length))]
                yield [(i, length, t) for k, t in enumerate(targets) if k == 0 or t != targets[k - 1]]


def edits(hypothesis, reference):
    """Return the number of edits of one pair of lists of words."""
    if not reference:
        return len(hypothesis)
    shifts = tried = 0
    while True:
        before = distance(hypothesis, reference)
        best = None
        for group in candidates(hypothesis, reference):
            for start, length, target in group:
                words = shifted(hypothesis, start, length, target)
                rank = (before - distance(words, reference), length, -start, -target)
                if best is None or rank > best[0]:
                    best = rank, words
            tried += len(group)
            if tried >= MOST_TRIED:
                break
        if tried >= MOST_TRIED or best is None or best[0][0] <= 0:
            return shifts + before
        shifts += 1
        hypothesis = best[1]


def corpus(hypotheses, references):
    """Return the sums over segments of edits and of mean reference lengths. References: lists of words per segment."""
    pairs = zip(hypotheses, references, strict=True)
    total = sum(min(edits(words, other) for other in others) for words, others in pairs)
    return total, math.fsum(sum(map(len, others)) / len(others) for others in references)
