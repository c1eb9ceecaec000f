"""Names of functions, numbers of several outputs, and calls without warnings, for the tests of regression."""

import warnings

import numpy as np

LOGARITHMIC = ["mean_squared_log_error", "root_mean_squared_log_error"]
VARIANCE_SCORES = ["r2_score", "explained_variance_score"]
D2 = ["d2_absolute_error_score", "d2_pinball_score"]
WITH_OUTPUTS = [
    "mean_squared_error", "mean_absolute_error", "mean_absolute_percentage_error", "mean_pinball_loss",
    "root_mean_squared_error", "median_absolute_error", *LOGARITHMIC, *VARIANCE_SCORES, *D2,
]  # fmt: skip


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
