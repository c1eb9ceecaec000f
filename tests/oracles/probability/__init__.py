"""Probabilities against labels: log loss, Brier score, normalized entropy, calibration error.

Every sum is exact and rounded once. A logarithm is that of the C library (`math.log`), with an error of at most one
unit in the last place. Values with logarithms are floats; all others are a `Fraction`.
"""

import math
from collections.abc import Sequence
from fractions import Fraction

from oracles.curves import Number
from oracles.sums import rounded, total

EPSILON = {"float16": 2.0**-10, "float32": 2.0**-23, "float64": 2.0**-52}


def unit_weights(weights: Sequence[Number] | None, length: int) -> list[Fraction]:
    return [Fraction(1)] * length if weights is None else [Fraction(weight) for weight in weights]


def clip(probability: float, eps: float) -> float:
    return min(max(float(probability), eps), 1.0 - eps)


def weighted_mean(terms: Sequence[Fraction], weights: Sequence[Fraction]) -> Fraction | None:
    mass = total(weights)
    return total(term * weight for term, weight in zip(terms, weights, strict=True)) / mass if mass else None


def log_loss(
    labels: Sequence[int],
    probabilities: Sequence[float],
    eps: float,
    weights: Sequence[Number] | None = None,
    normalize: bool = True,
) -> float | None:
    """Binary log loss, natural logarithm. The probability of the label, p or 1 - p, is clipped to [eps, 1 - eps].

    C. M. Bishop (2006), Pattern Recognition and Machine Learning, p. 209; the clip as scikit-learn's.
    """
    outcomes = [float(p) if y == 1 else 1.0 - float(p) for y, p in zip(labels, probabilities, strict=True)]
    terms = [Fraction(-math.log(clip(outcome, eps))) for outcome in outcomes]
    row_weights = unit_weights(weights, len(terms))
    if not normalize:
        return float(total(term * weight for term, weight in zip(terms, row_weights, strict=True)))
    mean = weighted_mean(terms, row_weights)
    return None if mean is None else float(mean)


def rows_clipped(probabilities: Sequence[float], eps: float) -> int:
    return sum(1 for probability in probabilities if clip(probability, eps) != float(probability))


def multiclass_log_loss(
    class_indices: Sequence[int],
    probabilities: Sequence[Sequence[float]],
    eps: float,
    weights: Sequence[Number] | None = None,
    normalize: bool = True,
) -> float | None:
    """Minus the mean log of the true class's clipped probability. Not divided by the number of classes."""
    true_class = [row[index] for index, row in zip(class_indices, probabilities, strict=True)]
    return log_loss([1] * len(true_class), true_class, eps, weights, normalize)


def brier(
    labels: Sequence[int], probabilities: Sequence[float], weights: Sequence[Number] | None = None
) -> Fraction | None:
    """Mean squared difference of probability and outcome: G. W. Brier (1950), Monthly Weather Review 78(1), halved."""
    terms = [
        (Fraction(float(probability)) - (1 if label == 1 else 0)) ** 2
        for label, probability in zip(labels, probabilities, strict=True)
    ]
    return weighted_mean(terms, unit_weights(weights, len(terms)))


def multiclass_brier(
    class_indices: Sequence[int], probabilities: Sequence[Sequence[float]], weights: Sequence[Number] | None = None
) -> Fraction | None:
    """Brier's original score: the squared differences summed over the classes, between 0 and 2."""
    terms = [
        total((Fraction(float(p)) - (1 if column == index else 0)) ** 2 for column, p in enumerate(row))
        for index, row in zip(class_indices, probabilities, strict=True)
    ]
    return weighted_mean(terms, unit_weights(weights, len(terms)))


def observed_rate(labels: Sequence[int], weights: Sequence[Number] | None = None) -> Fraction | None:
    terms = [Fraction(1 if label == 1 else 0) for label in labels]
    return weighted_mean(terms, unit_weights(weights, len(terms)))


def entropy(rate: float) -> float:
    """Entropy in nats of a coin with this rate."""
    return -sum(p * math.log(p) for p in (rate, 1.0 - rate) if p > 0)


