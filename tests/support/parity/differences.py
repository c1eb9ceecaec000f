"""Parity with scikit-learn: the table of intended differences, and `check`, which allows no others.

`check(name, *args, **options)` calls both libraries with the same arguments. It compares everything a caller can see:
the value, its type, the dtype and shape of arrays, the type of the error, the warnings. DIFFERENCES lists the intended
differences, each with its reason and with the rule that holds instead. No call is skipped.
"""

import inspect
import math
import re
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

from support.parity.cases import (
    CURVES,
    EVERYTHING,
    GRADED,
    LABEL_RANKING,
    LABELS,
    PROBABILITIES,
    REGRESSION,
    SET_WISE,
    Call,
    Outcome,
    present,
    run,
    theirs,
)
from support.parity.comparer import NARROW, NOISE, compare, compare_libraries, dtype_of, has_type


def check(name: str, *args: Any, near: tuple[float, float] | None = None, **options: Any) -> None:
    """Assert that both libraries agree, or that a row of DIFFERENCES covers the difference."""
    call = Call(name, args, options)
    mine, other, complaints = compare_libraries(call, near)
    if not complaints:
        return
    for difference in DIFFERENCES:
        if difference.covers(call) and difference.instead(call, mine, other):
            return
    pytest.fail(f"{call}\n{'; '.join(complaints)}\nours:   {mine}\ntheirs: {other}")


@dataclass(frozen=True)
class Difference:
    """An intended difference from scikit-learn: its reason, the calls it covers, and the rule that holds instead."""

    reason: str
    functions: list[str]
    applies: Callable[[Call], bool]
    instead: Callable[[Call, Outcome, Outcome], bool]
    examples: list[Call] = field(default_factory=list)

    def covers(self, call: Call) -> bool:
        return call.name in self.functions and self.applies(call)


def holds_dates(call: Call) -> bool:
    return any(getattr(value, "dtype", np.dtype(bool)).kind in "mM" for value in call.args)


def subtracts_narrow_integers(call: Call) -> bool:
    """Whether an argument is unsigned or bool: a difference can leave the type, or is not defined."""
    return any(np.asarray(value).dtype.kind in "bu" for value in call.args)


def as_float64(value: Any) -> np.ndarray:
    """Convert a value to a float64 array; empty if that is not possible."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def ours_raises_value_error(call: Call, mine: Outcome, other: Outcome) -> bool:
    return isinstance(mine.error, ValueError)


def ours_has_a_value(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The peer raises; fastmetrics returns a value."""
    return mine.error is None and isinstance(other.error, (ValueError, TypeError))


