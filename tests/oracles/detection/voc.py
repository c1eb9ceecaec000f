"""The definition of Pascal VOC's average precision, in plain Python with exact ratios.

M. Everingham, L. Van Gool, C. K. I. Williams, J. Winn, A. Zisserman (2010), The Pascal visual object classes (VOC)
challenge, International Journal of Computer Vision 88(2), section 4.2. The rule is that of the devkit's VOCevaldet.m: a
detection is compared with the object of its image with the highest IoU, even if that object is already found, and an
IoU equal to the threshold is enough. The area is that of VOCap.m (VOC2010 and later), the eleven points are those of
VOC2007.
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import Any, NamedTuple

Box = Sequence[float]
Object = tuple[Any, Any, Box, bool]  # image, category, corners, difficult
Detection = tuple[Any, Any, Box, float]  # image, category, corners, score


class ClassResult(NamedTuple):
    ap: Fraction | None
    hits: list[int]  # true positives after each detection that counts
    ranks: list[int]  # and the number of these detections
    n_truth: int


def iou(first: Box, second: Box, border: int = 0) -> float:
    """Intersection over union, with the usual order of operations."""
    width = min(first[2], second[2]) - max(first[0], second[0]) + border
    height = min(first[3], second[3]) - max(first[1], second[1]) + border
    if width <= 0 or height <= 0:
        return 0.0
    intersection = width * height
    return intersection / (size(first, border) + size(second, border) - intersection)


def size(box: Box, border: int) -> float:
    return (box[2] - box[0] + border) * (box[3] - box[1] + border)


def evaluate_class(
    objects: Sequence[Object], detections: Sequence[Detection], category: Any, threshold: float, border: int,
    points: bool,
) -> ClassResult:
    """Evaluate one class. Difficult objects count neither as found nor as missed."""
    objects_of_class = [each for each in objects if each[1] == category]
    found = [False] * len(objects_of_class)
    n_truth = sum(not difficult for *_, difficult in objects_of_class)
    hits, ranks = [0], [0]
    # sorted() is stable: equal scores keep their input order.
    for image, _, box, _ in sorted((each for each in detections if each[1] == category), key=lambda each: -each[3]):
        best, best_iou = -1, -1.0
        for index, (object_image, _, truth, _) in enumerate(objects_of_class):
            if object_image == image and iou(box, truth, border) > best_iou:
                best, best_iou = index, iou(box, truth, border)
        hit = False
        if best >= 0 and best_iou >= threshold:
            if objects_of_class[best][3]:
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
    """The area below the envelope, on which precision never increases with recall."""
    recalls = [Fraction(0), *recall, Fraction(1)]
    envelope = [Fraction(0), *precision, Fraction(0)]
    for index in reversed(range(len(envelope) - 1)):
        envelope[index] = max(envelope[index], envelope[index + 1])
    return sum(
        ((recalls[i] - recalls[i - 1]) * envelope[i] for i in range(1, len(recalls))), Fraction(0)
    )
