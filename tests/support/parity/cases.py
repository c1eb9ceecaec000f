"""Parity with scikit-learn: lists of functions, calls of both libraries, and what a caller sees of them."""

import inspect
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
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