def normalized_entropy(
    labels: Sequence[int],
    probabilities: Sequence[float],
    eps: float,
    base_rate: float | None = None,
    weights: Sequence[Number] | None = None,
) -> float | None:
    """Log loss over the entropy of the base rate (None: the observed rate). Undefined if that entropy is 0.

    X. He et al. (2014), Practical lessons from predicting clicks on ads at Facebook, ADKDD, equation 3.
    """
    loss = log_loss(labels, probabilities, eps, weights)
    rate = observed_rate(labels, weights) if base_rate is None else base_rate
    if loss is None or rate is None or not 0 < rate < 1:
        return None
    return loss / entropy(float(rate))


def uniform_bins(probabilities: Sequence[float], n_bins: int) -> list[int]:
    """Bin of every row: floor(p * n_bins) in double precision, p = 1 in the last bin."""
    return [min(int(float(p) * n_bins), n_bins - 1) for p in probabilities]


def quantile_bins(probabilities: Sequence[float], n_bins: int) -> list[int]:
    """Bin of every row: sorted rows are cut at ceil(n * j / n_bins); a tie is in the bin of its first row."""
    length = len(probabilities)
    order = sorted(range(length), key=lambda row: float(probabilities[row]))
    cuts = [-((-length * j) // n_bins) for j in range(1, n_bins)]
    bin_of = [0] * length
    current = 0
    for position, row in enumerate(order):
        if position == 0 or float(probabilities[row]) != float(probabilities[order[position - 1]]):
            current = sum(1 for cut in cuts if cut <= position)
        bin_of[row] = current
    return bin_of


def ece(
    labels: Sequence[int],
    probabilities: Sequence[float],
    n_bins: int = 15,
    strategy: str = "uniform",
    norm: str = "l1",
    weights: Sequence[Number] | None = None,
) -> Fraction | float | None:
    """Expected calibration error: the gap of mean label and mean probability in each bin, weighted by the bin's share.

    M. P. Naeini, G. F. Cooper, M. Hauskrecht (2015), Obtaining well calibrated probabilities using Bayesian binning,
    AAAI ("l1", "max"); A. Kumar, P. Liang, T. Ma (2019), Verified uncertainty calibration, NeurIPS ("l2").
    """
    row_weights = unit_weights(weights, len(labels))
    kept = [row for row, weight in enumerate(row_weights) if weight > 0]
    if not kept:
        return None
    assign = uniform_bins if strategy == "uniform" else quantile_bins
    bin_of = assign([probabilities[row] for row in kept], n_bins)
    mass: dict[int, Fraction] = {}
    gap: dict[int, Fraction] = {}
    for row, index in zip(kept, bin_of, strict=True):
        outcome = 1 if labels[row] == 1 else 0
        mass[index] = mass.get(index, Fraction(0)) + row_weights[row]
        gap[index] = gap.get(index, Fraction(0)) + row_weights[row] * (outcome - Fraction(float(probabilities[row])))
    if norm == "l1":
        return total(abs(gap[index]) for index in mass) / total(mass.values())
    if norm == "max":
        return max(abs(gap[index]) / mass[index] for index in mass)
    return math.sqrt(total(gap[index] ** 2 / mass[index] for index in mass) / total(mass.values()))


def corrected(probability: float, rate: float) -> float:
    """Correct a probability of a model that was trained on a share `rate` of the negatives and on all positives.

    X. He et al. (2014), Practical lessons from predicting clicks on ads at Facebook, ADKDD, section 6.3:
    q = p / (p + (1 - p) / w), computed in doubles in this order.
    """
    p = float(probability)
    return p / (p + (1.0 - p) / rate)


def negative_log_likelihood(
    log_probabilities: Sequence[float], weights: Sequence[Number] | None = None, mean: bool = True
) -> float | None:
    """Minus the (mean) log-probability of the observed events."""
    row_weights = unit_weights(weights, len(log_probabilities))
    kept = [row for row, weight in enumerate(row_weights) if weight]
    if any(log_probabilities[row] == -math.inf for row in kept):
        return math.inf
    terms = [Fraction(-float(log_probabilities[row])) for row in kept]
    kept_weights = [row_weights[row] for row in kept]
    if not mean:
        return rounded(total(term * weight for term, weight in zip(terms, kept_weights, strict=True)))
    value = weighted_mean(terms, kept_weights)
    return None if value is None else rounded(value)


def class_shares(class_indices: Sequence[int], n_classes: int, weights: Sequence[Number] | None) -> list[Fraction]:
    row_weights = unit_weights(weights, len(class_indices))
    mass = total(row_weights)
    return [
        total(weight for index, weight in zip(class_indices, row_weights, strict=True) if index == one) / mass
        for one in range(n_classes)
    ]


def d2_log_loss(
    class_indices: Sequence[int],
    probabilities: Sequence[Sequence[float]],
    eps: float,
    weights: Sequence[Number] | None = None,
) -> float:
    """1 - log loss / log loss of always predicting the shares of the classes (which float64 clips too).

    T. Hastie, R. Tibshirani, M. Wainwright (2015), Statistical learning with sparsity, eq. 3.11: the share of the
    deviance explained.
    """
    loss = multiclass_log_loss(class_indices, probabilities, eps, weights)
    null = 0.0
    for share in class_shares(class_indices, len(probabilities[0]), weights):
        if share:
            rest, least = float(1 - share), EPSILON["float64"]
            log = math.log1p(-rest) if share > Fraction(1, 2) else math.log(max(float(share), least))
            null -= float(share) * (log if rest > least else math.log(1 - least))
    assert loss is not None
    return 1 - loss / null


def d2_brier(
    class_indices: Sequence[int], probabilities: Sequence[Sequence[float]], weights: Sequence[Number] | None = None
) -> Fraction | None:
    """Brier skill score: 1 - Brier score / that of always predicting the shares of the classes. None if undefined.

    G. W. Brier (1950); A. H. Murphy (1973), Journal of Applied Meteorology 12.
    """
    score = multiclass_brier(class_indices, probabilities, weights)
    null = total(share * (1 - share) for share in class_shares(class_indices, len(probabilities[0]), weights))
    return 1 - score / null if null and score is not None else None


def equal_edges(n_bins: int) -> list[float]:
    """The inner edges of bins of equal width, in doubles: multiples of 1 / n_bins."""
    return [k * (1.0 / n_bins) for k in range(1, n_bins)]


def quantile_edges(probabilities: Sequence[float], n_bins: int) -> list[float]:
    """The inner quantiles k / n_bins, interpolated as R's type 7: R. J. Hyndman, Y. Fan (1996), Sample quantiles."""
    ordered = sorted(map(float, probabilities))
    edges = []
    for k in range(1, n_bins):
        position = (len(ordered) - 1) * (k * (1.0 / n_bins) * 100 / 100)
        below = math.floor(position)
        low, high = ordered[below], ordered[min(below + 1, len(ordered) - 1)]
        share = position - below
        edges.append(high - (high - low) * (1 - share) if share >= 0.5 else low + (high - low) * share)
    return edges


def calibration_curve(
    labels: Sequence[int], probabilities: Sequence[float], edges: Sequence[float]
) -> tuple[list[Fraction], list[Fraction]]:
    """Share of positives and mean probability of the bins with rows; a row is in the first bin with p <= edge.

    A. Niculescu-Mizil, R. Caruana (2005), Predicting good probabilities with supervised learning, ICML, section 4.
    """
    members: dict[int, list[int]] = {}
    for row, p in enumerate(probabilities):
        members.setdefault(sum(1 for edge in edges if edge < float(p)), []).append(row)
    bins = [members[index] for index in sorted(members)]
    shares = [Fraction(sum(1 for row in rows if labels[row] == 1), len(rows)) for rows in bins]
    return shares, [total(Fraction(float(probabilities[row])) for row in rows) / len(rows) for rows in bins]
