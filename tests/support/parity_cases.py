"""Parity with scikit-learn: the table of functions, the comparer, and the table of intended differences.

`check(name, *args, **options)` calls both libraries with the same arguments and compares everything a caller can see:
the value, its type, the dtype and shape of arrays, the kind of error, the warnings. What differs on purpose stands in
DIFFERENCES with its reason and with what holds instead; nothing is skipped.
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
# Here they also take groups, so that their signature is another; on matrices they are the same.
GRADED = ["dcg_score", "ndcg_score"]
EVERYTHING = sorted([*LABELS, *CURVES, *PROBABILITIES, *REGRESSION, *LABEL_RANKING, "auc", "top_k_accuracy_score"])

# Those scikit-learn has and fastmetrics lacks, or that are being written: empty when the work is done.
UNFINISHED: list[str] = []
MISSING = [name for name in [*EVERYTHING, *GRADED] if name in UNFINISHED or not hasattr(fm, name)]


def present(names: Iterable[str]) -> list[str]:
    """Those of the names that fastmetrics has."""
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
        """As one line, that can be typed again while the arrays are short."""
        with np.printoptions(threshold=60, edgeitems=4, linewidth=10_000):
            given = [repr(value) for value in self.args] + [f"{key}={value!r}" for key, value in self.options.items()]
        return " ".join(f"{self.name}({', '.join(given)})".split())

    def argument(self, name: str) -> Any:
        """An argument by its name, however it was given; None where it was not."""
        bound = inspect.signature(theirs(self.name)).bind_partial(*self.args, **self.options)
        return bound.arguments.get(name)


@dataclass(frozen=True)
class Outcome:
    """What a caller sees of a call."""

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

# Errors the peer raises where nobody meant to: a list without .shape, a column that is not there.
ACCIDENTS = (AttributeError, IndexError, KeyError, AssertionError, ZeroDivisionError, OverflowError, UnboundLocalError)
# What NumPy says on its own inside the peer. Ours says nothing of the kind.
NOISE = {"RuntimeWarning", "DeprecationWarning", "ComplexWarning"}
NARROW = ("float16", "float32")


def dtype_of(value: Any) -> str:
    """The dtype's name for anything that has one, also in pandas and polars."""
    name = str(getattr(value, "dtype", getattr(value, "type", ""))).lower()
    return name.removesuffix("[pyarrow]")


def has_type(call: Call, *kinds: str) -> bool:
    return any(dtype_of(value) in kinds for value in (*call.args, *call.options.values()))


def tolerance(call: Call) -> tuple[float, float]:
    """(relative, absolute). Narrow floats are computed in their own type there and in float64 here."""
    if has_type(call, "float16", "halffloat"):
        return 2e-2, 2e-2
    return (5e-5, 5e-5) if has_type(call, "float32", "float") else (1e-12, 1e-12)


def compare(mine: Outcome, other: Outcome, near: tuple[float, float] = (1e-12, 1e-12)) -> list[str]:
    """Complaints: what a caller who changes the import would notice."""
    if other.error is not None:
        return compare_errors(mine, other.error)
    if mine.error is not None:
        return ["an error, where there is a value"]
    complaints = compare_values(mine.value, other.value, near, "the value")
    expected = [name for name in other.warned if name not in NOISE]
    if list(mine.warned) != expected:
        complaints.append(f"warnings {list(mine.warned)}, not {expected}")
    return complaints


# A value of the wrong type went on until an operator met it: an error, but its type is nobody's choice.
OPERATORS = (
    "not supported between instances of",
    "unsupported operand type",
    "numpy boolean subtract",
    "Axis must be specified when shapes of a and weights differ",
)


def is_accident(error: Exception) -> bool:
    """Did the peer stumble, rather than refuse? Then an error of ours and a value are both right."""
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
            return [f"{where} has {len(mine)} parts, not {len(other)}"]
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


def unnamed(call: Call, error: Exception) -> list[str]:
    """Our errors name an argument or an option."""
    names = inspect.signature(ours(call.name)).parameters
    return [] if any(name in str(error) for name in names) else [f"the message names no argument: {error}"]


