"""`pos_label` wherever labels are binary: texts and other labels give the values of 0 and 1."""

import inspect
import warnings

import numpy as np
import pytest

import fastmetrics as fm
from support.function_cases import FUNCTIONS, PUBLIC, RANKING_FUNCTIONS, add_weights, call, exact
from support.strategies import click_log

OF_LABELS = [name for name, case in FUNCTIONS.items() if case.label_column == "label"]
WITH_POS_LABEL = [name for name in OF_LABELS if "pos_label" in inspect.signature(PUBLIC[name]).parameters]
FORMS = {
    "texts": (np.array(["ham", "spam"]), "spam"),
    "objects": (np.array(["ham", "spam"], object), "spam"),
    "the lesser number": (np.array([7, 3]), 3),
}
# Of classes: labels of any kind, of which none is positive, or the greater one as in scikit-learn.
READ_CLASSES = {
    "accuracy_score", "zero_one_loss", "balanced_accuracy_score", "classification_report", "cohen_kappa_score",
    "confusion_matrix", "multilabel_confusion_matrix", "geometric_mean_score", "hamming_loss",
    "class_likelihood_ratios", "matthews_corrcoef", "precision_recall_fscore_support", "top_k_accuracy_score",
    "roc_auc_score", "clipped_rows", "d2_log_loss_score", "log_loss",
}  # fmt: skip
# Graded relevance is a number: these read 0, 1, 2 and so on.
GRADED = set(RANKING_FUNCTIONS) - {"auc_by_group", "gauc_score"}


@pytest.fixture(scope="module")
def log():
    found = add_weights(click_log(600, seed=2))
    return found | {"label": found["label"].astype(np.int64), "pred": found["pred"].astype(np.int64)}


def in_form(log, form):
    names, pos_label = FORMS[form]
    return log | {"label": names[log["label"]], "pred": names[log["pred"]]}, pos_label


def value(name, log, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return exact(call(name, log, **FUNCTIONS[name].required, **options))


def binary(name):
    """Options that ask for the positive class, where there are averages over both."""
    return {"average": "binary"} if name in ("precision_recall_fscore_support", "geometric_mean_score") else {}


@pytest.mark.parametrize("name", WITH_POS_LABEL)
@pytest.mark.parametrize("form", FORMS)
def test_values_are_those_of_0_and_1(log, name, form):
    changed, pos_label = in_form(log, form)
    found = value(name, changed, **binary(name), pos_label=pos_label)
    assert found == value(name, log, **binary(name), pos_label=1)


@pytest.mark.parametrize("name", OF_LABELS)
def test_texts_without_it_are_labels_of_classes_or_an_error_that_says_so(log, name):
    if name in GRADED:
        return
    changed, _ = in_form(log, "texts")
    if name in READ_CLASSES:
        value(name, changed)
        return
    with pytest.raises(ValueError, match="pos_label"):
        value(name, changed)
    assert name in WITH_POS_LABEL


@pytest.mark.parametrize("name", ["copc", "gauc_score", "lift", "expected_calibration_error", "auc_by_group"])
def test_a_pos_label_of_another_kind_is_an_error(log, name):
    with pytest.raises(ValueError, match=r"pos_label must be a number, a text, a bool or None; found \["):
        value(name, log, pos_label=[1])


def test_logs_have_an_expression_in_its_place(log):
    changed, _ = in_form(log, "texts")
    columns = {"score": "prob", "group": "group"}
    expected = fm.evaluate(log, label="label", **columns)
    found = fm.evaluate(changed, label="label = 'spam'", **columns)
    assert len(found) > 5
    assert [exact(own.value) for own in found] == [exact(own.value) for own in expected]
    with pytest.raises(ValueError, match='for one class against the rest: label="label = '):
        fm.evaluate(changed, label="label", **columns)
