"""Parity with scikit-learn: lists of functions, the comparison, and the table of intended differences.

`check(name, *args, **options)` calls both libraries with the same arguments. It compares everything a caller can see:
the value, its type, the dtype and shape of arrays, the type of the error, the warnings. DIFFERENCES lists the intended
differences, each with its reason and with the rule that holds instead. No call is skipped.
"""

import inspect
import math
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import pytest

import fastmetrics as fm

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")
metrics, calibration = (pytest.importorskip(f"sklearn.{name}") for name in ("metrics", "calibration"))

if not sklearn.__version__.startswith("1.9."):
    pytest.skip(f"parity is with scikit-learn 1.9; found {sklearn.__version__}", allow_module_level=True)

LABELS = [
    "accuracy_score", "balanced_accuracy_score", "class_likelihood_ratios", "classification_report",
    "cohen_kappa_score", "confusion_matrix", "f1_score", "fbeta_score", "hamming_loss", "jaccard_score",
    "matthews_corrcoef", "multilabel_confusion_matrix", "precision_recall_fscore_support", "precision_score",
    "recall_score", "zero_one_loss",
]  # fmt: skip
SET_WISE = [
    "f1_score", "fbeta_score", "jaccard_score", "precision_recall_fscore_support", "precision_score", "recall_score",
]  # fmt: skip
CURVES = ["average_precision_score", "det_curve", "precision_recall_curve", "roc_auc_score", "roc_curve"]
PROBABILITIES = ["brier_score_loss", "calibration_curve", "d2_brier_score", "d2_log_loss_score", "log_loss"]
REGRESSION = [
    "d2_absolute_error_score", "d2_pinball_score", "d2_tweedie_score", "explained_variance_score", "max_error",
    "mean_absolute_error", "mean_absolute_percentage_error", "mean_gamma_deviance", "mean_pinball_loss",
    "mean_poisson_deviance", "mean_squared_error", "mean_squared_log_error", "mean_tweedie_deviance",
    "median_absolute_error", "r2_score", "root_mean_squared_error", "root_mean_squared_log_error",
]  # fmt: skip
LABEL_RANKING = ["coverage_error", "label_ranking_average_precision_score", "label_ranking_loss"]
# These also accept groups here, so their signatures differ. On matrices both libraries agree.
GRADED = ["dcg_score", "ndcg_score"]
EVERYTHING = sorted([*LABELS, *CURVES, *PROBABILITIES, *REGRESSION, *LABEL_RANKING, "auc", "top_k_accuracy_score"])

# Functions of scikit-learn that fastmetrics lacks or does not have in full.
UNFINISHED: list[str] = []
MISSING = [name for name in [*EVERYTHING, *GRADED] if name in UNFINISHED or not hasattr(fm, name)]


def present(names: Iterable[str]) -> list[str]:
    """Return the names that fastmetrics has."""
    return [name for name in names if name not in MISSING]


