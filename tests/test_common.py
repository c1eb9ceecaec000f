"""What is true of every metric, read from the registry: no metric can be added without passing these."""

import doctest
import importlib
import inspect
import math
import pkgutil
import re
import subprocess
import sys
import warnings

import calls
import numpy as np
import partition_logs
import pyarrow as pa
import pytest
import text_logs
from calls import exact

import fastmetrics as fm
import strategies
from fastmetrics._core.registry import ALONE, parse

SPECS = {spec.name: spec for spec in fm.describe_metrics()}
METRICS = list(SPECS)
PUBLIC_FUNCTIONS = {spec.name: spec.function for spec in SPECS.values() if spec.function is not None}
COLUMNS = {"label": "label", "score": "prob", "group": "group"}

# Options beside the defaults, so that the common tests see more than one path through each metric.
VARIANTS = {
    "eer": ["eer(method=mean)", "eer(method=max)", "eer(method=convex_hull)"],
    "fbeta": ["fbeta(beta=0.5, threshold=0.125)"],
    "mcc": ["mcc(threshold=0.25)"],
    "gauc": ["gauc(weight=pairs)", "gauc(weight=uniform)", "gauc(single_class=half)"],
    "ece": ["ece(bins=3)", "ece(norm=l2)", "ece(norm=max)"],
    "pinball": ["pinball(alpha=0.9)"],
    "ndcg": ["ndcg@3", "ndcg(gain=exp2, ideal=k)@5", "ndcg(ties=pessimistic)", "ndcg(empty=skip)@10"],
    "dcg": ["dcg(gain=exp2)@4", "dcg(ties=optimistic)@4"],
    "map": ["map(normalize=relevant)@5", "map(normalize=hits)@3", "map(relevance_level=2)"],
    "mrr": ["mrr@2"],
    "hr": ["hr(average=micro)@5"],
    "p": ["p(short_list=n)@30"],
    "err": ["err(max_grade=3)@5"],
    "rbp": ["rbp(p=0.5, gain=linear)@7"],
}
EVERY = [spec.example for spec in SPECS.values() if spec.target not in ALONE]
EVERY += [variant for variants in VARIANTS.values() for variant in variants]
TEXT = text_logs.text_metrics()
PARTITION = partition_logs.partition_metrics()
EVERY += TEXT + PARTITION
# They take positive labels and predictions: neither classes 0 and 1, nor a probability of 0.
POSITIVE = {"gamma_deviance", "poisson_deviance"}
# What one plan may ask for together, of classes; metrics of numbers and of grades take 0 and 1 for such, those of text
# and of partitions go alone.
STRINGS = [metric for metric in EVERY if metric.split("(")[0] not in POSITIVE and metric not in TEXT + PARTITION]
REAL = [metric for metric in EVERY if parse(metric).spec.target == "real"]
GRADED = [metric for metric in EVERY if parse(metric).spec.target == "graded"]
BINARY = [metric for metric in STRINGS if metric not in REAL and metric not in GRADED]
OF_CLASSES = {"label": "label", "score": "prob"}
OF_NUMBERS = {"label": "target", "score": "forecast"}
OF_GRADES = {"label": "grade", "score": "score"}
OF_TEXTS = {"label": "reference", "score": "hypothesis"}
OF_PARTITIONS = {"label": "class", "score": "cluster"}
CASES = [pytest.param(metric, OF_CLASSES, id=metric) for metric in STRINGS]
CASES += [pytest.param(metric, OF_NUMBERS, id=f"{metric} of numbers") for metric in REAL]
CASES += [pytest.param(metric, OF_GRADES, id=f"{metric} of grades") for metric in GRADED]
CASES += [pytest.param(metric, OF_TEXTS, id=metric) for metric in TEXT]
CASES += [pytest.param(metric, OF_PARTITIONS, id=metric) for metric in PARTITION]


def by_row(metrics, weight="weight"):
    """Those that take weights of rows, where there are weights; ranked lists are weighed whole."""
    return metrics if weight is None else [metric for metric in metrics if metric not in GRADED]


