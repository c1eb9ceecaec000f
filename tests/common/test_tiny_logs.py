"""Intervals of every metric in logs of few rows and units: each lies in the domain, has a width, or has a reason."""

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.metric_spec import SCALES
from fastmetrics.testing.sample_logs import sample_log, select
from support.registry_cases import ALL_CASES

ROWS, LOGS = 600, 10
CASES = {}  # by columns: metrics that one call computes together
for case in ALL_CASES:
    CASES.setdefault(" ".join(map(str, case.keywords.values())), []).append(case)


def all_right(log):
    """Predictions that are the targets."""
    chances = {f"chance_{number}": (log["kind_number"] == number).astype(float) for number in range(5)}
    return {
        "prob": log["label"].astype(float), "pred": log["label"], "guess": log["kind"], "forecast": log["target"],
        "predicted_tags": log["tags"], "cluster": log["class"], "hypothesis": log["reference"], "score": log["grade"],
    } | chances  # fmt: skip


def all_alike(log):
    """Predictions that are the same for all rows: all have the same error, or few errors."""
    rows = len(log["label"])
    chances = {f"chance_{number}": np.full(rows, 0.2) for number in range(5)}
    same = {"prob": 0.1, "pred": 1, "guess": "bee", "forecast": log["target"].mean(), "score": 0.0}
    return {name: np.full(rows, value) for name, value in same.items()} | chances


def one_class(log):
    names = ("label", "kind", "kind_number", "class", "target")
    return {name: np.full_like(log[name], log[name][0]) for name in names} | {"grade": np.zeros(len(log["label"]))}


def a_class_in_a_unit(log):
    return {"group": np.where(log["label"] == 1, 0, 1 + log["group"])}


KINDS = (lambda log: {}, all_right, all_alike, one_class, a_class_in_a_unit)


def tiny_log(rng, all_rows):
    rows, n_units = int(rng.choice([1, 2, 4, 6, 12, 40])), int(rng.choice([1, 2, 3, 4, 9]))
    log = select(all_rows, rng.integers(0, ROWS, rows))
    log["group"] = rng.integers(0, 2 * n_units, rows)
    log |= KINDS[rng.integers(len(KINDS))](log)
    return {**log, "unit": log["group"] % n_units}


def what_is_wrong(one, scale):
    """What is wrong with the interval of a result, or None."""
    if one.interval is None:
        return None if one.coverage.get("interval") else "no reason"
    low, high = one.interval
    least, greatest = SCALES[scale].cut(-math.inf, math.inf)
    if not least <= low < high <= greatest:
        return "outside of the domain, or without width"
    resampled, moved = "|method:bootstrap|" in one.signature, "around" in one.coverage.get("interval", "")
    beyond = not least <= one.value <= greatest  # by rounding
    if not (resampled or moved or beyond or low <= one.value <= high):
        return "the value is not in it"
    # Between the least numbers that there are, an interval is rounding.
    size = SCALES[scale].size_of(one.value)
    return "no error but rounding" if high - low < 1e-13 * size and one.value not in (least, greatest) else None


@pytest.mark.filterwarnings("ignore::fastmetrics.UndefinedMetricWarning")
@pytest.mark.parametrize("cases", CASES.values(), ids=list(CASES))
def test_intervals_of_tiny_logs(cases):
    rng, all_rows, wrong = np.random.default_rng(51), sample_log(ROWS), {}
    scales = {repr(case.parsed): case.parsed.scale for case in cases}
    for _ in range(LOGS):
        log = tiny_log(rng, all_rows)
        ci = float(rng.choice([0.5, 0.95, 0.999]))
        report = fm.evaluate(log, list(scales), unit="unit", ci=ci, **cases[0].keywords)
        for one in report:
            found = what_is_wrong(one, scales[one.metric])
            if found is not None:
                wrong[one.metric] = found, one.value, one.interval, one.standard_error
    assert not wrong
