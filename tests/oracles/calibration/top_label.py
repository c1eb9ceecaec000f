"""Expected calibration error of the most probable class.

Guo, C., Pleiss, G., Sun, Y. and Weinberger, K. Q. (2017). On calibration of modern neural networks. ICML. Bins are
those of `expected_calibration_error`: min(floor(p * n_bins), n_bins - 1).
"""

from __future__ import annotations

from collections import defaultdict
from fractions import Fraction
from typing import Any


def ece(codes: Any, matrix: Any, n_bins: int = 15, weights: Any = None) -> float:
    members = defaultdict(list)
    for row, probabilities in enumerate(matrix):
        confidence = max(probabilities)
        predicted = list(probabilities).index(confidence)
        weight = Fraction(1) if weights is None else Fraction(float(weights[row]))
        bin_number = min(int(confidence * n_bins), n_bins - 1)
        members[bin_number].append((weight, Fraction(float(confidence)), predicted == codes[row]))
    total = sum(weight for own in members.values() for weight, _, _ in own)
    gaps = [abs(sum(weight * (p - right) for weight, p, right in own)) for own in members.values()]
    return float(sum(gaps) / total)
