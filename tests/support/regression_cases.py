"""Names of functions, columns of numbers, and calls without warnings, for the tests of regression."""

import math
import warnings

import numpy as np
from hypothesis import strategies as st

from oracles import regression as oracle

MEANS = {
    "mean_squared_error": oracle.squared,
    "mean_absolute_error": oracle.absolute,
    "mean_absolute_percentage_error": oracle.percentage,
    "mean_pinball_loss": oracle.pinball(0.5),
}
LOGARITHMIC = ["mean_squared_log_error", "root_mean_squared_log_error"]
VARIANCE_SCORES = ["r2_score", "explained_variance_score"]
D2 = ["d2_absolute_error_score", "d2_pinball_score"]
WITH_OUTPUTS = [
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_pinball_loss",
    "root_mean_squared_error", "median_absolute_error", *LOGARITHMIC, *VARIANCE_SCORES, *D2,
]  # fmt: skip
ORDINARY = st.floats(-1e6, 1e6).map(lambda value: round(value, 3))


@st.composite
def columns(draw, values=ORDINARY, min_size=1, max_size=25, weighted=None):
    """(y_true, y_pred, weights or None), many of them equal."""
    rows = draw(st.integers(min_size, max_size))
    pool = draw(st.lists(values, min_size=1, max_size=draw(st.sampled_from([2, 5, 30]))))
    pick = st.lists(st.sampled_from(pool), min_size=rows, max_size=rows)
    weights = None
    if draw(st.booleans()) if weighted is None else weighted:
        weight = st.one_of(st.sampled_from([0.0, 1.0, 2.0, 0.5]), st.floats(1e-3, 1e3))
        weights = np.array(draw(st.lists(weight, min_size=rows, max_size=rows)))
        weights[0] = weights[0] or 1.0
    return np.array(draw(pick)), np.array(draw(pick)), weights


def is_same(value, expected):
    return value == expected or (math.isnan(value) and math.isnan(expected))


def call_silently(library, name, *arguments, **options):
    """The value of a function of fastmetrics or scikit-learn."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return getattr(library, name)(*arguments, **options)


def outputs(rows=300, width=3, seed=0):
    """Positive targets and predictions of several outputs."""
    generator = np.random.default_rng(seed)
    y_true = np.abs(generator.normal(2, 1, (rows, width)))
    return y_true, np.abs(y_true + generator.normal(0, 0.3, (rows, width)))
