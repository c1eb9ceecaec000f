"""Reports whose results are written down: of several metrics, and of slices of two models."""

import math

from fastmetrics.engine.results.report import Report
from fastmetrics.engine.results.result import Result

LEFT_OUT = {"one class: no positive": 700, "one class: no negative": 12}
GROUPED = {
    "rows": 950_000,
    "groups": 3453,
    "groups_used": 2741,
    "groups_left_out": LEFT_OUT,
    "rows_left_out": {"one class: no positive": 30_000, "one class: no negative": 67},
}


def results():
    return [
        Result("auc", "pctr", {}, 0.9600813796015879, "auc|v:0.1.0", {"rows": 980_067}),
        Result("gauc(weight=pairs)", "pctr", {}, 0.25, "gauc|weight:pairs|groups:3453|v:0.1.0", GROUPED),
        Result("logloss", "pctr", {}, 12.5, "logloss|v:0.1.0", {"rows": 980_067, "rows_clipped": 1234}),
        Result("ks", "pctr", {}, math.nan, "ks|v:0.1.0", {"rows": 980_067}, "no positive label"),
    ]


def report(some=None, **changes):
    options = {
        "rows": 980_070,
        "dropped": {"null or NaN score": 3, "null label": 0},
        "columns": {"label": "click", "score": "pctr", "group": "user_id", "weight": None},
        "version": "0.1.0",
        "seconds": 0.5,
    }
    return Report(results() if some is None else some, **(options | changes))


def sliced(metric="auc"):
    slices = [{}, {"channel": "ads", "day": 1}, {"channel": "web", "day": 2}]
    scores = ["a", "b"]
    return report(
        [
            Result(metric, score, part, 0.5 + i / 8, "s", {"rows": 10})
            for i, part in enumerate(slices)
            for score in scores
        ],
        rows=30,
        dropped={},
    )