def judge(call: Call, near: tuple[float, float] | None = None) -> tuple[Outcome, Outcome, list[str]]:
    """Both outcomes and the complaints; no difference is excused here."""
    mine, other = run(ours(call.name), call), run(theirs(call.name), call)
    complaints = compare(mine, other, tolerance(call) if near is None else near)
    if mine.error is not None:
        complaints += unnamed(call, mine.error)
    return mine, other, complaints


def check(name: str, *args: Any, near: tuple[float, float] | None = None, **options: Any) -> None:
    """The same from both libraries, or what a row of DIFFERENCES says."""
    call = Call(name, args, options)
    mine, other, complaints = judge(call, near)
    if not complaints:
        return
    for difference in DIFFERENCES:
        if difference.covers(call) and difference.instead(call, mine, other):
            return
    pytest.fail(f"{call}\n{'; '.join(complaints)}\nours:   {mine}\ntheirs: {other}")


# ---------------------------------------------------------------------------------------------- intended differences


@dataclass(frozen=True)
class Difference:
    """Where we part from scikit-learn on purpose: why, for which calls, and what holds instead."""

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
    """Types whose differences leave them, or that have none."""
    return any(np.asarray(value).dtype.kind in "bu" for value in call.args)


def numbers(value: Any) -> np.ndarray:
    """A float64 array of anything that can be one; empty otherwise."""
    try:
        return np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        return np.empty(0)


def our_value_error(call: Call, mine: Outcome, other: Outcome) -> bool:
    return isinstance(mine.error, ValueError)


def value_for_their_error(call: Call, mine: Outcome, other: Outcome) -> bool:
    """They refuse, we answer."""
    return mine.error is None and isinstance(other.error, (ValueError, TypeError))


