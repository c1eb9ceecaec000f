"""Signatures: scikit-learn's own parameters come first and are the same; ours are keyword-only and come after.

And the suite itself: every row of DIFFERENCES is still true, and the comparer sees what it has to see.
"""

import inspect
import warnings

import numpy as np

import fastmetrics as fm
from support.cases import each_case
from support.parity.cases import EVERYTHING, MISSING, UNFINISHED, Call, Outcome, ours, present, run, theirs
from support.parity.comparer import compare, compare_libraries
from support.parity.differences import DIFFERENCES

KEYWORD_ONLY = inspect.Parameter.KEYWORD_ONLY


def parameters(function):
    return list(inspect.signature(function).parameters.values())


def test_every_function_is_here():
    assert sorted(MISSING) == sorted(UNFINISHED)


@each_case("name", present(EVERYTHING))
class TestSignature:
    def test_their_parameters_come_first_and_are_the_same(self, name):
        wanted = parameters(theirs(name))
        found = parameters(ours(name))[: len(wanted)]
        assert [parameter.name for parameter in found] == [parameter.name for parameter in wanted]
        assert [parameter.kind for parameter in found] == [parameter.kind for parameter in wanted]
        # By repr: NaN is not equal to itself.
        assert [repr(parameter.default) for parameter in found] == [repr(parameter.default) for parameter in wanted]

    def test_our_extras_are_keyword_only_and_optional(self, name):
        extras = parameters(ours(name))[len(parameters(theirs(name))) :]
        assert all(extra.kind is KEYWORD_ONLY for extra in extras)
        assert all(extra.default is not inspect.Parameter.empty for extra in extras)

    def test_it_is_public(self, name):
        assert name in fm.__all__
        assert ours(name).__name__ == name


# ------------------------------------------------------------------------------------------------- differences

EXAMPLES = [(row, call) for row in DIFFERENCES for call in row.examples if call.name not in MISSING]


@each_case(("row", "call"), EXAMPLES, ids=[f"{call.name}: {row.reason[:40]}" for row, call in EXAMPLES])
def test_every_difference_is_still_one(row, call):
    mine, other, complaints = compare_libraries(call)
    assert complaints, f"no difference any more: {call} gives {mine}"
    assert row.covers(call)
    assert row.instead(call, mine, other), f"ours: {mine}; theirs: {other}"


# ------------------------------------------------------------------------------------------ the comparer can fail


def value(what, *warned):
    return Outcome(what, None, warned)


class BothError(ValueError, TypeError):
    """As their InvalidParameterError."""


UNEQUAL = {
    "another number": (value(1.0), value(1.0 + 1e-11)),
    "another number near 0": (value(0.0), value(1e-11)),
    "NaN": (value(float("nan")), value(0.0)),
    "infinity": (value(float("inf")), value(-float("inf"))),
    "a NumPy float": (value(1.0), value(np.float64(1.0))),
    "an integer": (value(1), value(1.0)),
    "dtype": (value(np.zeros(2, np.float32)), value(np.zeros(2))),
    "shape": (value(np.zeros(2)), value(np.zeros((2, 1)))),
    "array": (value(np.array([1, 2])), value(np.array([1, 3]))),
    "NaN in an array": (value(np.array([1.0, np.nan])), value(np.array([1.0, 0.0]))),
    "part of a tuple": (value((1.0, None)), value((1.0, 2.0))),
    "length of a tuple": (value((1.0,)), value((1.0, 2.0))),
    "list": (value([1.0]), value((1.0,))),
    "keys": (value({"a": 1.0}), value({"b": 1.0})),
    "order of keys": (value({"a": 1.0, "b": 1.0}), value({"b": 1.0, "a": 1.0})),
    "type of keys": (value({1: 1.0}), value({1.0: 1.0})),
    "value of a key": (value({"a": 1.0}), value({"a": 2.0})),
    "text": (value("a "), value("a")),
    "no warning": (value(1.0), value(1.0, "UserWarning")),
    "a warning": (value(1.0, "UserWarning"), value(1.0)),
    "two warnings": (value(1.0, "UserWarning"), value(1.0, "UserWarning", "UserWarning")),
    "another warning": (value(1.0, "UserWarning"), value(1.0, "UndefinedMetricWarning")),
    "noise of ours": (value(1.0, "RuntimeWarning"), value(1.0, "RuntimeWarning")),
    "no error": (value(1.0), Outcome(error=ValueError())),
    "an error": (Outcome(error=ValueError()), value(1.0)),
    "kind of error": (Outcome(error=TypeError()), Outcome(error=ValueError())),
    "half of an error": (Outcome(error=ValueError()), Outcome(error=BothError())),
    "strange error": (Outcome(error=MemoryError()), Outcome(error=IndexError())),
}
EQUAL = {
    "number": (value(1.0), value(1.0 + 1e-13)),
    "NaN": (value(float("nan")), value(float("nan"))),
    "array": (value(np.array([1.0, np.nan, np.inf])), value(np.array([1.0, np.nan, np.inf]))),
    "tuple": (value((1.0, np.ones(1), None)), value((1.0, np.ones(1), None))),
    "noise of theirs": (value(1.0), value(1.0, "RuntimeWarning")),
    "warning": (value(1.0, "UserWarning"), value(1.0, "UserWarning")),
    "error": (Outcome(error=BothError()), Outcome(error=ValueError())),
    "accident": (value(1.0), Outcome(error=AttributeError())),
}


