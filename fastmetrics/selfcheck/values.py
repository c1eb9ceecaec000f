"""Values of public functions beside definitions in plain Python, on drawn rows, and beside CHECKED_VALUES.

`tools/generate.py` reads here which definitions of the tests the package has.
"""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import chain
from types import MappingProxyType
from typing import Any

import fastmetrics
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.selfcheck.definitions import (
    averages,
    bleu,
    classification,
    clustering_information,
    clustering_pairs,
    copc,
    curves,
    detection,
    gauc,
    masks,
    probability,
    ranking_lists,
    regression,
    rouge,
    sign_flips,
    significance,
)
from fastmetrics.selfcheck.outcomes import SelfCheck, without_seed
from fastmetrics.testing.comparing import require, require_equal
from fastmetrics.testing.function_cases import checked_values
from fastmetrics.testing.function_checks import stated_values

DRAWS = 60
MOST_ROWS = 40
ROUNDING = 1e-12  # of values that are not rounded once: sums of rounded terms, and those with logarithms and roots
LISTS, LONGEST_LIST, CUTOFF = 6, 12, 3
WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog")
Draw = Callable[[random.Random], tuple[Any, ...]]


class DefinedValue(NamedTuple):
    """A public function and its definition, on the same drawn arguments.

    `call` makes the call of the function from the arguments; by default they are passed on. `exact`: the value is
    rounded once, so its bits are those of the definition.
    """

    family: str
    function: str
    definition: Callable[..., float | Fraction | None]
    draw: Draw
    call: Callable[..., Any] | None = None
    options: Mapping[str, Any] = MappingProxyType({})
    exact: bool = True

    def run(self, chance: random.Random) -> None:
        for number in range(DRAWS):
            drawn = self.draw(chance)
            expected = self.definition(*drawn)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = getattr(fastmetrics, self.function)
                found = self.call(function, *drawn) if self.call else function(*drawn, **self.options)
            require_value(expected, found, self.exact, f"draw {number}, {self.function}{drawn}")


def require_value(expected: float | Fraction | None, found: Any, exact: bool, where: str) -> None:
    """None, which is undefined, is NaN, or the value that scikit-learn gives."""
    found = float(found)
    if expected is None:
        require(math.isnan(found) or found in (0.0, 1.0), f"{where}: expected NaN, found {found}")
    elif exact:
        require_equal(float(expected) + 0.0, found + 0.0, where)
    else:
        close = math.isclose(float(expected), found, rel_tol=ROUNDING, abs_tol=ROUNDING)
        require(close, f"{where}: expected {expected}, found {found}")


def draw_scores(chance: random.Random) -> tuple[list[int], list[float]]:
    """Labels, and scores of few different values; sometimes of one class."""
    rows = chance.randint(1, MOST_ROWS)
    rate = chance.choice((0.0, 0.1, 0.5, 0.9, 1.0))
    return [int(chance.random() < rate) for _ in range(rows)], [chance.randint(1, 15) / 16 for _ in range(rows)]


def draw_grouped_scores(chance: random.Random) -> tuple[list[int], list[float], list[int]]:
    drawn = draw_scores(chance)
    return (*drawn, [chance.randrange(5) for _ in drawn[0]])


def draw_predictions(chance: random.Random) -> tuple[list[int], list[int]]:
    true, _ = draw_scores(chance)
    return true, [own if chance.random() < 0.7 else 1 - own for own in true]


def draw_partitions(chance: random.Random) -> tuple[list[int], list[int]]:
    rows = chance.randint(2, MOST_ROWS)
    return [chance.randrange(4) for _ in range(rows)], [chance.randrange(5) for _ in range(rows)]


def draw_numbers(chance: random.Random) -> tuple[list[float], list[float]]:
    """Numbers of few bits, whose differences are exact."""
    rows = chance.randint(2, MOST_ROWS)
    return [chance.randrange(144) / 16 for _ in range(rows)], [chance.randrange(144) / 16 for _ in range(rows)]


def draw_lists(chance: random.Random) -> tuple[list[list[int]], list[list[float]]]:
    """Grades 0 to 3 of a few lists, and scores without ties."""
    lengths = [chance.randint(1, LONGEST_LIST) for _ in range(LISTS)]
    grades = [[chance.choice((0, 0, 0, 1, 2, 3)) for _ in range(length)] for length in lengths]
    return grades, [chance.sample(range(100), length) for length in lengths]


def draw_texts(chance: random.Random) -> tuple[list[list[str]], list[list[str]]]:
    pairs = [[chance.choices(WORDS, k=chance.randint(1, 12)) for _ in range(2)] for _ in range(4)]
    return [one for one, _ in pairs], [other for _, other in pairs]


