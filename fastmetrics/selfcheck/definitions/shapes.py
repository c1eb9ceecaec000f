"""Boxes and masks."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Box = Sequence[float]  # left, top, right, bottom
Mask = Sequence[Sequence[int]]


def box_iou(one: Box, other: Box) -> Fraction:
    width = max(0, min(one[2], other[2]) - max(one[0], other[0]))
    height = max(0, min(one[3], other[3]) - max(one[1], other[1]))
    shared = Fraction(width) * Fraction(height)
    areas = [Fraction(box[2] - box[0]) * Fraction(box[3] - box[1]) for box in (one, other)]
    return shared / (sum(areas) - shared) if shared else Fraction(0)


def mask_area(mask: Mask) -> int:
    return sum(map(sum, mask))


def mask_iou(one: Mask, other: Mask) -> Fraction:
    pairs = [pixels for rows in zip(one, other, strict=True) for pixels in zip(*rows, strict=True)]
    union = sum(map(any, pairs))
    return Fraction(sum(map(all, pairs)), union) if union else Fraction(0)
