"""Values of public functions beside definitions in plain Python, on drawn rows, and beside CHECKED_VALUES."""

from __future__ import annotations

import math
import random
import warnings
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from types import MappingProxyType
from typing import Any

import fastmetrics
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.selfcheck.definitions import labels, lists, numbers, scores, shapes, significance, texts
from fastmetrics.selfcheck.outcomes import SelfCheck
from fastmetrics.testing.comparing import require, require_equal
from fastmetrics.testing.function_cases import checked_values

DRAWS = 60
MOST_ROWS = 40
ROUNDING = 1e-12  # of values that are not fractions: those with logarithms and roots
LISTS, LONGEST_LIST, CUTOFF = 6, 12, 3
WORDS = ("the", "cat", "sat", "on", "a", "mat", "dog")
Draw = Callable[[random.Random], tuple[Any, ...]]


class DefinedValue(NamedTuple):
    """A public function and its definition, on the same drawn arguments.

    `call` makes the call of the function from the arguments; by default they are passed on. `terms`: the value is a sum
    or product of terms that are rounded each, so its last digit may differ from the fraction.
    """

    family: str
    function: str
    definition: Callable[..., float | Fraction | None]
    draw: Draw
    call: Callable[..., Any] | None = None
    options: Mapping[str, Any] = MappingProxyType({})
    terms: bool = False

    def run(self, chance: random.Random) -> None:
        for number in range(DRAWS):
            drawn = self.draw(chance)
            expected = self.definition(*drawn)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                function = getattr(fastmetrics, self.function)
                found = self.call(function, *drawn) if self.call else function(*drawn, **self.options)
            if self.terms and expected is not None:
                expected = float(expected)
            require_value(expected, found, f"draw {number}, {self.function}{drawn}")


def require_value(expected: float | Fraction | None, found: Any, where: str) -> None:
    """A fraction is rounded once, so the bits must be equal; None is NaN, or the value that scikit-learn gives."""
    found = float(found)
    if expected is None:
        require(math.isnan(found) or found in (0.0, 1.0), f"{where}: expected NaN, found {found}")
    elif isinstance(expected, Fraction):
        require_equal(float(expected) + 0.0, found + 0.0, where)
    else:
        close = math.isclose(expected, found, rel_tol=ROUNDING, abs_tol=ROUNDING)
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


def cut(definition: Callable[..., float | Fraction]) -> Callable[..., float | Fraction]:
    return lambda *drawn: lists.mean(definition)(*drawn, k=CUTOFF)


AT_CUTOFF, WHOLE = of_lists(k=CUTOFF), of_lists()
MEAN_RR, MEAN_AP = lists.mean(lists.reciprocal_rank), lists.mean(lists.average_precision)
COMPARISONS = (
    DefinedValue("curves", "roc_auc_score", scores.roc_auc, draw_scores),
    DefinedValue("curves", "average_precision_score", scores.average_precision, draw_scores, terms=True),
    DefinedValue("curves", "ks_statistic", scores.ks_statistic, draw_scores),
    DefinedValue("probability", "log_loss", scores.log_loss, draw_scores, options={"labels": [0, 1]}),
    DefinedValue("probability", "brier_score_loss", scores.brier_score, draw_scores, options={"labels": [0, 1]}),
    DefinedValue("probability", "normalized_entropy", scores.normalized_entropy, draw_scores),
    DefinedValue("calibration", "copc", scores.copc, draw_scores),
    DefinedValue("classification", "accuracy_score", labels.accuracy, draw_predictions),
    DefinedValue("classification", "precision_score", labels.precision, draw_predictions),
    DefinedValue("classification", "recall_score", labels.recall, draw_predictions),
    DefinedValue("classification", "f1_score", labels.f1, draw_predictions),
    DefinedValue("classification", "matthews_corrcoef", labels.matthews, draw_predictions),
    DefinedValue("classification", "cohen_kappa_score", labels.cohen_kappa, draw_partitions),
    DefinedValue("regression", "mean_squared_error", numbers.mean_squared_error, draw_numbers),
    DefinedValue("regression", "mean_absolute_error", numbers.mean_absolute_error, draw_numbers),
    DefinedValue("regression", "max_error", numbers.max_error, draw_numbers),
    DefinedValue("regression", "median_absolute_error", numbers.median_absolute_error, draw_numbers),
    DefinedValue("regression", "r2_score", numbers.r2, draw_numbers),
    DefinedValue("regression", "mean_squared_log_error", numbers.mean_squared_log_error, draw_numbers),
    DefinedValue("ranking", "gauc_score", scores.gauc, draw_grouped_scores, terms=True),
    DefinedValue("ranking", "ndcg_score", cut(lists.ndcg), draw_lists, AT_CUTOFF),
    DefinedValue("ranking", "precision_at_k", cut(lists.precision), draw_lists, AT_CUTOFF, terms=True),
    DefinedValue("ranking", "recall_at_k", cut(lists.recall), draw_lists, AT_CUTOFF, terms=True),
    DefinedValue("ranking", "hit_rate", cut(lists.hit_rate), draw_lists, AT_CUTOFF, terms=True),
    DefinedValue("ranking", "mean_reciprocal_rank", MEAN_RR, draw_lists, WHOLE, terms=True),
    DefinedValue("ranking", "mean_average_precision", MEAN_AP, draw_lists, WHOLE, terms=True),
    DefinedValue("clustering", "rand_score", labels.rand, draw_partitions),
    DefinedValue("clustering", "adjusted_rand_score", labels.adjusted_rand, draw_partitions),
    DefinedValue("clustering", "purity_score", labels.purity, draw_partitions),
    DefinedValue("clustering", "mutual_info_score", labels.mutual_info, draw_partitions),
    DefinedValue("text", "corpus_bleu", texts.corpus_bleu, draw_texts, of_texts),
    DefinedValue("text", "rouge_score", texts.rouge_l, draw_two_texts, rouge_of, terms=True),
    DefinedValue("detection", "box_iou", shapes.box_iou, draw_boxes, lambda iou, one, other: iou([one], [other])[0, 0]),
    DefinedValue(
        "detection", "mask_iou", shapes.mask_iou, draw_masks,
        lambda iou, one, other: iou(mask_array(one), mask_array(other))[0, 0],
    ),
    DefinedValue(
        "significance", "sign_flip_test", significance.sign_flips, draw_differences,
        lambda test, differences: test(differences, ci=None).pvalue,
    ),
    DefinedValue(
        "significance", "mcnemar_test", significance.mcnemar_exact, draw_counts,
        lambda test, one, other: test([[5, one], [other, 5]]).pvalue, terms=True,
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
            yield SelfCheck(family, f"{name}: its checked values", check_values_of(name))


def check_values_of(name: str) -> Callable[[random.Random], None]:
    """The calls of CHECKED_VALUES beside the function give exactly the values there."""

    def run(_: random.Random) -> None:
        function = getattr(fastmetrics, name)
        for arguments, options, value in checked_values(function):
            require_equal(value, function(*arguments, **options), f"{name}{arguments}")

    return run
