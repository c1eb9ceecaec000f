"""The classification report: text and numbers are compared with scikit-learn's."""

import math
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.peers import scikit_learn

KINDS = {
    "int": [0, 1, 2, 10, -7],
    "two": [0, 1],
    "bool": [False, True],
    "text": ["a", "bb", "a very long name of a label", "é"],
    "float": [0.0, 1.0, 2.0],
}


def report_and_warnings(function, *arguments, **options):
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            result = function(*arguments, **options)
        except (ValueError, TypeError) as error:
            result = type(error)
    return result, {warning.category.__name__ for warning in seen}


def check_report(y_true, y_pred, **options):
    theirs, their_warnings = report_and_warnings(scikit_learn().classification_report, y_true, y_pred, **options)
    ours, our_warnings = report_and_warnings(fm.classification_report, y_true, y_pred, **options)
    if isinstance(theirs, type):
        assert isinstance(ours, type), ours
        assert issubclass(ours, (ValueError, TypeError))
        return None
    assert ours == theirs
    assert our_warnings == their_warnings
    numbers = scikit_learn().classification_report(y_true, y_pred, **options, output_dict=True)
    check_dict(fm.classification_report(y_true, y_pred, **options, output_dict=True), numbers)
    return ours


def check_dict(ours, theirs):
    assert list(ours) == list(theirs)
    for name, scores in theirs.items():
        assert type(ours[name]) is type(scores)
        if isinstance(scores, float):
            assert ours[name] == pytest.approx(scores, rel=1e-14, nan_ok=True)
            continue
        assert list(ours[name]) == list(scores)
        for header, value in scores.items():
            assert type(ours[name][header]) is type(value) is float
            assert ours[name][header] == pytest.approx(value, rel=1e-14, nan_ok=True)


@st.composite
def options(draw, known, n_rows):
    labels = draw(st.none() | st.lists(st.sampled_from(known), min_size=1, max_size=4, unique=True))
    names = st.lists(st.sampled_from(["x", "a name", "a name that is longer than others"]), min_size=1, max_size=4)
    # Halves and quarters, whose sums neither library rounds.
    weight = st.sampled_from([0.5, 1.0, 2.0, 0.25])
    return {
        "labels": labels,
        "target_names": draw(st.none() | names),
        "sample_weight": draw(st.none() | st.lists(weight, min_size=n_rows, max_size=n_rows)),
        "digits": draw(st.sampled_from([2, 2, 0, 1, 4, 13])),
        "zero_division": draw(st.sampled_from(["warn", 0, 1, math.nan])),
    }


@given(st.sampled_from(list(KINDS)), st.integers(1, 12), st.data())
@settings(max_examples=200)
@pytest.mark.filterwarnings("ignore")
def test_report_equals_scikit_learn(kind, n_rows, data):
    labels = st.lists(st.sampled_from(KINDS[kind]), min_size=n_rows, max_size=n_rows)
    y_true, y_pred = data.draw(labels), data.draw(labels)
    extra = {"text": ["z"], "bool": []}.get(kind, [7])
    convert = data.draw(st.sampled_from([list, np.array]))
    check_report(convert(y_true), convert(y_pred), **data.draw(options(KINDS[kind] + extra, n_rows)))


@given(st.integers(1, 8), st.integers(2, 5), st.data())
@settings(max_examples=100)
@pytest.mark.filterwarnings("ignore")
def test_multilabel_report_equals_scikit_learn(n_rows, n_labels, data):
    sparse = pytest.importorskip("scipy.sparse")
    row = st.lists(st.integers(0, 1), min_size=n_labels, max_size=n_labels)
    matrices = st.lists(row, min_size=n_rows, max_size=n_rows).map(np.array)
    convert = data.draw(st.sampled_from([np.asarray, sparse.csr_array, np.ndarray.tolist]))
    y_true, y_pred = (convert(data.draw(matrices)) for _ in range(2))
    check_report(y_true, y_pred, **data.draw(options(list(range(n_labels)), n_rows)))


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
    with pytest.raises(ValueError):  # noqa: PT011 - scikit-learn has its own texts
        scikit_learn().classification_report([0, 1, 1], [0, 1, 0], **bad)
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