def same_without_some_warnings(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same value. Some warnings of the peer are missing, and there is no other."""
    silent = [Outcome(side.value, side.error) for side in (mine, other)]
    return not compare(*silent) and not Counter(mine.warned) - Counter(other.warned)


def same_with_fewer_warnings(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same value and the same kinds of warnings, but fewer of them."""
    return same_without_some_warnings(call, mine, other) and set(mine.warned) == set(other.warned)


def undefined_in_place_of_noise(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same NaN or infinity, with an UndefinedMetricWarning in place of NumPy's warning."""
    silent = [Outcome(side.value, side.error) for side in (mine, other)]
    noise = Counter(name for name in other.warned if name in NOISE)
    words = Counter(mine.warned) - Counter(other.warned)
    return not compare(*silent) and noise.total() > 0 and words == Counter(["UndefinedMetricWarning"])


def widened(call: Call) -> Call:
    """Return the call with narrow floats converted to float64."""

    def wide(value: Any) -> Any:
        is_narrow = isinstance(value, np.ndarray) and value.dtype.name in NARROW
        return value.astype(np.float64) if is_narrow else value

    return Call(call.name, tuple(map(wide, call.args)), {key: wide(value) for key, value in call.options.items()})


def exact_in_float64(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The peer's result for the same numbers in float64. Raw values are rounded to their own type at the end."""
    reference = run(theirs(call.name), widened(call))
    if isinstance(mine.value, np.ndarray) and isinstance(reference.value, np.ndarray):
        with np.errstate(over="ignore"):
            rounded = reference.value.astype(mine.value.dtype)
        coarse = float(np.finfo(mine.value.dtype).eps)
        return not compare(mine, Outcome(rounded, None, reference.warned), (max(coarse, 1e-12), 1e-12))
    return not compare(mine, reference)


def has_two_values_without_zero(call: Call) -> bool:
    values = as_float64(call.argument("y_true"))
    return values.ndim == 2 and len(np.unique(values)) == 2 and bool(values.all())


def has_zero_weight(call: Call) -> bool:
    return bool((as_float64(call.argument("sample_weight")) == 0).any())


def averages_samples_with_zero_weight(call: Call) -> bool:
    return has_zero_weight(call) and (call.argument("average") == "samples" or call.name == "classification_report")


def lacks_positive_label(call: Call) -> bool:
    positive = call.argument("pos_label")
    return positive is not None and not (np.asarray(call.argument("y_true")) == positive).any()


def has_negative_weight(call: Call) -> bool:
    return bool((as_float64(call.argument("sample_weight")) < 0).any())


def has_unbounded_weight(call: Call) -> bool:
    return not np.isfinite(as_float64(call.argument("sample_weight"))).all()


def has_weights_of(*kinds: str) -> Callable[[Call], bool]:
    return lambda call: dtype_of(call.argument("sample_weight")) in kinds


def equal_to_float32_precision(call: Call, mine: Outcome, other: Outcome) -> bool:
    return isinstance(mine.value, float) and math.isclose(mine.value, other.value, rel_tol=1e-5, abs_tol=1e-6)


def equal_as_int64(call: Call, mine: Outcome, other: Outcome) -> bool:
    same = isinstance(mine.value, np.ndarray) and mine.value.dtype == np.int64 and other.value.dtype.kind in "iu"
    return same and bool((mine.value == other.value).all())


def equals_peer_with_integer_weights(call: Call, mine: Outcome, other: Outcome) -> bool:
    weights = np.asarray(call.argument("sample_weight"), dtype=np.int64)
    reference = run(theirs(call.name), Call(call.name, call.args, {**call.options, "sample_weight": weights}))
    return not compare(mine, reference)


def has_empty_label_matrix(call: Call) -> bool:
    """Whether there are weights, and a dense or sparse matrix without any label."""
    matrices = [value.toarray() if hasattr(value, "toarray") else np.asarray(value) for value in call.args]
    has_empty_matrix = any(matrix.ndim == 2 and not matrix.any() for matrix in matrices)
    return call.argument("sample_weight") is not None and has_empty_matrix


def equal_as_numbers(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same numbers with another type, also in text, and the same kinds of warnings."""

    def as_floats(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: as_floats(item) for name, item in value.items()}
        if isinstance(value, str):
            return re.sub(r" +(\d+)(\.0)?\n", r" \1\n", value)
        if isinstance(value, tuple):
            return [as_floats(item) for item in value]
        return None if value is None else np.asarray(value, float)

    silent = [Outcome(as_floats(side.value), side.error) for side in (mine, other)]
    # scikit-learn's report repeats a warning for each inner call; elsewhere the number of warnings counts too.
    count = set if call.name == "classification_report" else Counter
    return mine.error is None and not compare(*silent) and count(mine.warned) == count(other.warned)


def undefined(call: Call, mine: Outcome, other: Outcome) -> bool:
    return mine.error is None and math.isnan(mine.value) and "UndefinedMetricWarning" in mine.warned


def has_only_zero_weights(call: Call) -> bool:
    weights = as_float64(call.argument("sample_weight"))
    return weights.size > 0 and not weights.any()


WEIGHTED = [name for name in [*EVERYTHING, *GRADED] if "sample_weight" in inspect.signature(theirs(name)).parameters]
ROWS = ([0, 1, 1, 0], [0.2, 0.5, 0.6, 0.4])
NUMBERS = ([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 4.0, 3.0])
ONE_EMPTY_SET, ONES = np.array([[1, 1], [0, 0]]), np.array([[1, 1], [1, 1]])
CLASSES = ([0, 1, 1, 0], [0, 1, 0, 0])

SETS = ([[0, 1], [1, 0], [1, 1], [0, 0]], [[0.2, 0.5], [0.6, 0.4], [0.1, 0.2], [0.3, 0.3]])


def four_rows_for(name: str) -> tuple[list[Any], list[Any]]:
    """Return four rows that a function accepts."""
    if name in [*LABEL_RANKING, *GRADED]:
        return SETS
    if name in REGRESSION:
        return NUMBERS
    return CLASSES if name in LABELS else ROWS


def calls_on_four_rows(names: list[str], **options: Any) -> list[Call]:
    needed = {"fbeta_score": {"beta": 2}, "top_k_accuracy_score": {"k": 1}}
    arguments = {name: four_rows_for(name) if "y_score" not in options else four_rows_for(name)[:1] for name in names}
    return [Call(name, arguments[name], {**needed.get(name, {}), **options}) for name in present(names)]


def equals_peer_on_signed_scores(call: Call, mine: Outcome, other: Outcome) -> bool:
    scores = np.asarray(call.argument("y_score"), np.float64)
    return not compare(mine, run(theirs(call.name), Call(call.name, (call.args[0], scores), call.options)))


def equals_peer_with_later_rows_first(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The peer's result for scores without ties, in which the later of two equal scores is greater."""
    order = np.argsort(np.asarray(call.argument("y_score")), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    return not compare(mine, run(theirs(call.name), Call(call.name, (call.args[0], ranks), call.options)))


def calls_with(names: list[str], *args: Any, **options: Any) -> list[Call]:
    return [Call(name, args, options) for name in present(names)]


def stores_zeros(call: Call) -> bool:
    """Whether y_true is sparse and stores a zero explicitly."""
    labels = call.argument("y_true")
    return hasattr(labels, "toarray") and bool((np.asarray(labels.data) == 0).any())


def equals_peer_on_dense_labels(call: Call, mine: Outcome, other: Outcome) -> bool:
    dense = call.args[0].toarray()
    return not compare(mine, run(theirs(call.name), Call(call.name, (dense, *call.args[1:]), call.options)))


def calls_with_stored_zeros(names: list[str]) -> list[Call]:
    """Calls with an explicitly stored zero. The result shows whether the zero counts as relevant."""
    sparse = pytest.importorskip("scipy.sparse")
    labels = sparse.csr_array((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 3))
    return [Call(name, (labels, np.array([[0.9, 0.1, 0.5]])), {}) for name in present(names)]


DIFFERENCES: list[Difference] = [
    Difference(
        "Negative weights are an error here: they are no counts of rows, and their sums may cancel.",
        WEIGHTED,
        has_negative_weight,
        ours_raises_value_error,
        calls_on_four_rows(WEIGHTED, sample_weight=[1.0, -0.5, 1.0, 1.0]),
    ),
    Difference(
        "Weights must be finite in every function; some functions of scikit-learn accept others and return NaN.",
        WEIGHTED,
        has_unbounded_weight,
        ours_raises_value_error,
        [Call("top_k_accuracy_score", ([0, 1], [0.1, 0.9]), {"k": 1, "sample_weight": [1.0, float("nan")]})],
    ),
    Difference(
        "If all weights are zero the area is undefined, so NaN, as for a missing class; in scikit-learn an error.",
        ["roc_auc_score"],
        has_only_zero_weights,
        undefined,
        calls_on_four_rows(["roc_auc_score"], sample_weight=[0, 0, 0, 0]),
    ),
    Difference(
        "If all weights are zero the value is undefined, so NaN, with our warning in place of NumPy's.",
        ["label_ranking_average_precision_score"],
        has_only_zero_weights,
        undefined_in_place_of_noise,
        calls_on_four_rows(["label_ranking_average_precision_score"], sample_weight=[0, 0, 0, 0]),
    ),
    Difference(
        "Scores are compared as they are. scikit-learn negates them first: 0 is then the largest unsigned integer, and"
        " bools are an error.",
        ["label_ranking_average_precision_score", *GRADED],
        lambda call: dtype_of(call.argument("y_score")) in ("bool", "uint8", "uint16", "uint32", "uint64"),
        equals_peer_on_signed_scores,
        [
            Call("label_ranking_average_precision_score", ([[0, 1]], np.array([[0, 1]], np.uint8)), {}),
            Call("label_ranking_average_precision_score", ([[0, 1]], np.array([[False, True]])), {}),
            Call("ndcg_score", ([[0, 1]], np.array([[0, 1]], np.uint8)), {}),
        ],
    ),
    Difference(
        "A bool is not a cutoff; in scikit-learn True is 1.",
        GRADED,
        lambda call: isinstance(call.argument("k"), bool),
        ours_raises_value_error,
        calls_on_four_rows(GRADED, k=True),
    ),
    Difference(
        "ignore_ties puts the later of two tied rows first; in scikit-learn the order depends on NumPy's sort.",
        GRADED,
        lambda call: bool(call.argument("ignore_ties")),
        equals_peer_with_later_rows_first,
        calls_with(GRADED, [[1, 0, 2] * 20], [[0.5, 0.25, 0.5] * 20], ignore_ties=True),
    ),
    Difference(
        "A zero is not relevant even if a sparse matrix stores it; scikit-learn counts every stored cell.",
        ["label_ranking_average_precision_score", "label_ranking_loss"],
        stores_zeros,
        equals_peer_on_dense_labels,
        calls_with_stored_zeros(["label_ranking_average_precision_score", "label_ranking_loss"]),
    ),
    Difference(
        "Labels may be float16, as in every function; scikit-learn uses sparse matrices, which have no float16.",
        ["label_ranking_average_precision_score", "label_ranking_loss"],
        lambda call: dtype_of(call.argument("y_true")) == "float16",
        ours_has_a_value,
        [Call("label_ranking_loss", (np.ones((1, 2), np.float16), [[0.1, 0.2]]), {})],
    ),
    Difference(
        "A row of weight zero is absent, so one class may be left; in scikit-learn the curve then has one point.",
        ["roc_auc_score"],
        lambda call: call.argument("max_fpr") is not None and has_zero_weight(call),
        undefined,
        [Call("roc_auc_score", ([0, 1], [0, 5]), {"max_fpr": 0.01, "sample_weight": [0, 1]})],
    ),
    Difference(
        "Bool weights count as 0 and 1; in scikit-learn their sum is a bool.",
        ["accuracy_score", "top_k_accuracy_score", "zero_one_loss"],
        has_weights_of("bool"),
        equals_peer_with_integer_weights,
        [Call("accuracy_score", CLASSES, {"normalize": False, "sample_weight": np.ones(4, bool)})],
    ),
    Difference(
        "Results are float64 for weights of any type.",
        ["hamming_loss", "zero_one_loss"],
        has_weights_of(*NARROW),
        equal_to_float32_precision,
        [Call("hamming_loss", (ONES, ONE_EMPTY_SET), {"sample_weight": np.ones(2, np.float32)})],
    ),
    Difference(
        "Counts are int64, so they do not overflow; in scikit-learn they have the type of the weights.",
        ["multilabel_confusion_matrix"],
        has_weights_of("uint8"),
        equal_as_int64,
        [
            Call(
                "multilabel_confusion_matrix",
                (ONES, ONE_EMPTY_SET),
                {"samplewise": True, "sample_weight": np.ones(2, np.uint8)},
            )
        ],
    ),
    Difference(
        "Weighted counts are float64; in scikit-learn they are integers if no label is set anywhere.",
        ["classification_report", "multilabel_confusion_matrix", "precision_recall_fscore_support"],
        has_empty_label_matrix,
        equal_as_numbers,
        [Call("multilabel_confusion_matrix", (ONES * 0, ONES * 0), {"sample_weight": [1, 2]})],
    ),
    Difference(
        "With one class there is no chance level: undefined, so NaN; in scikit-learn 0/0 or -1/0.",
        ["balanced_accuracy_score"],
        lambda call: bool(call.argument("adjusted")),
        undefined,
        [Call("balanced_accuracy_score", ([1, 1], [0, 0]), {"adjusted": True})],
    ),
    Difference(
        "scikit-learn warns once per inner call, fastmetrics once per column of the report.",
        ["classification_report"],
        lambda call: True,
        same_with_fewer_warnings,
        [Call("classification_report", ([0, 1], [0, 0]), {})],
    ),
    Difference(
        "scikit-learn reads a matrix of 1 and 3 as sets of labels until the report makes it sparse: an accident.",
        ["classification_report"],
        has_two_values_without_zero,
        ours_has_a_value,
        [Call("classification_report", (np.array([[1, 3], [3, 1]]), np.array([[0, 1], [1, 0]])), {})],
    ),
    Difference(
        "A row of weight zero is absent, so nothing is undefined because of it: no warning here.",
        [*SET_WISE, "classification_report"],
        averages_samples_with_zero_weight,
        same_without_some_warnings,
        [Call("recall_score", (ONE_EMPTY_SET, ONES), {"average": "samples", "sample_weight": [1, 0]})],
    ),
    Difference(
        "float16 and float32 are computed in float64 here. scikit-learn's result may overflow, cancel, or divide by an"
        " epsilon that rounds to zero.",
        [*REGRESSION, *CURVES, "auc"],
        lambda call: has_type(call, *NARROW),
        exact_in_float64,
        [
            Call("mean_absolute_percentage_error", (np.zeros(2, np.float16), np.zeros(2, np.float16)), {}),
            Call("mean_squared_error", (np.zeros(1, np.float16), np.full(1, 1000, np.float16)), {}),
        ],
    ),
    Difference(
        "Weights of outputs need several outputs in every function; in scikit-learn in every function but this.",
        ["root_mean_squared_error"],
        lambda call: np.size(call.argument("multioutput")) == 1,
        ours_raises_value_error,
        [Call("root_mean_squared_error", NUMBERS, {"multioutput": [1.0]})],
    ),
    Difference(
        "Dates are not numbers; scikit-learn reads them as days if their unit is the day.",
        [*REGRESSION, *CURVES, *PROBABILITIES, "auc"],
        holds_dates,
        ours_raises_value_error,
        [Call("mean_absolute_error", (np.array(["2020-01-01"], "M8[D]"), [1.0]), {})],
    ),
    Difference(
        "Unsigned integers are subtracted as numbers; in scikit-learn 1 - 2 is 255. Bools are 0 and 1; there an error.",
        ["max_error", "median_absolute_error"],
        subtracts_narrow_integers,
        lambda call, mine, other: type(mine.value) in (float, np.ndarray),
        [
            Call("max_error", (np.array([1, 2], np.uint8), np.array([2, 2], np.uint8)), {}),
            Call("median_absolute_error", (np.array([True, False]), np.array([True, True])), {}),
        ],
    ),
    Difference(
        "Minus infinity (an error, but no variation to explain) comes with our warning, not with NumPy's.",
        ["d2_brier_score", "d2_log_loss_score", "d2_tweedie_score", "roc_auc_score"],
        lambda call: True,
        undefined_in_place_of_noise,
        [
            Call("d2_brier_score", ([1, 1], [0.5, 0.5]), {}),
            Call("roc_auc_score", ([0], [[0.5, 0.25, 0.25]]), {"multi_class": "ovo", "labels": [0, 1, 2]}),
        ],
    ),
    Difference(
        "scikit-learn warns once per row; here one warning has the number of rows and the first row.",
        ["average_precision_score", "roc_auc_score"],
        lambda call: call.argument("average") == "samples",
        same_with_fewer_warnings,
        [Call("roc_auc_score", (ONES, ONES), {"average": "samples"})],
    ),
    Difference(
        "If no row has a label, no label has a weight: a float like every area, not the integer 0.",
        ["average_precision_score", "roc_auc_score"],
        lambda call: call.argument("average") == "weighted",
        lambda call, mine, other: type(mine.value) is float and type(other.value) is int and mine.value == other.value,
        [Call("roc_auc_score", (ONES * 0, ONES), {"average": "weighted"})],
    ),
    Difference(
        "A class whose rows have weight zero is absent, and an absent class is an error; in scikit-learn 0/0.",
        ["det_curve"],
        has_zero_weight,
        ours_raises_value_error,
        [Call("det_curve", ([0, 1], [0.0, 0.5]), {"sample_weight": [0, 2]})],
    ),
    Difference(
        "A pos_label that no row has is an absent class, and an absent class is an error; in scikit-learn 0/0.",
        ["det_curve"],
        lacks_positive_label,
        ours_raises_value_error,
        [Call("det_curve", ([0, 1], np.array([0.75, 0.75], np.float16)), {"pos_label": 5, "sample_weight": [1, 1]})],
    ),
    Difference(
        "NaN is not a probability; in scikit-learn it belongs to the last bin and makes its mean NaN.",
        ["calibration_curve"],
        lambda call: bool(np.isnan(as_float64(call.argument("y_prob"))).any()),
        ours_raises_value_error,
        [Call("calibration_curve", ([0, 1], [0.5, float("nan")]), {})],
    ),
    Difference(
        "Any NaN is accepted; scikit-learn accepts only the object numpy.nan.",
        ["class_likelihood_ratios"],
        lambda call: call.argument("replace_undefined_by") != call.argument("replace_undefined_by"),
        ours_has_a_value,
        [Call("class_likelihood_ratios", CLASSES, {"replace_undefined_by": float("nan")})],
    ),
]
