"""scikit-learn's tests of its metrics.

Each function of `sklearn.metrics` and `sklearn.metrics.cluster` that fastmetrics has by the same name is replaced, in
all modules below `sklearn.metrics` and in its named scorers.
"""

import importlib
import pkgutil
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any

from tools.conformance.suite import Calls, Suite

PACKAGES = ("sklearn.metrics", "sklearn.metrics.cluster")
FILES = (
    "test_classification.py",
    "test_common.py",
    "test_ranking.py",
    "test_regression.py",
    "test_score_objects.py",
)
TEXT_OF_A_WARNING = "compares the text of a warning or an error with scikit-learn's sentence; ours has its own text"


def replace(calls: Calls) -> int:
    import fastmetrics

    found: dict[Any, Callable[..., Any]] = {}
    for package in PACKAGES:
        module = importlib.import_module(package)
        for name in set(module.__all__).intersection(fastmetrics.__all__):
            theirs = getattr(module, name)
            if theirs not in found:
                found[theirs] = calls.counted(theirs, getattr(fastmetrics, name))
    for module in list(modules_of_metrics()):
        for name, value in list(vars(module).items()):
            if callable(value) and getattr(value, "__hash__", None) and value in found:
                setattr(module, name, found[value])
    for scorer in importlib.import_module("sklearn.metrics._scorer")._SCORERS.values():
        scorer._score_func = found.get(scorer._score_func, scorer._score_func)
    return len(found)


def modules_of_metrics() -> Iterable[ModuleType]:
    """sklearn.metrics and the modules below it, without their tests."""
    top = importlib.import_module("sklearn.metrics")
    yield top
    for module in pkgutil.walk_packages(top.__path__, "sklearn.metrics."):
        if ".tests" not in module.name:
            yield importlib.import_module(module.name)


SUITE = Suite(
    library="scikit-learn",
    source="installed",
    repository="https://github.com/scikit-learn/scikit-learn",
    files=(
        *(f"sklearn/metrics/tests/{name}" for name in FILES),
        "sklearn/metrics/cluster/tests/test_common.py",
        "sklearn/metrics/cluster/tests/test_supervised.py",
        "sklearn/metrics/cluster/tests/test_unsupervised.py",
        "sklearn/metrics/_plot/tests",
    ),
    requirements=("scikit-learn>=1.9,<1.10", "pytest"),
    replace=replace,
    explained={
        "test_precision_warnings": TEXT_OF_A_WARNING,
        "test_recall_warnings": TEXT_OF_A_WARNING,
        "test_fscore_warnings": TEXT_OF_A_WARNING,
        "test_prf_warnings": TEXT_OF_A_WARNING,
        "test_classification_report_zero_division_warning": TEXT_OF_A_WARNING,
        "test_multimetric_scorer_exception_handling": TEXT_OF_A_WARNING,
        "test_public_entropy_deprecation": "scikit-learn's `entropy` says that it will go; ours stays",
        "test_confusion_matrix_at_thresholds_positional_args_deprecation": (
            "scikit-learn says that options will have to be named; here they have to be"
        ),
        "test_confusion_matrix_dtype": (
            "its last part asks that two weights of 2^63 - 1 add to -2; here weights beyond 2^53 are an error"
        ),
        "test_d2_brier_score": (
            "1 - 0.6 is not 0.4 in binary; the exact sum gives -5.6e-17, where rounded sums happen to give 0"
        ),
    },
)
