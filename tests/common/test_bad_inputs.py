"""Bad input: the message of every function names the argument, the first bad row and the value found there."""

import functools
import math
import re

import numpy as np
import pyarrow as pa
import pytest

from support import strategies
from support.cases import ChecksOfNames, assert_undefined, each_case
from support.function_cases import (
    FUNCTIONS,
    GROUPED,
    PROBABILITY_FUNCTIONS,
    RANKING_FUNCTIONS,
    REGRESSION_FUNCTIONS,
    call,
    exact,
)
from support.peers import pandas, polars

# Functions of predicted labels and of a score per class accept any labels; they have their own tests.
ALL = [name for name, call in FUNCTIONS.items() if call.score_column != "pred" and name != "top_k_accuracy_score"]
WEIGHTED = [name for name in ALL if FUNCTIONS[name].weighted]
CLASS_FUNCTIONS = [name for name in ALL if FUNCTIONS[name].label_column == "label" and name not in RANKING_FUNCTIONS]
LABELED = [name for name in ALL if FUNCTIONS[name].label_column]
# They take any two labels, as scikit-learn's functions do: 0 and 7, "ham" and "spam".
ANY_LABELS = {
    "average_precision_score", "brier_score_loss", "calibration_curve", "clipped_rows", "d2_brier_score",
    "d2_log_loss_score", "log_loss", "roc_auc_score",
}  # fmt: skip
# They accept a table of one column, as scikit-learn does, and labels of any type with pos_label.
CURVES = {
    "best_threshold", "confusion_matrix_at_thresholds", "det_curve", "equal_error_rate", "far_frr_curve",
    "ks_statistic", "lift_curve", "partial_auc_score", "precision_recall_curve", "roc_auc_interval", "roc_curve",
}  # fmt: skip
OF_PROBABILITY = [name for name in PROBABILITY_FUNCTIONS if name in ALL]
SCORED = [name for name in ALL if FUNCTIONS[name].score_column in ("score", "prob") and name not in GROUPED]
SIZES = [7, 200_003]
CHECKS = ChecksOfNames()


@functools.cache
def frozen_log(rows):
    log = strategies.click_log(rows, seed=rows)
    log["label"][:4] = [0, 1, 0, 1][:rows]  # a variance needs two rows of each class
    return log | {"prob": np.clip(log["prob"], 0.01, 0.99)}


def log_of(rows):
    """A log that a test may put other columns into; it does not write into one."""
    return dict(frozen_log(rows))


def label_column(name):
    """The column of y_true."""
    return FUNCTIONS[name].label_column


def columns_of(name):
    """The columns that a function takes."""
    labels = [label_column(name)] if name in LABELED else []
    return [*labels, FUNCTIONS[name].score_column, *(["group"] if name in GROUPED else [])]


def score_argument(name):
    return FUNCTIONS[name].score_argument


def rejects(name, log, *words, error=(ValueError, TypeError), **options):
    """The call raises, and the message has every word, in any order."""
    with pytest.raises(error) as raised:
        call(name, log, **options)
    message = str(raised.value)
    for word in words:
        assert re.search(rf"(?<![\w.]){re.escape(str(word))}(?!\w)", message), f"{word!r} is not in: {message}"
    return message


@CHECKS.of(ALL)
@each_case("rows", SIZES)
@each_case("dtype", strategies.SCORE_DTYPES)
def nan_score(name, dtype, rows):
    log = log_of(rows)
    column = log[FUNCTIONS[name].score_column].astype(dtype)
    column[[rows - 4, rows - 1]] = np.nan
    log[FUNCTIONS[name].score_column] = column
    for n_threads in (1, 2):
        words = (score_argument(name), "NaN", f"row {rows - 4}")
        message = rejects(name, log, *words, error=ValueError, n_threads=n_threads)
        assert f"{score_argument(name)} has NaN at row {rows - 4}" in message


@CHECKS.of(LABELED)
@each_case("rows", SIZES)
@each_case("dtype", ["float32", "float64"])
def nan_label(name, dtype, rows):
    log = log_of(rows)
    log[label_column(name)] = log[label_column(name)].astype(dtype)
    log[label_column(name)][[rows - 3, rows - 2]] = np.nan
    assert f"y_true has NaN at row {rows - 3}" in rejects(name, log, error=ValueError)


