"""GAUC of slices, whose groups of one class are counted and not listed: the values and coverage of filtered logs."""

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm

COUNTED = ["gauc", "gauc(weight=pairs)", "gauc(weight=uniform)", "gauc(weight=positives)", "gauc(single_class=nan)"]
LISTED = [*COUNTED, "gauc(single_class=half)"]  # which needs every group


def make_log(rows, positives, seed):
    """A log with two labels, which are of one class in different groups."""
    random = np.random.default_rng(seed)
    return pa.table({
        "click": (random.random(rows) < positives).astype(np.int8),
        "sale": (random.random(rows) < positives / 2).astype(np.int8),
        "pctr": random.integers(0, 9, rows) / 9,
        "pcvr": random.random(rows),
        "user": random.integers(0, max(1, rows // 8), rows),
        "channel": random.integers(0, 3, rows),
        "day": random.integers(0, 4, rows),
    })


@pytest.mark.parametrize("metrics", [LISTED, COUNTED, ["gauc", "gauc(stat=p10)"]], ids=["listed", "counted", "values"])
@pytest.mark.parametrize(("rows", "positives"), [(900, 0.2), (900, 0.9), (60, 0.0), (60, 1.0), (1, 1.0)])
@pytest.mark.parametrize("by", ["channel", [["channel"], ["channel", "day"]]], ids=["slices", "sets"])
def test_slices_are_filtered_logs(metrics, rows, positives, by):
    log = make_log(rows, positives, rows + int(10 * positives))
    columns = {"label": ["click", "sale"], "score": ["pctr", "pcvr"], "group": "user"}
    report = fm.evaluate(log, metrics, by=by, **columns)
    slices = {tuple(own.slice.items()) for own in report}
    assert len(slices) > 1
    for values in slices:
        mask = np.ones(rows, bool)
        for name, value in values:
            mask &= log[name].to_numpy() == value
        expected = fm.evaluate(log.filter(pa.array(mask)), metrics, **columns)
        found = [own for own in report if tuple(own.slice.items()) == values]
        assert [(own.metric, own.label, own.score) for own in found] == [
            (own.metric, own.label, own.score) for own in expected
        ]
        for own, of_filtered in zip(found, expected, strict=True):
            assert own.value == of_filtered.value or (np.isnan(own.value) and np.isnan(of_filtered.value))
            assert own.coverage == of_filtered.coverage