def draw_two_texts(chance: random.Random) -> tuple[list[str], list[str]]:
    hypotheses, references = draw_texts(chance)
    return hypotheses[0], references[0]


def draw_boxes(chance: random.Random) -> tuple[list[int], list[int]]:
    corners = [[chance.randrange(20) for _ in range(2)] for _ in range(2)]
    first, second = ([x, y, x + chance.randint(1, 20), y + chance.randint(1, 20)] for x, y in corners)
    return first, second


def draw_masks(chance: random.Random) -> tuple[list[list[int]], list[list[int]]]:
    height, width = chance.randint(1, 12), chance.randint(1, 12)
    first, second = ([[chance.randrange(2) for _ in range(width)] for _ in range(height)] for _ in range(2))
    return first, second


def draw_differences(chance: random.Random) -> tuple[list[int]]:
    return ([chance.randint(-5, 5) or 1 for _ in range(chance.randint(2, 9))],)


def draw_counts(chance: random.Random) -> tuple[int, int]:
    return chance.randrange(30), chance.randint(1, 30)


def of_lists(**options: Any) -> Callable[..., Any]:
    """Call a function of ranked lists: rows of all lists, and the list of each row."""

    def call(function: Callable[..., Any], grades: list[list[int]], values: list[list[float]]) -> Any:
        groups = [number for number, own in enumerate(grades) for _ in own]
        return function([*chain(*grades)], [*chain(*values)], groups, **options)

    return call


def of_texts(function: Callable[..., Any], hypotheses: list[list[str]], references: list[list[str]]) -> Any:
    joined = [[" ".join(words) for words in texts] for texts in (hypotheses, references)]
    return function(*joined, tokenize="none", smooth="none").score


def rouge_of(function: Callable[..., Any], hypothesis: list[str], reference: list[str]) -> Any:
    return function([" ".join(hypothesis)], [" ".join(reference)], "rougeL")["rougeL"].fmeasure


def mask_array(mask: list[list[int]]) -> Any:
    import numpy as np

    return np.array([mask], np.uint8)


def of_counts(ratio: Callable[[averages.BinaryCounts], float | Fraction | None]) -> Callable[..., Any]:
    """A ratio of the counts of label 1."""
    return lambda true, predicted: ratio(averages.cells_of_label(true, predicted, 1))


def over_lists(measure: Callable[..., float | Fraction | None], **options: Any) -> Callable[..., Any]:
    """The mean of a measure of ranked lists, without tied scores."""

    def mean(grades: list[list[int]], scores: list[list[float]]) -> float | Fraction | None:
        values = [measure(by_score(*own), **options) for own in zip(grades, scores, strict=True)]
        return ranking_lists.mean(values)

    return mean


def by_score(grades: Sequence[int], scores: Sequence[float]) -> list[int]:
    return [grades[row] for row in sorted(range(len(grades)), key=lambda row: -scores[row])]


def largest_error(true: list[float], predicted: list[float]) -> Fraction:
    return max(map(regression.absolute, true, predicted))


def mutual_information(classes: list[int], clusters: list[int]) -> float:
    return float(clustering_information.mutual_information(clustering_information.cells_of(classes, clusters)))


def corpus_bleu(hypotheses: list[list[str]], references: list[list[str]]) -> float:
    segments = [bleu.segment(one, [other]) for one, other in zip(hypotheses, references, strict=True)]
    return bleu.corpus(segments, smooth="none")


def rouge_l(hypothesis: list[str], reference: list[str]) -> float:
    lengths = len(hypothesis), len(reference)
    return rouge.values(rouge.lcs_table(hypothesis, reference)[lengths], *lengths)[2]


def box_iou(one: list[int], other: list[int]) -> float:
    found, truth = (
        {"bbox": (left, top, right - left, bottom - top)} for left, top, right, bottom in (one, other)
    )
    return detection.box_iou(found, truth)


def mask_iou(one: list[list[int]], other: list[list[int]]) -> float:
    found, truth = (
        {(row, column) for row, pixels in enumerate(mask) for column, pixel in enumerate(pixels) if pixel}
        for mask in (one, other)
    )
    return masks.iou(found, truth)