BAD_LABELS = [("int8", 2), ("int64", -7), ("int32", 2**31 - 1), ("uint8", 255), ("uint64", 2**63), ("float64", 0.5)]


@CHECKS.of(CLASS_FUNCTIONS)
@each_case("rows", SIZES)
@each_case(("dtype", "value"), BAD_LABELS)
def label_outside_of_zero_and_one(name, dtype, value, rows):
    log = log_of(rows)
    log["label"] = log["label"].astype(dtype)
    log["label"][rows - 2 :] = value
    if name in ANY_LABELS:
        # Three labels: any of them may be the wrong one.
        message = rejects(name, log, error=ValueError)
        assert re.search(r"^(y_true|y_score|y_prob|multi_class)", message)
        assert re.search(r"3 |multiclass|continuous|fractions|has labels", message)
        return
    rejects(name, log, "y_true", f"row {rows - 2}", value, error=ValueError)


@CHECKS.of([name for name in CLASS_FUNCTIONS if name not in ANY_LABELS])
@each_case("dtype", strategies.SIGNED_LABEL_DTYPES)
def zero_and_minus_one_are_never_mixed(name, dtype):
    log = log_of(7)
    log["label"] = np.array([1, 1, 0, 1, -1, 0, -1]).astype(dtype)
    message = rejects(name, log, "y_true", error=ValueError)
    assert "-1" in message
    assert re.search(r"row [24]", message)


@CHECKS.of(LABELED)
@each_case("labels", [["a", "b"] * 3, ["0", "1"] * 3, [b"0", b"1"] * 3], ids=str)
def string_labels(name, labels):
    if name in ("clipped_rows", "d2_log_loss_score", "log_loss", "roc_auc_score"):
        pytest.skip("takes string classes as scikit-learn does")
    if name == "average_precision_score":
        argument = "y_true" if isinstance(labels[0], bytes) else "pos_label"
        rejects(name, {**log_of(6), label_column(name): labels}, argument)
        return
    rejects(name, {**log_of(6), label_column(name): labels}, "y_true")
    rejects(name, {**log_of(6), label_column(name): np.array(labels, dtype=object)}, "y_true")


@CHECKS.of(ALL)
def empty_input(name):
    for log in ({column: [] for column in log_of(1)}, {column: values[:0] for column, values in log_of(3).items()}):
        if name in ("d2_brier_score", "d2_log_loss_score"):
            # Undefined for fewer than two rows, as in scikit-learn.
            assert_undefined("fewer than two rows", call, name, log)
        else:
            assert re.search(f"^(y_true|{score_argument(name)}) is empty", rejects(name, log, error=ValueError))


@CHECKS.of(CLASS_FUNCTIONS)
def two_dimensional_input(name):
    log = log_of(6)
    if name not in ANY_LABELS:
        rejects(name, {**log, "label": log["label"].reshape(3, 2)}, "y_true", "(3, 2)", error=ValueError)
        column = FUNCTIONS[name].score_column
        rejects(name, {**log, column: log[column].reshape(3, 2)}, score_argument(name), "(3, 2)", error=ValueError)


# They accept a column per class, or a matrix with one column, as in scikit-learn.
TAKE_FRAMES = {*ANY_LABELS, *CURVES, *REGRESSION_FUNCTIONS}
NO_COLUMNS = {
    "pandas frame": lambda column: pandas().DataFrame({"a": column}),
    "polars frame": lambda column: polars().DataFrame({"a": column}),
    "arrow table": lambda column: pa.table({"a": column}),
    "arrow scalar": lambda column: pa.scalar(column[0]),
    "generator": iter,
    "set": lambda column: set(column.tolist()),
    "dict": lambda column: dict(enumerate(column.tolist())),
    "ragged list": lambda column: [*column[:-1].tolist(), [column[-1]]],
    "nothing": lambda column: None,
    "text": lambda column: "0" * len(column),
    "a number": lambda column: 0.5,
}


