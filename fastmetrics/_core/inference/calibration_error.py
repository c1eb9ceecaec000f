"""The interval of a calibration error, the sum of the sizes of all bins' errors |D_k|.

Of a calibrated model every |D_k| is noise, so the sum lies above the true error. The usual interval about it then
covers the truth in 4 to 18 % of logs; this one in 94 to 97 %, and in 95 to 100 % otherwise.

Upper end: the sum plus t times its error. A true error delta is at most what is seen of it: |delta + e| >= |delta| +
sgn(delta) e. The signs of bins in doubt may be others, so their covariances count with their sizes.
Lower end: a bin is clear if its error is beyond sqrt(2 ln 2K) standard deviations, which K bins of noise hardly ever
exceed (D. Donoho, I. Johnstone, "Ideal spatial adaptation by wavelet shrinkage", 1994). The others might be noise. Its
sizes are half-normal, with the mean sqrt(2 / pi) sd and, at the correlation r, the covariance 2 / pi (r asin r +
sqrt(1 - r^2) - 1) sd sd (S. Nabeya, "Absolute moments in 2-dimensional normal distribution", 1951). The end is the sum
less an upper quantile of the noise: its mean, and t times its error together with that of the clear bins.
"""

from __future__ import annotations

import math

import numpy as np

from fastmetrics._core.distributions.student import student_quantile
from fastmetrics._core.elementary import arcsin, log
from fastmetrics._core.exact import exact_sum
from fastmetrics._core.inference.errors import ErrorEstimate, estimate_covariance, estimate_error
from fastmetrics._core.inference.intervals import ConfidenceInterval, why_no_error


def calibration_interval(
    bin_errors: np.ndarray, contributions: np.ndarray, n_effective: int, level: float
) -> tuple[ConfidenceInterval, ErrorEstimate]:
    """The interval of sum |D_k| in [0, 1], and the error of the sum with the signs that are seen.

    `bin_errors` are D (bins), signed: the sum of (label - probability) in a bin, divided by the number of all rows.
    `contributions` (units, bins) are those of the units with weight to every bin.
    """
    signs = np.where(bin_errors < 0, -1.0, 1.0)
    columns = np.ascontiguousarray((contributions * signs).T)
    changes = np.zeros(len(contributions))
    for column in columns:  # in this order: NumPy's own sum has another on other processors
        changes += column
    error = estimate_error(changes, n_effective)
    missing = why_no_error(error)
    if missing is not None:
        return ConfidenceInterval(None, missing), error
    signed = covariances(columns)
    deviations = np.sqrt(signed.diagonal())
    n_bins = int(np.count_nonzero(deviations))
    if not n_bins:
        return ConfidenceInterval(None, "no unit changes the value, so it has no error to estimate"), error
    total, t = exact_sum(np.abs(bin_errors)), student_quantile(level, error.df)
    in_doubt = np.abs(bin_errors) <= math.sqrt(2 * log(2 * n_bins)) * deviations
    pairs_in_doubt, clear_pairs = np.outer(in_doubt, in_doubt), np.outer(~in_doubt, ~in_doubt)
    upper_variance = exact_sum(np.where(pairs_in_doubt, np.abs(signed), signed).reshape(-1))
    noise = np.where(pairs_in_doubt, half_normal_covariances(signed, deviations), np.where(clear_pairs, signed, 0.0))
    mean = math.sqrt(2 / math.pi) * exact_sum(np.where(in_doubt, deviations, 0.0))
    low = total - mean - t * math.sqrt(max(exact_sum(noise.reshape(-1)), 0.0))
    high = total + t * math.sqrt(upper_variance)
    return ConfidenceInterval((max(low, 0.0), min(max(high, math.nextafter(total, 2.0)), 1.0))), error


def covariances(columns: np.ndarray) -> np.ndarray:
    """The covariances of all rows of contributions in pairs."""
    found = np.zeros((len(columns), len(columns)))
    used = np.flatnonzero(columns.any(axis=1)).tolist()
    for place, one in enumerate(used):
        for other in used[place:]:
            found[one, other] = found[other, one] = estimate_covariance(columns[one], columns[other])
    return found


def half_normal_covariances(covariance: np.ndarray, deviations: np.ndarray) -> np.ndarray:
    """The covariances of the sizes of normal variables of mean 0."""
    sizes = np.outer(deviations, deviations)
    r = np.clip(np.divide(covariance, sizes, out=np.zeros_like(sizes), where=sizes > 0), -1.0, 1.0)
    return np.asarray((r * arcsin(r) + np.sqrt(1 - r * r) - 1) * (2 / math.pi) * sizes)
