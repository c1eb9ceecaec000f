"""Masked values are nulls: NumPy's conversions would drop the mask, and read what stands below it.

The calls are those of the smoke tests, one for every public function: each column in turn is masked in one value, in
every form that NumPy has for that.
"""

import contextlib
import importlib
import re

import numpy as np
import numpy.ma.mrecords
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

FAMILIES = [
    "classification", "clustering", "curves", "detection", "probability", "ranking", "regression", "significance",
    "text",
]  # fmt: skip
# Arguments that are no columns.
OPTIONS = {"labels", "target_names", "k", "modules", "thresholds", "quantiles"}
# Errors that name the value in words of their own.
OTHER_WORDS = r"at cell 1|log_probs\[1\]|hypotheses\[1\]|references\[1\]"


def recorded_calls(family):
    """The first call of every case of a smoke test: name, arguments, options."""
    module = importlib.import_module(f"smoke.test_{family}")
    for name, call, *_ in module.CASES:
        calls = []

        def record(*arguments, name=name, calls=calls, **options):
            calls.append((arguments, options))
            return getattr(fm, name)(*arguments, **options)

        with contextlib.suppress(Exception):  # cases that write files are called with a folder
            call(record)
        yield from ((name, *own) for own in calls[:1])


def masked_forms(values):
    """Forms of a column with one masked value, and the row of the value."""
    try:
        array = np.asarray(values)
    except ValueError:
        return
    flat = array.ravel().tolist()
    if array.ndim == 0 or array.size < 2 or not all(isinstance(value, str | int | float) for value in flat):
        return
    row = min(1, array.shape[0] - 1)
    mask = np.zeros(array.shape, bool)
    mask[(row, *[-1] * (array.ndim - 1))] = True
    masked = np.ma.MaskedArray(array, mask=mask)
    yield masked, row
    if array.ndim == 1:
        yield np.ma.MaskedArray(array.astype(object), mask=mask), row
        yield masked.view(type("Subclass", (np.ma.MaskedArray,), {})), row
        yield [np.ma.masked if place == row else value for place, value in enumerate(flat)], row
    elif array.ndim == 2:
        yield list(masked), row
        yield [list(own) for own in masked], row


@pytest.mark.filterwarnings("ignore")
@each_case("family", FAMILIES)
def test_a_masked_value_is_an_error_in_every_function(family):
    accepted = []
    for name, arguments, options in recorded_calls(family):
        columns = dict(enumerate(arguments)) | {key: own for key, own in options.items() if key not in OPTIONS}
        for key, values in columns.items():
            for form, row in masked_forms(values) if not isinstance(values, str | bytes | dict | set) else ():
                given = dict(enumerate(arguments)) | options | {key: form}
                positional = [given.pop(place) for place in range(len(arguments))]
                try:
                    getattr(fm, name)(*positional, **given)
                except (ValueError, TypeError) as error:
                    if not re.search(rf"row {row}\b|{OTHER_WORDS}", str(error)):
                        accepted.append((name, key, str(error)))
                else:
                    accepted.append((name, key, type(form).__name__))
    assert not accepted


LOG = {
    "y": np.array([1, 0, 1, 0, 1]), "s": np.array([0.9, 0.2, 0.4, 0.7, 0.5]), "g": np.array(list("aabbb")),
    "p": np.array([[0.5, 0.5], [0.25, 0.75], [0.25, 0.75], [0.875, 0.125], [0.5, 0.5]]),
}  # fmt: skip
MASK = [False, False, True, False, False]
COLUMNS = {"label": "y", "score": "s", "group": "g"}


def structured(view, *masked):
    """Records of which some fields are masked in row 2."""
    array = np.zeros(5, [("y", "i8"), ("s", "f8"), ("g", "U1")])
    for name in array.dtype.names:
        array[name] = LOG[name]
    records = np.ma.MaskedArray(array)
    for name in masked:
        records.mask[name][2] = True
    return records.view(view)


@each_case("view", [np.ma.MaskedArray, numpy.ma.mrecords.MaskedRecords])
@each_case("name", ["y", "s", "g"])
def test_masked_fields_of_records(view, name):
    records = structured(view, name)
    role = {"y": "label", "s": "score", "g": "group"}[name]
    message = f"{role} column '{name}' has a null at row 2"
    assert_raises(ValueError, message, fm.evaluate, records, ["auc", "gauc"], **COLUMNS)
    assert_raises(ValueError, message, fm.compare, records, ["gauc"], label="y", score=["s", "y"], group="g")
    accumulator = fm.Accumulator(["auc", "gauc"], **COLUMNS)
    assert_raises(ValueError, message, accumulator.update, records)
    rest = {key: np.delete(own, 2, axis=0) for key, own in LOG.items()}
    expected = fm.evaluate(rest, ["auc", "gauc"], **COLUMNS)
    dropped = fm.evaluate(records, ["auc", "gauc"], **COLUMNS, on_invalid="drop")
    assert [own.value for own in dropped] == [own.value for own in expected]


def test_masked_records_and_groups():
    """A masked row, a masked field of a group of several columns, and records without a mask."""
    records = structured(np.ma.MaskedArray)
    assert fm.evaluate(records, ["auc"], **COLUMNS)["auc"] == fm.evaluate(LOG, ["auc"], **COLUMNS)["auc"]
    records[2] = np.ma.masked
    assert_raises(ValueError, "label column 'y' has a null at row 2", fm.evaluate, records, ["auc"], **COLUMNS)
    groups = structured(np.ma.MaskedArray, "g")[["y", "g"]]
    assert_raises(ValueError, "groups column 'g' has a null at row 2", fm.gauc_score, LOG["y"], LOG["s"], groups)
    assert_raises(ValueError, "a null at row 2", fm.roc_auc_score, structured(np.ma.MaskedArray, "y")["y"], LOG["s"])


@each_case("name", ["y", "s", "g", "p"])
def test_masked_columns_of_a_dict(name):
    mask = MASK if name != "p" else np.outer(MASK, [False, True])
    masked = np.ma.MaskedArray(LOG[name], mask=mask)
    objects = np.empty(5, object)
    objects[:] = list(masked) if name != "p" else [list(own) for own in masked]
    columns = COLUMNS if name != "p" else {"label": "y", "probabilities": "p"}
    metrics = ["auc", "gauc"] if name != "p" else ["logloss"]
    for form in (masked, list(masked), objects):
        assert_raises(ValueError, "null.* at row 2", fm.evaluate, {**LOG, name: form}, metrics, **columns)
    rows = [{key: own[row] for key, own in {**LOG, name: masked}.items()} for row in range(5)]
    assert_raises(ValueError, "null.* at row 2", fm.evaluate, rows, metrics, **columns)


def test_masks_of_pixels():
    pixels = np.ma.MaskedArray(np.ones((2, 3, 3), np.uint8), mask=False)
    assert fm.mask_areas(pixels).tolist() == [9, 9]
    pixels[1, 0, 0] = np.ma.masked
    for function, arguments in ((fm.mask_areas, [pixels]), (fm.encode_masks, [pixels]), (fm.mask_iou, [pixels] * 2)):
        assert_raises(ValueError, "at row 1: the array has masked values", function, *arguments)