def theirs(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(metrics, name, None) or getattr(calibration, name)
    return function


def ours(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(fm, name)
    return function


class Call(NamedTuple):
    name: str
    args: tuple[Any, ...]
    options: dict[str, Any]

    def __repr__(self) -> str:
        """One line of code; it can be run again if the arrays are short."""
        with np.printoptions(threshold=60, edgeitems=4, linewidth=10_000):
            arguments = [repr(value) for value in self.args]
            arguments += [f"{key}={value!r}" for key, value in self.options.items()]
        return " ".join(f"{self.name}({', '.join(arguments)})".split())

    def argument(self, name: str) -> Any:
        """Return an argument by its name, positional or not; None if it was not passed."""
        bound = inspect.signature(theirs(self.name)).bind_partial(*self.args, **self.options)
        return bound.arguments.get(name)


@dataclass(frozen=True)
class Outcome:
    """Everything a caller sees of a call: the value or the error, and the warnings."""

    value: Any = None
    error: Exception | None = None
    warned: tuple[str, ...] = ()

    def __str__(self) -> str:
        seen = repr(self.value) if self.error is None else f"{type(self.error).__name__}: {self.error}"
        return " ".join(seen.split()) + (f" with {list(self.warned)}" if self.warned else "")


def run(function: Callable[..., Any], call: Call) -> Outcome:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value, error = function(*call.args, **call.options), None
        except Exception as raised:  # noqa: BLE001 (whatever is raised is compared)
            value, error = None, raised
    return Outcome(value, error, tuple(sorted(warning.category.__name__ for warning in caught)))


# ------------------------------------------------------------------------------------------------------- the comparer

# Errors that the peer raises by accident: a list without .shape, a missing column.
ACCIDENTS = (AttributeError, IndexError, KeyError, AssertionError, ZeroDivisionError, OverflowError, UnboundLocalError)
# Warnings of NumPy inside the peer. fastmetrics gives none of them.
NOISE = {"RuntimeWarning", "DeprecationWarning", "ComplexWarning"}
NARROW = ("float16", "float32")


def dtype_of(value: Any) -> str:
    """Return the name of the dtype, also for pandas and polars; empty if there is none."""
    return str(getattr(value, "dtype", getattr(value, "type", ""))).lower().removesuffix("[pyarrow]")


def has_type(call: Call, *kinds: str) -> bool:
    return any(dtype_of(value) in kinds for value in (*call.args, *call.options.values()))


def tolerance(call: Call) -> tuple[float, float]:
    """Return (relative, absolute). The peer computes narrow floats in their own type, fastmetrics in float64."""
    if has_type(call, "float16", "halffloat"):
        return 2e-2, 2e-2
    return (5e-5, 5e-5) if has_type(call, "float32", "float") else (1e-12, 1e-12)


def compare(mine: Outcome, other: Outcome, near: tuple[float, float] = (1e-12, 1e-12)) -> list[str]:
    """Return complaints: differences that a caller would notice after changing the import."""
    if other.error is not None:
        return compare_errors(mine, other.error)
    if mine.error is not None:
        return ["an error, where there is a value"]
    complaints = compare_values(mine.value, other.value, near, "the value")
    expected = [name for name in other.warned if name not in NOISE]
    if list(mine.warned) != expected:
        complaints.append(f"warnings {list(mine.warned)}, not {expected}")
    return complaints


# Texts of errors that an operator raises on a value of the wrong type. The peer did not choose the error's type.
OPERATORS = (
    "not supported between instances of",
    "unsupported operand type",
    "numpy boolean subtract",
    "Axis must be specified when shapes of a and weights differ",
)


def is_accident(error: Exception) -> bool:
    """Whether the peer failed by accident instead of rejecting. Then both an error and a value of ours are right."""
    foreign = type(error).__module__.startswith(("numpy", "polars", "pyarrow", "pandas"))
    return foreign or isinstance(error, ACCIDENTS)


def compare_errors(mine: Outcome, error: Exception) -> list[str]:
    ordinary = isinstance(mine.error, (ValueError, TypeError, type(error)))
    if is_accident(error):
        return [] if mine.error is None or ordinary else [f"{type(mine.error).__name__}, where there is an accident"]
    if mine.error is None:
        return ["a value, where there is an error"]
    if any(text in str(error) for text in OPERATORS):
        return [] if ordinary else [f"the error is a {type(mine.error).__name__}"]
    kinds = [kind for kind in (ValueError, TypeError, NotImplementedError) if isinstance(error, kind)]
    missed = [kind.__name__ for kind in kinds if not isinstance(mine.error, kind)]
    complaints = [f"the error is not a {name}" for name in missed]
    if not kinds:
        complaints.append(f"the peer's error is a {type(error).__name__}: no rule for it")
    return complaints


def compare_values(mine: Any, other: Any, near: tuple[float, float], where: str) -> list[str]:
    if type(mine) is not type(other) and not (isinstance(mine, tuple) and type(other) is tuple):
        return [f"{where} is of type {type(mine).__name__}, not {type(other).__name__}"]
    if isinstance(other, (tuple, list)):
        if len(mine) != len(other):
            return [f"{where} has {len(mine)} items, not {len(other)}"]
        pairs = enumerate(zip(mine, other, strict=True))
        return [text for place, two in pairs for text in compare_values(*two, near, f"{where}[{place}]")]
    if isinstance(other, dict):
        if list(mine) != list(other) or [type(key) for key in mine] != [type(key) for key in other]:
            return [f"{where} has keys {list(mine)}, not {list(other)}"]
        return [text for key in other for text in compare_values(mine[key], other[key], near, f"{where}[{key!r}]")]
    if isinstance(other, np.ndarray):
        if (mine.dtype, mine.shape) != (other.dtype, other.shape):
            return [f"{where} is {mine.dtype}{mine.shape}, not {other.dtype}{other.shape}"]
        if other.dtype.kind in "fc":
            same = np.isclose(mine, other, *near, equal_nan=True)
        else:
            same = mine == other
        return [] if same.all() else [f"{where} differs in {np.count_nonzero(~same)} places"]
    if isinstance(other, (float, np.floating)):
        same = math.isclose(mine, other, rel_tol=near[0], abs_tol=near[1]) or (mine != mine and other != other)
        return [] if same else [f"{where} is {mine!r}, not {other!r}"]
    return [] if mine == other else [f"{where} is {mine!r}, not {other!r}"]


def missing_argument_name(call: Call, error: Exception) -> list[str]:
    """Return a complaint if the message of our error names no argument or option."""
    names = inspect.signature(ours(call.name)).parameters
    return [] if any(name in str(error) for name in names) else [f"the message names no argument: {error}"]


def compare_libraries(call: Call, near: tuple[float, float] | None = None) -> tuple[Outcome, Outcome, list[str]]:
    """Call both libraries. Return both outcomes and all complaints, also about intended differences."""
    mine, other = run(ours(call.name), call), run(theirs(call.name), call)
    complaints = compare(mine, other, tolerance(call) if near is None else near)
    if mine.error is not None:
        complaints += missing_argument_name(call, mine.error)
    return mine, other, complaints


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


# ---------------------------------------------------------------------------------------------- intended differences


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