@CHECKS.of(ALL)
@each_case("kind", NO_COLUMNS)
def values_that_are_no_column(name, kind):
    log = log_of(6)
    for key in columns_of(name):
        if (name in TAKE_FRAMES or key == "group") and kind in ("pandas frame", "polars frame", "arrow table"):
            continue
        argument = {label_column(name): "y_true", "group": "groups"}.get(key, score_argument(name))
        rejects(name, {**log, key: NO_COLUMNS[kind](log[key])}, argument)


@CHECKS.of(ALL)
def complex_and_object_dtypes(name):
    log = log_of(6)
    column = FUNCTIONS[name].score_column
    rejects(name, {**log, column: log[column].astype(complex)}, score_argument(name), "complex128", error=TypeError)
    if name in LABELED:
        kind = TypeError if name not in {*ANY_LABELS, *CURVES} else ValueError
        rejects(name, {**log, label_column(name): log[label_column(name)].astype(complex)}, "y_true", error=kind)
        argument = "y_score" if name == "average_precision_score" else "y_true"  # six labels need six columns
        rejects(name, {**log, label_column(name): np.arange(6).astype("timedelta64[s]")}, argument)
    rejects(name, {**log, column: np.array([{}] * 6, dtype=object)}, score_argument(name), error=TypeError)
    rejects(name, {**log, column: np.array(["0.5"] * 6)}, score_argument(name), error=TypeError)
    rejects(name, {**log, column: np.arange(6).astype("datetime64[s]")}, score_argument(name), error=TypeError)


@CHECKS.of(SCORED)
def objects_that_are_numbers_are_numbers(name):
    """A column of a table that lost its type; scikit-learn reads such scores as well."""
    log, column = log_of(6), FUNCTIONS[name].score_column
    assert exact(call(name, {**log, column: log[column].astype(object)})) == exact(call(name, log))
    mixed = log[column].astype(object)
    mixed[1] = "0.5"
    with pytest.raises(ValueError, match=r"'0.5' at row 1"):
        call(name, {**log, column: mixed})


@CHECKS.of(SCORED)
@each_case("nothing", ["scores", 0.5, np.array(["0.5"] * 6), np.zeros(6, complex)])
def the_error_for_no_column_has_both_types(name, nothing):
    """scikit-learn raises ValueError or TypeError; this error is both."""
    for kind in (ValueError, TypeError):
        with pytest.raises(kind):
            call(name, {**log_of(6), FUNCTIONS[name].score_column: nothing})


@CHECKS.of(WEIGHTED)
@each_case("rows", SIZES)
@each_case("value", [-1.0, -1e-300, -np.inf])
def negative_weight(name, value, rows):
    weight = np.ones(rows)
    weight[[rows - 5, rows - 1]] = value
    rejects(name, {**log_of(rows), "weight": weight}, "sample_weight", f"row {rows - 5}", value, error=ValueError)


@CHECKS.of([name for name in WEIGHTED if name in CLASS_FUNCTIONS])
def rows_of_weight_zero_do_not_shift_the_row_that_is_named(name):
    log = {**log_of(8), "weight": np.array([0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0])}
    column = FUNCTIONS[name].score_column
    if name not in ANY_LABELS:
        rejects(name, {**log, "label": np.array([0, 1, 0, 1, 0, 7, 1, 0])}, "y_true", "row 5", 7)
    with_nan = np.array([0.1, 0.2, 0.3, 0.4, 0.5, np.nan, 0.7, 0.8])
    rejects(name, {**log, column: with_nan}, score_argument(name), "row 5", "NaN")
    if name in PROBABILITY_FUNCTIONS:
        above_one = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 1.5, 0.7, 0.8])
        rejects(name, {**log, column: above_one}, score_argument(name), "row 5", 1.5)


WEIGHTED_FLOATS = [name for name in WEIGHTED if name in CLASS_FUNCTIONS and FUNCTIONS[name].returns is float]


@CHECKS.of(WEIGHTED_FLOATS)
def all_weights_zero_is_undefined(name):
    if name in ANY_LABELS - {"roc_auc_score"}:
        rejects(name, {**log_of(7), "weight": np.zeros(7)}, "sample_weight", error=ValueError)  # as in scikit-learn
        return
    assert_undefined("", call, name, {**log_of(7), "weight": np.zeros(7)})