MEASURES_AT_CUTOFF: dict[str, Callable[..., Any]] = {
    "ndcg_score": ranking_lists.ndcg,
    "precision_at_k": ranking_lists.precision,
    "recall_at_k": ranking_lists.recall,
    "hit_rate": ranking_lists.hit,
}
MEASURES: dict[str, Callable[..., Any]] = {
    "mean_reciprocal_rank": ranking_lists.reciprocal_rank,
    "mean_average_precision": ranking_lists.average_precision,
}
LEAST = probability.EPSILON["float64"]
SQUARED, ABSOLUTE, SQUARED_LOG = (
    partial(regression.mean, term) for term in (regression.squared, regression.absolute, regression.squared_log)
)
LOG_LOSS = partial(probability.log_loss, eps=LEAST)
ENTROPY = partial(probability.normalized_entropy, eps=LEAST)
FLIPS = partial(sign_flips.share_of_assignments, alternative="two-sided")
F1 = partial(averages.fbeta, beta=1)
COMPARISONS = (
    DefinedValue("curves", "roc_auc_score", curves.auc, draw_scores),
    DefinedValue("curves", "average_precision_score", curves.average_precision, draw_scores, exact=False),
    DefinedValue("curves", "ks_statistic", curves.ks, draw_scores),
    DefinedValue("probability", "log_loss", LOG_LOSS, draw_scores, options={"labels": [0, 1]}, exact=False),
    DefinedValue("probability", "brier_score_loss", probability.brier, draw_scores, options={"labels": [0, 1]}),
    DefinedValue("probability", "normalized_entropy", ENTROPY, draw_scores, exact=False),
    DefinedValue("calibration", "copc", copc.copc, draw_scores),
    DefinedValue("classification", "accuracy_score", classification.accuracy, draw_predictions),
    DefinedValue("classification", "precision_score", of_counts(averages.precision), draw_predictions),
    DefinedValue("classification", "recall_score", of_counts(averages.recall), draw_predictions),
    DefinedValue("classification", "f1_score", of_counts(F1), draw_predictions),
    DefinedValue("classification", "matthews_corrcoef", of_counts(averages.mcc), draw_predictions, exact=False),
    DefinedValue("classification", "cohen_kappa_score", classification.kappa, draw_partitions),
    DefinedValue("regression", "mean_squared_error", SQUARED, draw_numbers),
    DefinedValue("regression", "mean_absolute_error", ABSOLUTE, draw_numbers),
    DefinedValue("regression", "max_error", largest_error, draw_numbers),
    DefinedValue("regression", "median_absolute_error", regression.median_absolute, draw_numbers),
    DefinedValue("regression", "r2_score", regression.r2, draw_numbers),
    DefinedValue("regression", "mean_squared_log_error", SQUARED_LOG, draw_numbers, exact=False),
    DefinedValue("ranking", "gauc_score", gauc.gauc, draw_grouped_scores, exact=False),
    *(
        DefinedValue("ranking", name, over_lists(measure, k=CUTOFF), draw_lists, of_lists(k=CUTOFF), exact=False)
        for name, measure in MEASURES_AT_CUTOFF.items()
    ),
    *(
        DefinedValue("ranking", name, over_lists(measure), draw_lists, of_lists(), exact=False)
        for name, measure in MEASURES.items()
    ),
    DefinedValue("clustering", "rand_score", clustering_pairs.rand, draw_partitions),
    DefinedValue("clustering", "adjusted_rand_score", clustering_pairs.adjusted_rand, draw_partitions),
    DefinedValue("clustering", "purity_score", clustering_pairs.purity, draw_partitions),
    DefinedValue("clustering", "mutual_info_score", mutual_information, draw_partitions, exact=False),
    DefinedValue("text", "corpus_bleu", corpus_bleu, draw_texts, of_texts, exact=False),
    DefinedValue("text", "rouge_score", rouge_l, draw_two_texts, rouge_of, exact=False),
    DefinedValue("detection", "box_iou", box_iou, draw_boxes, lambda iou, one, other: iou([one], [other])[0, 0]),
    DefinedValue(
        "detection", "mask_iou", mask_iou, draw_masks,
        lambda iou, one, other: iou(mask_array(one), mask_array(other))[0, 0],
    ),
    DefinedValue(
        "significance", "sign_flip_test", FLIPS, draw_differences,
        lambda test, differences: test(differences, ci=None).pvalue,
    ),
    DefinedValue(
        "significance", "mcnemar_test", lambda one, other: significance.mcnemar(one, other)[0], draw_counts,
        lambda test, one, other: test([[5, one], [other, 5]]).pvalue, exact=False,
    ),
)  # fmt: skip


def value_checks() -> Iterator[SelfCheck]:
    """A check for each function with a definition, and for each with CHECKED_VALUES."""
    for own in COMPARISONS:
        yield SelfCheck(own.family, f"{own.function}: its definition", own.run)
    for name in sorted(fastmetrics.__all__):
        function = getattr(fastmetrics, name)
        if callable(function) and checked_values(function):
            family = function.__module__.split(".")[2]
            yield SelfCheck(family, f"{name}: its checked values", without_seed(partial(stated_values, function)))
