"""Pascal VOC's average precision as its devkit computes it, in plain Python and with exact ratios.

M. Everingham, L. Van Gool, C. K. I. Williams, J. Winn, A. Zisserman (2010), The Pascal visual object classes (VOC)
challenge, International Journal of Computer Vision 88(2), section 4.2; the rule is that of the devkit's VOCevaldet.m (a
detection goes to the object of its image that it overlaps most, also where that one is found already; an overlap that
is equal to the least one is enough), the area that of VOCap.m (VOC2010 and later), the eleven points those of VOC2007.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Box = Sequence[float]
Object = tuple[Any, Any, Box, bool]  # image, category, corners, difficult
Detection = tuple[Any, Any, Box, float]  # image, category, corners, score


class ClassResult(NamedTuple):
    ap: Fraction | None
    hits: list[int]  # after each detection that counts: true positives
    ranks: list[int]  # and detections so far
    n_truth: int


def overlap(first: Box, second: Box, border: int = 0) -> float:
    """Intersection over union, in the order of operations that everybody uses."""
    width = min(first[2], second[2]) - max(first[0], second[0]) + border
    height = min(first[3], second[3]) - max(first[1], second[1]) + border
    if width <= 0 or height <= 0:
        return 0.0
    shared = width * height
    return shared / (size(first, border) + size(second, border) - shared)


def size(box: Box, border: int) -> float:
    return (box[2] - box[0] + border) * (box[3] - box[1] + border)


def evaluate_class(
    objects: Sequence[Object], detections: Sequence[Detection], category: Any, least: float, border: int, points: bool
) -> ClassResult:
    """One class: objects that are difficult are neither found nor missed."""
    own = [each for each in objects if each[1] == category]
    found = [False] * len(own)
    n_truth = sum(not difficult for *_, difficult in own)
    hits, ranks = [0], [0]
    # sorted() is stable: equal scores stay as they were given.
    for image, _, box, _ in sorted((each for each in detections if each[1] == category), key=lambda each: -each[3]):
        best, most = -1, -1.0
        for place, (where, _, truth, _) in enumerate(own):
            if where == image and overlap(box, truth, border) > most:
                best, most = place, overlap(box, truth, border)
        hit = False
        if best >= 0 and most >= least:
            if own[best][3]:
                continue
            hit = not found[best]
            found[best] = True
        hits.append(hits[-1] + hit)
        ranks.append(ranks[-1] + 1)
    hits, ranks = hits[1:], ranks[1:]
    if not n_truth:
        return ClassResult(None, hits, ranks, 0)
    recall = [Fraction(each, n_truth) for each in hits]
    precision = [Fraction(each, rank) for each, rank in zip(hits, ranks, strict=True)]
    ap = eleven_points(recall, precision) if points else area(recall, precision)
    return ClassResult(ap, hits, ranks, n_truth)


def eleven_points(recall: Sequence[Fraction], precision: Sequence[Fraction]) -> Fraction:
    best = [
        max((p for r, p in zip(recall, precision, strict=True) if r >= Fraction(tenth, 10)), default=Fraction(0))
        for tenth in range(11)
    ]
    return sum(best, Fraction(0)) / 11


def area(recall: Sequence[Fraction], precision: Sequence[Fraction]) -> Fraction:
    """Below the envelope: precision never rises with recall."""
    recalls = [Fraction(0), *recall, Fraction(1)]
    envelope = [Fraction(0), *precision, Fraction(0)]
    for place in reversed(range(len(envelope) - 1)):
        envelope[place] = max(envelope[place], envelope[place + 1])
    return sum(
        ((recalls[i] - recalls[i - 1]) * envelope[i] for i in range(1, len(recalls))), Fraction(0)
    )