def quieter(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same value; warnings of theirs are missing, ours adds none."""
    silent = [Outcome(side.value, side.error) for side in (mine, other)]
    return not compare(*silent) and not Counter(mine.warned) - Counter(other.warned)


def fewer_warnings(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same in everything but how often a warning comes."""
    return quieter(call, mine, other) and set(mine.warned) == set(other.warned)


def undefined_for_noise(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same value that is no number; an UndefinedMetricWarning in place of NumPy's own."""
    silent = [Outcome(side.value, side.error) for side in (mine, other)]
    noise = Counter(name for name in other.warned if name in NOISE)
    words = Counter(mine.warned) - Counter(other.warned)
    return not compare(*silent) and noise.total() > 0 and words == Counter(["UndefinedMetricWarning"])


def widened(call: Call) -> Call:
    """The same numbers, floats as float64."""

    def wide(value: Any) -> Any:
        is_narrow = isinstance(value, np.ndarray) and value.dtype.name in NARROW
        return value.astype(np.float64) if is_narrow else value

    return Call(call.name, tuple(map(wide, call.args)), {key: wide(value) for key, value in call.options.items()})


def exact_in_float64(call: Call, mine: Outcome, other: Outcome) -> bool:
    """What the peer says of the same numbers in float64; raw values are rounded to their own type at the end."""
    reference = run(theirs(call.name), widened(call))
    if isinstance(mine.value, np.ndarray) and isinstance(reference.value, np.ndarray):
        with np.errstate(over="ignore"):
            rounded = reference.value.astype(mine.value.dtype)
        coarse = float(np.finfo(mine.value.dtype).eps)
        return not compare(mine, Outcome(rounded, None, reference.warned), (max(coarse, 1e-12), 1e-12))
    return not compare(mine, reference)


def two_values_of_which_none_is_zero(call: Call) -> bool:
    values = numbers(call.argument("y_true"))
    return values.ndim == 2 and len(np.unique(values)) == 2 and bool(values.all())


def has_zero_weight(call: Call) -> bool:
    return bool((numbers(call.argument("sample_weight")) == 0).any())


def weighs_a_row_nothing(call: Call) -> bool:
    return has_zero_weight(call) and call.argument("average") == "samples"


def has_negative_weight(call: Call) -> bool:
    return bool((numbers(call.argument("sample_weight")) < 0).any())


def has_unbounded_weight(call: Call) -> bool:
    return not np.isfinite(numbers(call.argument("sample_weight"))).all()


def weighs_in(*kinds: str) -> Callable[[Call], bool]:
    return lambda call: dtype_of(call.argument("sample_weight")) in kinds


def float_of_any_width(call: Call, mine: Outcome, other: Outcome) -> bool:
    return isinstance(mine.value, float) and math.isclose(mine.value, other.value, rel_tol=1e-5, abs_tol=1e-6)


def wider_integers(call: Call, mine: Outcome, other: Outcome) -> bool:
    same = isinstance(mine.value, np.ndarray) and mine.value.dtype == np.int64 and other.value.dtype.kind in "iu"
    return same and bool((mine.value == other.value).all())


def as_weights_of_integers(call: Call, mine: Outcome, other: Outcome) -> bool:
    weights = np.asarray(call.argument("sample_weight"), dtype=np.int64)
    reference = run(theirs(call.name), Call(call.name, call.args, {**call.options, "sample_weight": weights}))
    return not compare(mine, reference)


def sets_no_label(call: Call) -> bool:
    """Weights, and a dense or sparse matrix without a label."""
    matrices = [value.toarray() if hasattr(value, "toarray") else np.asarray(value) for value in call.args]
    return call.argument("sample_weight") is not None and any(own.ndim == 2 and not own.any() for own in matrices)


def equal_as_numbers(call: Call, mine: Outcome, other: Outcome) -> bool:
    """The same numbers of another type, also where they are written out."""

    def plain(outcome: Outcome) -> Outcome:
        value = outcome.value
        if isinstance(value, str):
            return Outcome(re.sub(r" +(\d+)(\.0)?\n", r" \1\n", value), None, outcome.warned)
        parts = value if isinstance(value, tuple) else (value,)
        return Outcome([None if part is None else np.asarray(part, float) for part in parts], None, outcome.warned)

    return mine.error is None and not compare(plain(mine), plain(other))


def undefined(call: Call, mine: Outcome, other: Outcome) -> bool:
    return mine.error is None and math.isnan(mine.value) and "UndefinedMetricWarning" in mine.warned


def has_infinite_score(call: Call) -> bool:
    scores = numbers(call.argument("y_score"))
    return bool(np.isinf(scores).any() and not np.isnan(scores).any())


def weighs_nothing(call: Call) -> bool:
    weights = numbers(call.argument("sample_weight"))
    return weights.size > 0 and not weights.any()


WEIGHTED = [name for name in [*EVERYTHING, *GRADED] if "sample_weight" in inspect.signature(theirs(name)).parameters]
ROWS = ([0, 1, 1, 0], [0.2, 0.5, 0.6, 0.4])
NUMBERS = ([1.0, 2.0, 3.0, 4.0], [1.5, 2.0, 4.0, 3.0])
A_ROW_OF_NONE, ONES = np.array([[1, 1], [0, 0]]), np.array([[1, 1], [1, 1]])
CLASSES = ([0, 1, 1, 0], [0, 1, 0, 0])


SETS = ([[0, 1], [1, 0], [1, 1], [0, 0]], [[0.2, 0.5], [0.6, 0.4], [0.1, 0.2], [0.3, 0.3]])


def rows_for(name: str) -> tuple[list[Any], list[Any]]:
    """Four rows that suit a function."""
    if name in [*LABEL_RANKING, *GRADED]:
        return SETS
    if name in REGRESSION:
        return NUMBERS
    return CLASSES if name in LABELS else ROWS


def everywhere(names: list[str], **options: Any) -> list[Call]:
    needed = {"fbeta_score": {"beta": 2}, "top_k_accuracy_score": {"k": 1}}
    given = {name: rows_for(name) if "y_score" not in options else rows_for(name)[:1] for name in names}
    return [Call(name, given[name], {**needed.get(name, {}), **options}) for name in present(names)]


def as_of_signed_scores(call: Call, mine: Outcome, other: Outcome) -> bool:
    scores = np.asarray(call.argument("y_score"), np.float64)
    return not compare(mine, run(theirs(call.name), Call(call.name, (call.args[0], scores), call.options)))


def later_rows_first(call: Call, mine: Outcome, other: Outcome) -> bool:
    """What they say of scores that do not tie, with the later of equal ones greater."""
    order = np.argsort(np.asarray(call.argument("y_score")), axis=1, kind="stable")
    ranks = np.argsort(order, axis=1, kind="stable")
    return not compare(mine, run(theirs(call.name), Call(call.name, (call.args[0], ranks), call.options)))


def everywhere_of(names: list[str], *args: Any, **options: Any) -> list[Call]:
    return [Call(name, args, options) for name in present(names)]


def stores_zeros(call: Call) -> bool:
    """Is y_true sparse, with zeros among what it stores?"""
    labels = call.argument("y_true")
    return hasattr(labels, "toarray") and bool((np.asarray(labels.data) == 0).any())


def as_of_dense_labels(call: Call, mine: Outcome, other: Outcome) -> bool:
    dense = call.args[0].toarray()
    return not compare(mine, run(theirs(call.name), Call(call.name, (dense, *call.args[1:]), call.options)))


def everywhere_sparse(names: list[str]) -> list[Call]:
    """Calls with a stored zero, where scores tell it from a relevant label."""
    sparse = pytest.importorskip("scipy.sparse")
    labels = sparse.csr_array((np.array([1, 0]), np.array([0, 1]), np.array([0, 2])), shape=(1, 3))
    return [Call(name, (labels, np.array([[0.9, 0.1, 0.5]])), {}) for name in present(names)]


DIFFERENCES: list[Difference] = [
    Difference(
        "A negative weight has no meaning as a count of rows, and sums of such weights may cancel: an error here.",
        WEIGHTED,
        has_negative_weight,
        our_value_error,
        everywhere(WEIGHTED, sample_weight=[1.0, -0.5, 1.0, 1.0]),
    ),
    Difference(
        "Weights have to be finite, in every function; some of theirs let them pass and answer NaN.",
        WEIGHTED,
        has_unbounded_weight,
        our_value_error,
        [Call("top_k_accuracy_score", ([0, 1], [0.1, 0.9]), {"k": 1, "sample_weight": [1.0, float("nan")]})],
    ),
    Difference(
        "Infinite scores have an order, and rows are told apart by it; there they are an error.",
        [*CURVES, *LABEL_RANKING, *GRADED],
        has_infinite_score,
        value_for_their_error,
        everywhere(CURVES, y_score=[float("inf"), 0.5, 0.6, -float("inf")])
        + everywhere([*LABEL_RANKING, *GRADED], y_score=[[float("inf"), 0.5], *SETS[1][1:]]),
    ),
    Difference(
        "No row weighs anything: the area is undefined, so NaN, as for no row of a class; there an error.",
        ["roc_auc_score"],
        weighs_nothing,
        undefined,
        everywhere(["roc_auc_score"], sample_weight=[0, 0, 0, 0]),
    ),
    Difference(
        "No row weighs anything: undefined, so NaN, with a word of ours in place of NumPy's.",
        ["label_ranking_average_precision_score"],
        weighs_nothing,
        undefined_for_noise,
        everywhere(["label_ranking_average_precision_score"], sample_weight=[0, 0, 0, 0]),
    ),
    Difference(
        "Scores are compared as they are; theirs are negated first, so that of unsigned integers 0 is the greatest and"
        " bools are an error.",
        ["label_ranking_average_precision_score", *GRADED],
        lambda call: dtype_of(call.argument("y_score")) in ("bool", "uint8", "uint16", "uint32", "uint64"),
        as_of_signed_scores,
        [
            Call("label_ranking_average_precision_score", ([[0, 1]], np.array([[0, 1]], np.uint8)), {}),
            Call("label_ranking_average_precision_score", ([[0, 1]], np.array([[False, True]])), {}),
            Call("ndcg_score", ([[0, 1]], np.array([[0, 1]], np.uint8)), {}),
        ],
    ),
    Difference(
        "A list of one row is a list; there an error, in one function because of the type of its labels.",
        GRADED,
        lambda call: np.shape(call.argument("y_true"))[1:] == (1,),
        value_for_their_error,
        everywhere_of(GRADED, [[1], [0]], [[0.5], [0.1]]),
    ),
    Difference(
        "A bool is no cutoff; to them True is 1.",
        GRADED,
        lambda call: isinstance(call.argument("k"), bool),
        our_value_error,
        everywhere(GRADED, k=True),
    ),
    Difference(
        "ignore_ties puts the later of two tied rows first; there whatever NumPy's sort does on the CPU.",
        GRADED,
        lambda call: bool(call.argument("ignore_ties")),
        later_rows_first,
        everywhere_of(GRADED, [[1, 0, 2] * 20], [[0.5, 0.25, 0.5] * 20], ignore_ties=True),
    ),
    Difference(
        "A zero is not relevant, also where a sparse matrix stores it; theirs are the cells that are stored.",
        ["label_ranking_average_precision_score", "label_ranking_loss"],
        stores_zeros,
        as_of_dense_labels,
        everywhere_sparse(["label_ranking_average_precision_score", "label_ranking_loss"]),
    ),
    Difference(
        "Labels may be float16, as in every function; theirs go through a sparse matrix, which cannot be.",
        ["label_ranking_average_precision_score", "label_ranking_loss"],
        lambda call: dtype_of(call.argument("y_true")) == "float16",
        value_for_their_error,
        [Call("label_ranking_loss", (np.ones((1, 2), np.float16), [[0.1, 0.2]]), {})],
    ),
    Difference(
        "A row of weight zero is absent, so that one class may be left; there the curve then has one point.",
        ["roc_auc_score"],
        lambda call: call.argument("max_fpr") is not None and has_zero_weight(call),
        undefined,
        [Call("roc_auc_score", ([0, 1], [0, 5]), {"max_fpr": 0.01, "sample_weight": [0, 1]})],
    ),
    Difference(
        "Weights of bools weigh 0 and 1; the sum of theirs is whether there is one.",
        ["accuracy_score", "top_k_accuracy_score", "zero_one_loss"],
        weighs_in("bool"),
        as_weights_of_integers,
        [Call("accuracy_score", CLASSES, {"normalize": False, "sample_weight": np.ones(4, bool)})],
    ),
    Difference(
        "Results are float64 whatever the weights are.",
        ["hamming_loss", "zero_one_loss"],
        weighs_in(*NARROW),
        float_of_any_width,
        [Call("hamming_loss", (ONES, A_ROW_OF_NONE), {"sample_weight": np.ones(2, np.float32)})],
    ),
    Difference(
        "Counts are int64, so that they do not overflow; there the weights' type counts.",
        ["multilabel_confusion_matrix"],
        weighs_in("uint8"),
        wider_integers,
        [
            Call(
                "multilabel_confusion_matrix",
                (ONES, A_ROW_OF_NONE),
                {"samplewise": True, "sample_weight": np.ones(2, np.uint8)},
            )
        ],
    ),
    Difference(
        "Weighted counts are float64; where no label is set anywhere theirs are counts of nothing, and integers.",
        ["classification_report", "multilabel_confusion_matrix", "precision_recall_fscore_support"],
        sets_no_label,
        equal_as_numbers,
        [Call("multilabel_confusion_matrix", (ONES * 0, ONES * 0), {"sample_weight": [1, 2]})],
    ),
    Difference(
        "One class leaves no chance to adjust for: undefined, so NaN; there 0/0 or -1/0.",
        ["balanced_accuracy_score"],
        lambda call: bool(call.argument("adjusted")),
        undefined,
        [Call("balanced_accuracy_score", ([1, 1], [0, 0]), {"adjusted": True})],
    ),
    Difference(
        "They warn once per inner call, here once per column of the report: one cause is no nine warnings.",
        ["classification_report"],
        lambda call: True,
        fewer_warnings,
        [Call("classification_report", ([0, 1], [0, 0]), {})],
    ),
    Difference(
        "A matrix of 1 and 3 is a set of labels per row to them, until the report makes it sparse: an accident.",
        ["classification_report"],
        two_values_of_which_none_is_zero,
        value_for_their_error,
        [Call("classification_report", (np.array([[1, 3], [3, 1]]), np.array([[0, 1], [1, 0]])), {})],
    ),
    Difference(
        "A row of weight zero is absent, so that nothing is undefined because of it: no warning here.",
        SET_WISE,
        weighs_a_row_nothing,
        quieter,
        [Call("recall_score", (A_ROW_OF_NONE, ONES), {"average": "samples", "sample_weight": [1, 0]})],
    ),
    Difference(
        "float16 and float32 are computed in float64 here: the result of the numbers given, where theirs overflows,"
        " cancels or divides by an epsilon that rounds to zero.",
        [*REGRESSION, *CURVES, "auc"],
        lambda call: has_type(call, *NARROW),
        exact_in_float64,
        [
            Call("mean_absolute_percentage_error", (np.zeros(2, np.float16), np.zeros(2, np.float16)), {}),
            Call("mean_squared_error", (np.zeros(1, np.float16), np.full(1, 1000, np.float16)), {}),
        ],
    ),
    Difference(
        "Weights of outputs need several outputs, in every function; there in every one but this.",
        ["root_mean_squared_error"],
        lambda call: np.size(call.argument("multioutput")) == 1,
        our_value_error,
        [Call("root_mean_squared_error", NUMBERS, {"multioutput": [1.0]})],
    ),
    Difference(
        "Dates are no numbers; to them they are days, where the unit happens to be the day.",
        [*REGRESSION, *CURVES, *PROBABILITIES, "auc"],
        holds_dates,
        our_value_error,
        [Call("mean_absolute_error", (np.array(["2020-01-01"], "M8[D]"), [1.0]), {})],
    ),
    Difference(
        "Unsigned integers are subtracted as numbers; there 1 - 2 is 255. Bools are 0 and 1; there an error.",
        ["max_error", "median_absolute_error"],
        subtracts_narrow_integers,
        lambda call, mine, other: type(mine.value) in (float, np.ndarray),
        [
            Call("max_error", (np.array([1, 2], np.uint8), np.array([2, 2], np.uint8)), {}),
            Call("median_absolute_error", (np.array([True, False]), np.array([True, True])), {}),
        ],
    ),
    Difference(
        "Minus infinity, where there is an error and nothing to explain, comes with a word of ours, not with NumPy's.",
        ["d2_brier_score", "d2_log_loss_score", "d2_tweedie_score", "roc_auc_score"],
        lambda call: True,
        undefined_for_noise,
        [
            Call("d2_brier_score", ([1, 1], [0.5, 0.5]), {}),
            Call("roc_auc_score", ([0], [[0.5, 0.25, 0.25]]), {"multi_class": "ovo", "labels": [0, 1, 2]}),
        ],
    ),
    Difference(
        "They warn once per row, here once: how many rows, and which is the first.",
        ["average_precision_score", "roc_auc_score"],
        lambda call: call.argument("average") == "samples",
        fewer_warnings,
        [Call("roc_auc_score", (ONES, ONES), {"average": "samples"})],
    ),
    Difference(
        "Nobody has a label, so no label has a weight: a float as every area, not the integer 0.",
        ["average_precision_score", "roc_auc_score"],
        lambda call: call.argument("average") == "weighted",
        lambda call, mine, other: type(mine.value) is float and type(other.value) is int and mine.value == other.value,
        [Call("roc_auc_score", (ONES * 0, ONES), {"average": "weighted"})],
    ),
    Difference(
        "A class whose rows weigh nothing is absent, and a class that is absent is an error; there rates of 0/0.",
        ["det_curve"],
        has_zero_weight,
        our_value_error,
        [Call("det_curve", ([0, 1], [0.0, 0.5]), {"sample_weight": [0, 2]})],
    ),
    Difference(
        "NaN is no probability; to them it falls into the last bin and makes its mean NaN.",
        ["calibration_curve"],
        lambda call: bool(np.isnan(numbers(call.argument("y_prob"))).any()),
        our_value_error,
        [Call("calibration_curve", ([0, 1], [0.5, float("nan")]), {})],
    ),
    Difference(
        "NaN is NaN whichever object holds it; to them it is one only as numpy.nan itself.",
        ["class_likelihood_ratios"],
        lambda call: call.argument("replace_undefined_by") != call.argument("replace_undefined_by"),
        value_for_their_error,
        [Call("class_likelihood_ratios", CLASSES, {"replace_undefined_by": float("nan")})],
    ),
]