def evaluate(log, metrics, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def outcome(report):
    """Everything a report says but the time."""
    return {key: value for key, value in report.to_dict().items() if key != "seconds"}


@pytest.fixture(scope="module")
def log():
    log = strategies.click_log(4000, seed=11)
    return log | text_logs.text_columns(4000) | partition_logs.partition_columns(4000)


@pytest.fixture(scope="module")
def expected(log):
    cases = (case.values for case in CASES)
    return {(metric, *columns.values()): outcome(evaluate(log, [metric], **columns)) for metric, columns in cases}


@pytest.mark.parametrize(("metric", "columns"), CASES)
class TestEveryMetric:
    def test_runs(self, metric, columns, log):
        (result,) = evaluate(log, [metric], **columns)
        assert math.isfinite(result.value)
        assert type(result.value) is float
        assert result.reason is None
        assert result.coverage["rows"] > 0

    def test_any_row_order(self, metric, columns, log, expected):
        for seed in range(2):
            order = np.random.default_rng(seed).permutation(4000)
            moved = {name: column[order] for name, column in log.items()}
            assert outcome(evaluate(moved, [metric], **columns)) == expected[metric, *columns.values()]

    def test_any_number_of_threads(self, metric, columns, log, expected):
        for n_threads in (1, 2, 3, 7):
            report = evaluate(log, [metric], **columns, n_threads=n_threads)
            assert outcome(report) == expected[metric, *columns.values()]

    def test_any_batches(self, metric, columns, log, expected):
        for size in (9, 1000):
            reader = pa.table(log).to_reader(max_chunksize=size)
            assert outcome(evaluate(reader, [metric], **columns)) == expected[metric, *columns.values()]

    def test_weights_of_one(self, metric, columns, log, expected):
        """A metric without weights refuses them; it does not ignore them."""
        try:
            report = evaluate({**log, "w": np.ones(4000)}, [metric], **columns, weight="w")
        except ValueError as error:
            assert "weight" in str(error)  # noqa: PT017
            return
        assert report[metric] == expected[metric, *columns.values()]["results"][0]["value"]

    def test_the_function_agrees(self, metric, columns, log, expected):
        spec, k = parse(metric).spec, parse(metric).k
        if spec.target == "text":
            value = text_logs.function_value(metric, log)
            assert value == expected[metric, *columns.values()]["results"][0]["value"]
            return
        if spec.function is None or metric != spec.example:
            pytest.skip("has no public function of its own, or is a variant")
        groups = [log["group"]] if spec.exchange == "group" else []
        wanted = inspect.signature(spec.function).parameters
        # A function of predictions gets those the threshold makes; what else the metric has, under the same name.
        predictions = "threshold" in spec.parameters
        scores = log[columns["score"]]
        scores = (scores >= spec.parameters["threshold"]).astype(np.int8) if predictions else scores
        options = {name: value for name, value in spec.parameters.items() if name in wanted} | ({"k": k} if k else {})
        value = spec.function(log[columns["label"]], scores, *groups, **options)
        value = getattr(value, "value", value)  # some also return where it is
        assert value == expected[metric, *columns.values()]["results"][0]["value"]

    def test_the_canonical_name_round_trips(self, metric, columns, log, expected):
        (result,) = evaluate(log, [metric], **columns)
        (again,) = evaluate(log, [result.metric], **columns)
        assert again == result

    def test_other_spellings_are_the_same_metric(self, metric, columns, log):
        spaced = metric.replace("(", " ( ").replace("=", " = ").replace(")", " ) ")
        (result,) = evaluate(log, [metric], **columns)
        assert evaluate(log, [f" {spaced} "], **columns).results[0] == result

    def test_parameters_may_be_spelled_out(self, metric, columns, log, expected):
        spec = parse(metric).spec
        if metric != spec.example or not spec.parameters:
            pytest.skip("has no parameters, or is a variant")
        listed = ",".join(f"{name}={value!r}" for name, value in spec.parameters.items())
        spelled = metric.replace(spec.word, f"{spec.word}({listed})", 1)
        assert outcome(evaluate(log, [spelled], **columns)) == expected[metric, *columns.values()]

    def test_the_signature_names_every_parameter(self, metric, columns, log):
        (result,) = evaluate(log, [metric], **columns)
        for name in parse(metric).spec.parameters:
            assert f"|{name}:" in result.signature
        assert result.signature.endswith(f"|v:{fm.__version__}")

    def test_one_row(self, metric, columns, log):
        """Never an exception and never a number out of nothing: a value, or NaN with its reason."""
        for row in (0, 1):
            (result,) = evaluate({name: column[row : row + 1] for name, column in log.items()}, [metric], **columns)
            assert math.isfinite(result.value) or result.reason


@pytest.mark.parametrize("name", METRICS)
class TestEverySpec:
    def test_is_described(self, name):
        spec = SPECS[name]
        assert spec.exchange in ("none", "score", "group")
        assert spec.summary
        assert "\n" not in spec.summary
        assert spec.undefined
        families = (
            "calibration", "classification", "clustering", "curves", "detection", "probability", "ranking",
            "regression", "text",
        )  # fmt: skip
        assert spec.family in families
        assert importlib.import_module(f"fastmetrics.metrics.{spec.family}")

    def test_the_function_is_public_and_documented(self, name):
        function = SPECS[name].function
        if function is None:
            pytest.skip("a metric of the engine alone")
        assert function.__name__ in fm.__all__
        assert getattr(fm, function.__name__) is function
        documentation = inspect.getdoc(function)
        for section in ("Parameters\n---", "Returns\n---", "Examples\n---"):
            assert section in documentation, section
        for parameter in inspect.signature(function).parameters:
            assert re.search(rf"\n(\w+, )*{parameter}(, \w+)* :", documentation), parameter

    def test_data_is_positional_and_options_are_keywords(self, name):
        function = SPECS[name].function
        if function is None:
            pytest.skip("a metric of the engine alone")
        kinds = {parameter.name: parameter.kind for parameter in inspect.signature(function).parameters.values()}
        # Beside y_proba, y_pred is its older name.
        data = {"y_true", "y_score", "y_prob", "y_proba", "y1", "y2", "groups", "hypotheses", "references"}
        data |= set() if "y_proba" in kinds else {"y_pred"}
        data |= {"labels_true", "labels_pred"}
        data |= {"types"}  # of ROUGE: what is wanted, not how
        for parameter, kind in kinds.items():
            wanted = inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter in data else inspect.Parameter.KEYWORD_ONLY
            assert kind == wanted, parameter
        assert "n_threads" in kinds


def test_names_are_listed_once():
    assert fm.list_metrics() == METRICS
    assert len(set(METRICS)) == len(METRICS)
    assert {"auc", "gauc", "logloss", "ne", "brier", "copc", "ece", "ctr", "ks"} <= set(METRICS)


def test_no_function_is_forgotten():
    """Every public function of the families is called by the promise tests."""
    families = [module.name for module in pkgutil.iter_modules(importlib.import_module("fastmetrics.metrics").__path__)]
    functions = {
        name
        for family in families
        for name in importlib.import_module(f"fastmetrics.metrics.{family}").__all__
        if inspect.isfunction(getattr(fm, name))
    }
    others = calls.OF_POINTS | calls.OF_FILES | calls.OF_SETS | calls.OF_RUNS | calls.OF_TEXTS
    others |= calls.OF_PARTITIONS | calls.OF_FEATURES | calls.OF_BOXES | calls.OF_TESTS
    assert functions == set(calls.FUNCTIONS) | others
    assert {function.__name__ for function in PUBLIC_FUNCTIONS.values()} <= functions


def test_public_names_are_those_of_the_modules():
    families = pkgutil.iter_modules(importlib.import_module("fastmetrics.metrics").__path__)
    places = {name: names for name, names in fm.NAMES.items() if name.startswith("metrics.")}
    assert {f"metrics.{family.name}" for family in families} == set(places)
    for module, names in places.items():
        assert sorted(importlib.import_module(f"fastmetrics.{module}").__all__) == sorted(names)


def test_a_family_is_loaded_when_it_is_used():
    code = """
import sys, fastmetrics as fm
assert not [name for name in sys.modules if name.startswith(("fastmetrics.metrics.", "fastmetrics.engine."))]
fm.accuracy_score([0, 1], [0, 1])
assert not [name for name in sys.modules if name.startswith(("fastmetrics.metrics.regression", "fastmetrics.engine"))]
assert "rmse" in fm.list_metrics() and "fastmetrics.metrics.regression" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_exists_and_is_documented():
    assert sorted(fm.__all__) == sorted(set(fm.__all__))
    for name in fm.__all__:
        value = getattr(fm, name)
        if not name.startswith("__"):
            assert inspect.getdoc(value), name


def test_every_option_of_every_function_is_used(log):
    """A parameter that is accepted changes the result, or is refused with a wrong value."""
    for name, how in calls.FUNCTIONS.items():
        parameters = inspect.signature(getattr(fm, name)).parameters
        for parameter in set(parameters) - {"y_true", how.second, "groups", "normalize", "labels", "pos_label"}:
            with pytest.raises((ValueError, TypeError)):
                calls.call(name, log, **{parameter: object()})


def test_these_tests_can_fail(log):
    """The comparison of the promise tests tells apart values one bit apart, rows lost and groups swapped."""
    value = fm.roc_auc_score(log["label"], log["prob"])
    assert exact(value) != exact(math.nextafter(value, 1.0))
    assert exact(0.0) != exact(-0.0)
    changed = {**log, **{name: log[name].copy() for name in ("label", "prob", "target")}}
    changed["label"][7] ^= 1
    changed["prob"][7] = 0.5 if log["prob"][7] < 0.1 else 0.0
    changed["target"][7] += 0.5
    values, of_changed = calls.every_value(log), calls.every_value(changed)
    # What looks at the top of lists alone need not see a row: half of them it sees.
    changed["label"] = log["label"] ^ (np.arange(4000) % 2)
    of_changed |= calls.every_value(changed, calls.OF_LISTS)
    unmoved = {name for name in values if values[name] == of_changed[name]}
    assert not {name for name in unmoved if "max" not in name and "median" not in name}


def modules_of_the_package():
    """All modules, kernels included, but for what only runs as a program."""
    inner = [module.name for module in pkgutil.walk_packages(fm.__path__, "fastmetrics.")]
    return [fm.__name__, *(name for name in inner if not name.endswith("__main__"))]


@pytest.mark.parametrize("name", modules_of_the_package())
def test_doctests(name):
    module = importlib.import_module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = doctest.testmod(module, optionflags=options)
    assert result.failed == 0


def test_doctests_exist():
    """The test above runs something: every public function has an example."""
    finder = doctest.DocTestFinder(recurse=False)
    for function in PUBLIC_FUNCTIONS.values():
        assert sum(len(test.examples) for test in finder.find(function)) > 0, function.__name__
