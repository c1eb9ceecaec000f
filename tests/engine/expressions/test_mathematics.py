"""`exp`, `ln` and `power` of expressions are our own: the bits of `_core/elementary.py`, whatever the platform."""

import numpy as np
import pyarrow as pa
from engine.expressions.test_truth_table import values_of

import fastmetrics as fm
from fastmetrics._core import elementary
from support.cases import each_case

NUMBERS = np.concatenate((np.linspace(0.01, 9, 500), [0.0, -1.0, np.inf, -np.inf, np.nan, 5e-324, 710.0]))
TABLE = pa.table({"x": NUMBERS, "y": NUMBERS[::-1].copy(), "n": pa.array([None, *NUMBERS[1:].tolist()], pa.float64())})


@each_case(
    ("text", "expected"),
    [
        ("exp(x)", elementary.exp(NUMBERS)), ("power(x, y)", elementary.power(NUMBERS, NUMBERS[::-1])),
        ("power(x, 0.3)", elementary.power(NUMBERS, 0.3)), ("power(2.5, x)", elementary.power(2.5, NUMBERS)),
        ("x ** 3", elementary.power(NUMBERS, 3.0)), ("exp(1.7) + 0 * n", [None, *([elementary.exp(1.7)] * 499)]),
        ("power(1.3, 2.1) + 0 * n", [None, *([elementary.power(1.3, 2.1)] * 499)]),
    ],
)  # fmt: skip
def test_bits(text, expected):
    found = values_of(text, TABLE)[1].to_pylist()
    assert repr(found[: len(expected)]) == repr(list(np.asarray(expected, object)))


def test_logarithms():
    """NULL where there is none."""
    found = values_of("ln(x)", TABLE)[1].to_pylist()
    assert [value for value in found if value is not None and value == value] == [
        value for value in elementary.log(NUMBERS[NUMBERS > 0]).tolist() if value == value
    ]
    assert [found[500], found[501], found[503]] == [None, None, None]


def test_values_of_metrics():
    """An error of a computed score is the function's of the same scores."""
    target, score = NUMBERS[:500], np.sin(NUMBERS[:500])
    report = fm.evaluate({"y": target, "s": score}, ["rmse"], label="y", score="exp(s)")
    assert report["rmse"] == fm.root_mean_squared_error(target, elementary.exp(score))
