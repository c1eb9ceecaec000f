"""The classification report: text and numbers are compared with scikit-learn's."""

import warnings

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.peers import check_parity, scikit_learn


def check_report(y_true, y_pred, **options):
    """The text and the numbers of scikit-learn's report; returns the text."""
    for output_dict in (False, True):
        check_parity("classification_report", y_true, y_pred, **options, output_dict=output_dict)
    return fm.classification_report(y_true, y_pred, **options)


def test_a_report_of_many_classes():
    generator = np.random.default_rng(0)
    y_true, y_pred = (generator.integers(0, 60, 3000) for _ in range(2))
    assert len(check_report(y_true, y_pred).splitlines()) == 60 + 6
    assert check_report(y_true, y_pred, target_names=[f"class {number}" for number in range(60)], digits=5)


def test_micro_average_is_named_micro_if_labels_are_left_out():
    y_true, y_pred = [0, 1, 2, 2], [0, 2, 2, 1]
    assert "accuracy" in check_report(y_true, y_pred)
    assert "accuracy" in check_report(y_true, y_pred, labels=[2, 1, 0, 5], zero_division=0)
    assert "micro avg" in check_report(y_true, y_pred, labels=[0, 2])


@pytest.mark.filterwarnings("ignore")
def test_supports_are_floats_if_no_row_is_correct():
    """As in scikit-learn. They stay integers if rows with labels that are left out are correct."""
    assert "2.0" in check_report([0, 0], [1, 1], zero_division=0)
    assert ".0 " not in check_report([0, 0, 5], [1, 1, 5], labels=[0, 1], zero_division=0).replace("0.00", "")


def test_sums_of_weights_are_exact_here():
    """The exact sum of ten weights of 0.1 rounds to 1; scikit-learn adds them one by one, to 0.9999999999999999."""
    y_true = y_pred = [0] * 10
    weights = [0.1] * 10
    assert "0.9999999999999999" in scikit_learn().classification_report(y_true, y_pred, sample_weight=weights)
    assert fm.classification_report(y_true, y_pred, sample_weight=weights).splitlines()[2].endswith("      1.0")


def test_each_score_warns_once_about_0_over_0():
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        fm.classification_report([0, 1, 2], [0, 0, 0], labels=[0, 1, 2, 3])
    assert [str(warning.message).partition(":")[0] for warning in seen] == [
        "precision is undefined for label 1, 2, 3",
        "recall is undefined for label 3",
        "f-score is undefined for label 3",
    ]


BAD = [
    {"digits": -1},
    {"digits": 2.0},
    {"digits": "2"},
    {"output_dict": "yes"},
    {"output_dict": 1},
    {"target_names": "abc"},
    {"target_names": 3},
    {"target_names": ["only one"]},
    {"zero_division": 3},
    {"labels": "ab"},
    {"sample_weight": [1]},
]


@each_case("bad", BAD, ids=repr)
def test_bad_options(bad):
    check_parity("classification_report", [0, 1, 1], [0, 1, 0], **bad)
    assert_raises(ValueError, next(iter(bad)), fm.classification_report, [0, 1, 1], [0, 1, 0], **bad)


def test_names_may_differ_in_number_from_the_labels_option():
    for module in (scikit_learn(), fm):
        with pytest.warns(UserWarning, match="labels"):
            text = module.classification_report([0, 1, 1], [0, 1, 0], labels=[0, 1], target_names=["zero"])
        assert "zero" in text


@pytest.mark.filterwarnings("ignore")
def test_too_few_or_too_many_names():
    assert check_report([0, 1, 1], [0, 1, 0], labels=[0, 1], target_names=["zero"])
    assert check_report([0, 1, 1], [0, 1, 0], labels=[0], target_names=["zero", "one"])
