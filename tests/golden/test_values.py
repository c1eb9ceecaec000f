"""The stored values, to the last bit: every public function and every metric."""

import math
import warnings

import numpy as np
import pytest

import fastmetrics as fm
from golden import data, engine_cases, function_cases, metric_values, object_cases
from golden.encoding import encode, outcome, read, text_of
from support.cases import each_case
from support.function_cases import PUBLIC

SPARSE = "contingency_matrix {'sparse': True}"  # needs SciPy

OF_FUNCTIONS = read("values_of_functions.json")
OF_OBJECTS = read("values_of_objects.json")
OF_EVALUATE = read("values_of_evaluate.json")
OF_METRICS = read("values_of_metrics.json")
FUNCTION_CASES = function_cases.function_cases()
OBJECT_CASES = object_cases.object_cases()
ENGINE_CASES = engine_cases.engine_cases()
METRIC_CASES = metric_values.value_cases()


def by_function(cases):
    """Names of cases, by the first word."""
    found = {}
    for name in cases:
        found.setdefault(name.split(" ")[0], []).append(name)
    return found


def differences(names, cases, stored):
    """Found and stored value of every case in which they are not equal."""
    found = {name: outcome(cases[name]) for name in names}
    return {name: (own, stored[name]) for name, own in found.items() if text_of(own) != text_of(stored[name])}


def without_scipy(names):
    """The cases that need no SciPy, where there is none."""
    try:
        import scipy.sparse  # noqa: F401
    except ImportError:
        return [name for name in names if not name.startswith(SPARSE)]
    return names


@each_case("name", by_function(FUNCTION_CASES))
def test_functions(name):
    assert differences(without_scipy(by_function(FUNCTION_CASES)[name]), FUNCTION_CASES, OF_FUNCTIONS) == {}


@each_case("name", by_function(OBJECT_CASES))
def test_objects(name):
    assert differences(without_scipy(by_function(OBJECT_CASES)[name]), OBJECT_CASES, OF_OBJECTS) == {}


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_columns_of_libraries(library):
    """Columns of a data frame give what arrays give."""
    module = pytest.importorskip(library)
    series = {name: module.Series(column) for name, column in data.click_log(function_cases.ROWS).items()}
    for name, function in function_cases.FUNCTIONS.items():
        options = function.options[0]
        value = outcome(function_cases.call(name, series, options))
        assert text_of(value) == text_of(OF_FUNCTIONS[f"{name} {options or ''}".strip()]), name


@each_case("name", ENGINE_CASES)
class TestEvaluate:
    def test_columns(self, name):
        report = engine_cases.evaluated(ENGINE_CASES[name])
        assert text_of(engine_cases.encode_report(report)) == text_of(OF_EVALUATE[name])

    def test_a_table_of_chunks(self, name):
        report = engine_cases.arrow_evaluated(ENGINE_CASES[name])
        assert text_of(engine_cases.encode_report(report)) == text_of(OF_EVALUATE[name])

    def test_merged_accumulators(self, name):
        if not ENGINE_CASES[name].accumulates:
            return  # `evaluate` alone has these intervals
        report = engine_cases.accumulated(ENGINE_CASES[name])
        assert text_of(engine_cases.encode_report(report)) == text_of(OF_EVALUATE[name])


@pytest.mark.parametrize("option", metric_values.OPTIONS)
def test_metrics(option):
    if metric_values.log_digest() != OF_METRICS["log"]:
        pytest.skip("NumPy draws another log on this machine")
    found = {name: value() for name, value in METRIC_CASES.items() if name.endswith(f" {option}")}
    assert {name: own for name, own in found.items() if text_of(own) != text_of(OF_METRICS[name])} == {}


@pytest.mark.parametrize("target", engine_cases.TARGETS)
def test_a_metric_alone(target):
    """It is what it is together with others, so that the stored values hold for both."""
    together = engine_cases.evaluated(ENGINE_CASES[f"{target}: plain"])
    for metric, report in engine_cases.alone(target).items():
        (result,) = report
        assert result == together.result(result.metric), metric


# --------------------------------------------------------------------------------------------------- nothing is missing


def test_stored_values_and_cases_are_the_same():
    assert OF_FUNCTIONS.keys() == FUNCTION_CASES.keys()
    assert OF_OBJECTS.keys() == OBJECT_CASES.keys()
    assert OF_EVALUATE.keys() == ENGINE_CASES.keys()
    assert OF_METRICS.keys() == METRIC_CASES.keys() | {"log"}


def test_every_public_function_has_a_value():
    """`tests/golden/write_values.py` writes the values of a new one, but for those of logs and of comparisons."""
    valued = {name.split(" ")[0] for name, own in {**OF_FUNCTIONS, **OF_OBJECTS}.items() if "value" in own}
    assert PUBLIC.keys() - valued == {"evaluate", "list_metrics", "sample_size", "compare_reports"}


def test_undefined_values_are_stored():
    """NaN with its warning or its reason, and errors, are among the cases."""
    warned = [name for name, own in OF_FUNCTIONS.items() if "UndefinedMetricWarning" in own.get("warnings", ())]
    assert len({name.split(" ")[0] for name in warned}) > 20
    assert "explained" in text_of(OF_EVALUATE["binary: one class"])


def test_the_comparison_tells_bits_and_types_apart():
    value = 0.1 + 0.2
    assert text_of(encode(value)) != text_of(encode(math.nextafter(value, 1.0)))
    assert text_of(encode(0.0)) != text_of(encode(-0.0))
    assert text_of(encode(1)) != text_of(encode(1.0))
    assert text_of(encode(np.float64(1.0))) != text_of(encode(1.0))
    array = np.arange(9.0)
    changed = array.copy()
    changed[8] = np.nextafter(8.0, 9.0)
    assert encode(array) != encode(changed)
    assert encode(array) != encode(array.astype(np.float32))


def test_warnings_are_part_of_an_outcome():
    def undefined():
        warnings.warn("no rows", fm.UndefinedMetricWarning, stacklevel=1)
        return float("nan")

    assert outcome(undefined) == {"value": "float nan", "warnings": ["UndefinedMetricWarning"]}