@CHECKS.of(OF_PROBABILITY)
@each_case("rows", SIZES)
@each_case("dtype", strategies.SCORE_DTYPES)
@each_case("value", [-0.25, 1.5, np.inf, -np.inf, 1.0000001])
def probability_outside_of_zero_and_one(name, value, dtype, rows):
    log = log_of(rows)
    log["prob"] = log["prob"].astype(dtype)
    log["prob"][[rows - 6, rows - 2]] = value
    assert str(value)[:4] in rejects(name, log, score_argument(name), f"row {rows - 6}", error=ValueError)


def missing_at(values, row, library):
    """The column with a null at one row, in another library's container."""
    listed = [None if index == row else value for index, value in enumerate(values.tolist())]
    if library == "pandas":
        return pandas().Series(listed, dtype={"f": "Float64", "i": "Int64"}[values.dtype.kind])
    if library == "polars":
        return polars().Series(listed)
    return pa.array(listed) if library == "arrow" else pa.chunked_array([listed[:2], listed[2:]])


@CHECKS.of(ALL)
@each_case("library", ["arrow", "chunked", "polars", "pandas"])
def null_is_refused_with_its_row(name, library):
    log = log_of(7)
    column = FUNCTIONS[name].score_column
    for key, argument in ((label_column(name), "y_true"), (column, score_argument(name)))[name not in LABELED :]:
        rejects(name, {**log, key: missing_at(log[key], 5, library)}, argument, "null", "row 5", error=ValueError)
    if name in GROUPED:
        groups = missing_at(log["group"], 5, library)
        rejects(name, {**log, "group": groups}, "groups", "null", "row 5", error=ValueError)


@CHECKS.of(GROUPED)
def missing_string_groups(name):
    for missing in (None, np.nan, float("nan")):
        groups = np.array(["a", "b", missing, "a"], dtype=object)
        rejects(name, {**log_of(4), "group": groups}, "groups", "row 2")
    rejects(name, {**log_of(4), "group": pa.array(["a", "b", None, "a"])}, "groups", "null", "row 2", error=ValueError)
    dictionary = pa.array(["a", "b", None, "a"]).dictionary_encode()
    rejects(name, {**log_of(4), "group": dictionary}, "groups", "null", "row 2", error=ValueError)
    hidden = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 0]), pa.array(["a", "b", None]))
    rejects(name, {**log_of(4), "group": hidden}, "groups", "null", "row 2", error=ValueError)


@CHECKS.of(GROUPED)
@each_case("groups", [[0.5, 1.0, np.nan, 2.0], [1j] * 4, [{}] * 4, [(1, 2)] * 4], ids=str)
def groups_of_a_type_that_is_no_key(name, groups):
    rejects(name, {**log_of(4), "group": groups}, "groups")


MIXED_GROUPS = {
    "list": lambda keys: keys,
    "tuple": tuple,
    "numpy object": lambda keys: np.array(keys, dtype=object),
    "pandas": lambda keys: pandas().Series(keys, dtype=object),
}


@CHECKS.of(GROUPED)
@each_case("container", MIXED_GROUPS)
@each_case("other", [1, 1.5, math.nan, True, None, b"a"], ids=repr)
def strings_and_other_types_are_never_mixed(name, other, container):
    """1 is not "1", and a missing key is no user called "nan"."""
    groups = MIXED_GROUPS[container](["a", other, "1", "nan"])
    message = rejects(name, {**log_of(4), "group": groups}, "groups")
    if container != "pandas":
        assert "row 1" in message


@CHECKS.of(CLASS_FUNCTIONS)
def a_bad_call_leaves_the_library_usable(name):
    log = log_of(1000)
    expected = exact(call(name, log))
    bad = {**log, FUNCTIONS[name].score_column: np.full(1000, np.nan)}
    for _ in range(3):
        rejects(name, bad, score_argument(name))
    assert exact(call(name, log)) == expected


@pytest.mark.parametrize("name", CHECKS.names)
def test_bad_inputs(name):
    CHECKS.run(name)