@each_case("pair", UNEQUAL.values(), ids=UNEQUAL.keys())
def test_what_differs_is_seen(pair):
    assert compare(*pair)


@each_case("pair", EQUAL.values(), ids=EQUAL.keys())
def test_what_is_equal_is_no_complaint(pair):
    assert not compare(*pair)


def test_a_run_keeps_what_happened():
    def noisy(value):
        warnings.warn("twice", UserWarning, stacklevel=1)
        warnings.warn("twice", UserWarning, stacklevel=1)
        return value

    assert run(noisy, Call("noisy", (3,), {})).warned == ("UserWarning", "UserWarning")
    assert run(noisy, Call("noisy", (), {})).error is not None


# --------------------------------------------------------------------------------------- warnings say who called

ONE = np.ones(4, np.int64)
WARN = [
    ("precision_score", [ONE, ONE * 0], {}),
    ("recall_score", [ONE * 0, ONE], {}),
    ("f1_score", [ONE * 0, ONE * 0], {}),
    ("precision_score", [[0, 1, 2], [0, 0, 0]], {"average": "macro"}),
    ("f1_score", [ONE, ONE], {"labels": [7], "average": None}),
    ("fbeta_score", [ONE, ONE], {"labels": [7], "average": None, "beta": 2}),
    ("f1_score", [[0, 1], [0, 1]], {"average": "macro", "pos_label": 0}),
    ("precision_recall_fscore_support", [[0, 1, 2], [0, 0, 0]], {}),
    ("jaccard_score", [[0, 1, 1], [0, 0, 0]], {"labels": [5], "average": None}),
    ("classification_report", [[0, 1], [0, 0]], {}),
    ("classification_report", [[0, 1], [0, 1]], {"labels": [0, 1], "target_names": ["a"]}),
    ("confusion_matrix", [ONE, ONE], {}),
    ("balanced_accuracy_score", [[0, 1], [0, 2]], {}),
    ("matthews_corrcoef", [ONE, ONE], {}),
    ("cohen_kappa_score", [ONE, ONE], {}),
    ("class_likelihood_ratios", [[0, 1], [0, 0]], {}),
    ("top_k_accuracy_score", [[0, 1], [0.1, 0.9]], {"k": 2}),
    ("roc_auc_score", [ONE, ONE], {}),
    ("roc_auc_score", [ONE, ONE], {"max_fpr": 0.5}),
    ("roc_auc_score", [ONE, ONE], {"sample_weight": ONE}),
    ("roc_auc_score", [np.eye(4, 3, dtype=int), np.eye(4, 3)[::-1]], {"average": "samples"}),
    ("roc_auc_score", [[0, 0, 1], np.full((3, 3), 1 / 3)], {"multi_class": "ovr", "labels": [0, 1, 2]}),
    ("roc_curve", [ONE, ONE], {}),
    ("precision_recall_curve", [ONE * 0, ONE], {}),
    ("average_precision_score", [ONE * 0, ONE], {}),
    ("log_loss", [[0, 1, 2], np.full((3, 3), 0.25)], {}),
    ("brier_score_loss", [[0, 1, 2], np.full((3, 3), 0.25)], {}),
    ("log_loss", [[0, 1]], {"y_pred": [0.2, 0.9]}),
    ("d2_log_loss_score", [[0, 1]], {"y_pred": [0.2, 0.9]}),
    ("d2_log_loss_score", [[0], [0.2]], {}),
    ("d2_brier_score", [[0], [0.2]], {}),
    ("r2_score", [[1.0], [2.0]], {}),
    ("d2_tweedie_score", [[1.0], [2.0]], {}),
    ("d2_pinball_score", [[1.0], [2.0]], {}),
    ("d2_absolute_error_score", [[1.0], [2.0]], {}),
]


@each_case(("name", "args", "options"), [row for row in WARN if row[0] not in MISSING])
def test_warnings_name_the_line_that_called(name, args, options):
    """A warning of a line deep in the library helps nobody, and is shown once for all callers."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        ours(name)(*args, **options)
    assert caught
    assert {warning.filename for warning in caught} == {__file__}
