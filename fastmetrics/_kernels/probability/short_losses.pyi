# Written by tools/generate.py from short_losses.pyx.

from typing import Any


LOGARITHMS: int
SQUARES: int
PROBABILITIES: int
MAX_BINS: int

def sum_terms(y_true: Any, y_proba: Any, weights: Any, terms: int) -> tuple[int, int, int, int, int] | None: ...
def calibration_curve(y_true: Any, y_prob: Any, n_bins: int, prob_true: Any, prob_pred: Any) -> int | None: ...
def calibration_error(y_true: Any, y_proba: Any, n_bins: int) -> float | None: ...
