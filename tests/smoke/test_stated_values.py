"""Functions and metrics whose values stand in their own module: they need no line in this folder.

`CHECKED_VALUES` beside a function has calls and their values. Its metric must have the value of the function.
"""

import inspect

import pytest

import fastmetrics as fm
from fastmetrics.testing import function_checks, metric_checks
from fastmetrics.testing.function_cases import checked_values

pytestmark = pytest.mark.smoke

PUBLIC = {name: getattr(fm, name) for name in fm.__all__}
FUNCTIONS = {name: own for name, own in PUBLIC.items() if inspect.isfunction(own) and checked_values(own)}
METRICS = [spec.name for spec in fm.list_metrics().values() if spec.function in FUNCTIONS.values()]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_value(name):
    dict(function_checks(FUNCTIONS[name]))["stated_values"]()


@pytest.mark.parametrize("name", METRICS)
def test_metric(name):
    dict(metric_checks(name))["function_agrees"]()


def test_a_wrong_value_is_found(monkeypatch):
    monkeypatch.setattr(inspect.getmodule(fm.copc), "CHECKED_VALUES", {"copc": [(([1, 0], [0.5, 0.25]), {}, 1.0)]})
    with pytest.raises(AssertionError, match=r"copc: check stated_values failed .* expected 1.0, found 1.3333"):
        dict(function_checks(fm.copc))["stated_values"]()
