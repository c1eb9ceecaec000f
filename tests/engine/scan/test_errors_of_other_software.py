"""Linearized errors beside those of R's survey and pROC and of statsmodels, frozen in tests/golden/other_software."""

import csv
import json
import re
from pathlib import Path

import pytest

import fastmetrics as fm
from support.cases import each_case

FOLDER = Path(__file__).parents[2] / "golden" / "other_software"
R, STATSMODELS = (json.loads((FOLDER / name).read_text()) for name in ("r.json", "statsmodels.json"))
COLUMNS = {"label": "click", "ci": 0.95}


def read_log():
    with (FOLDER / "clustered_log.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    kinds = {"user": int, "day": int, "click": int}
    return {name: [kinds.get(name, float)(row[name]) for row in rows] for name in rows[0]}


def error_of(name):
    """The standard error of what a name of the files describes: metric, unit, weights."""
    metric, difference, unit, weighted = re.match(r"(\w+)( difference)? (\w+) (\w+)", name).groups()
    options = {**COLUMNS, "unit": unit, "weight": "weight" if weighted == "weighted" else None}
    if difference:
        return fm.compare(read_log(), metric, score=["old", "new"], **options)[metric].standard_error
    return fm.evaluate(read_log(), metric, score="new", **options).result(metric).standard_error


def names(values, end):
    return [name for name in values if name.endswith(end)]


@each_case("name", [name for name in names(R, "jackknife") if not name.startswith("auc")])
def test_errors_of_sums_are_the_jackknife_of_survey(name):
    assert error_of(name) == pytest.approx(R[name], rel=1e-11)


@each_case("name", [name for name in names(R, "jackknife") if name.startswith("auc")])
def test_errors_of_areas_are_the_jackknife_of_survey_to_first_order(name):
    """With 24 users the terms of second order, pairs of rows of the user that is left out, are some percent."""
    assert error_of(name) == pytest.approx(R[name], rel=0.04)


SANDWICHES = [(R, name) for name in names(R, "linearized")] + [(STATSMODELS, name) for name in names(STATSMODELS, "r")]


@each_case("values, name", SANDWICHES)
def test_sandwiches_are_the_same_for_even_units_and_too_small_for_uneven_ones(values, name):
    """Leaving a unit out divides by 1 - its share, which the sandwich corrects by U / (U - 1) for all.

    Shares are those of rows or of weights, which are equal by day. Those of predicted clicks, in COPC, nearly are.
    """
    error = error_of(name)
    if " user " in name:
        assert values[name] < error < 1.3 * values[name]
    elif name.startswith("copc"):
        assert error == pytest.approx(values[name], rel=0.01)
    else:
        assert error == pytest.approx(values[name], rel=1e-11)


def test_delong_is_that_of_proc():
    log = read_log()
    one = fm.evaluate(log, "auc", score="new", ci_method="delong", unit="row", **COLUMNS).result("auc")
    assert one.standard_error == pytest.approx(R["auc row plain delong"], rel=1e-12)
    test = fm.compare(log, "auc", score=["old", "new"], ci_method="delong", unit="row", **COLUMNS)["auc"]
    assert test.standard_error == pytest.approx(R["auc difference row plain delong"], rel=1e-12)
    assert test.pvalue == pytest.approx(R["auc difference row plain pvalue"], rel=1e-10)


@each_case("name", ["auc row plain delong", "auc difference row plain delong"])
def test_rows_as_units_are_delong_but_for_the_factors(name):
    """Leaving rows out gives P / (P - 1) and (U - 1) / U in place of DeLong's: less than 1 % in 240 rows."""
    assert error_of(name) == pytest.approx(R[name], rel=0.01)
