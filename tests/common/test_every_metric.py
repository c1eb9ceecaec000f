"""The common checks of `fastmetrics.testing` for every metric and function; a new one must pass them."""

import doctest
import importlib
import inspect
import math
import pkgutil
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core import registry
from fastmetrics._core.state import Sums
from fastmetrics.testing import function_checks, metric_checks
from support import function_cases, strategies
from support.cases import Case, run_cases
from support.function_cases import FUNCTIONS, PUBLIC, exact
from support.registry_cases import METRICS, PUBLIC_FUNCTIONS, SPECS, own_metrics

TESTS = Path(__file__).resolve().parents[1]
ROOT = Path(fm.__file__).resolve().parents[1]
# Their options are positional, or their groups an option, as in scikit-learn.
OWN_ARGUMENTS = {"det_curve", "ranking_by_group", "roc_auc_interval"}
METRIC_CHECKS = {name: metric_checks(name) for name in METRICS}
FUNCTION_CHECKS = {
    name: [
        check
        for check in function_checks(case.function)
        if not (check.name == "argument_kinds" and name in OWN_ARGUMENTS)
    ]
    for name, case in FUNCTIONS.items()
}


def run_checks(checks):
    run_cases(lambda check: check.run(), [Case(check.name, {"check": check}) for check in checks], {})


@pytest.mark.parametrize("name", METRIC_CHECKS)
def test_checks_of_metrics(name):
    run_checks(METRIC_CHECKS[name])


@pytest.mark.parametrize("name", FUNCTION_CHECKS)
def test_checks_of_functions(name):
    run_checks(FUNCTION_CHECKS[name])


@pytest.fixture(scope="module")
def log():
    return strategies.click_log(4000, seed=11)


def test_functions_of_metrics_are_public():
    for function in PUBLIC_FUNCTIONS.values():
        assert getattr(fm, function.__name__) is function


def test_families_are_packages():
    for spec in SPECS.values():
        assert importlib.import_module(f"fastmetrics.metrics.{spec.family}")


def test_an_unknown_direction_is_refused():
    with pytest.raises(ValueError, match="direction must be one of"):
        registry.metric(
            "nonsense", exchange="none", statistics=tuple, function=None, undefined="never", direction="biggest"
        )


def test_options_may_change_the_scale():
    names = {
        "ndcg@5": "mean", "ndcg(ideal=k, gain=exp2)@5": "nonnegative", "ndcg(ideal=k, gain=binary)@5": "mean",
        "rbp": "mean", "rbp(gain=linear)": "nonnegative", "balanced_accuracy(adjusted=True)": "correlation",
        "balanced_accuracy": "share", "bias": "real", "r2": "explained", "auc": "share", "rmse": "ratio",
    }  # fmt: skip
    assert {name: registry.parse(name).scale for name in names} == names
    assert "one row" in registry.parse("max_error").no_interval


def test_states_of_maxima_have_no_interval():
    """Replicates and entries left out are sums: a maximum is none."""
    for name in METRICS:
        metric = registry.parse(name.replace("@k", "@5"))
        states = [statistic.empty() for statistic in metric.statistics()]
        if any(isinstance(state, Sums) and state.fields.maxima for state in states):
            assert metric.no_interval, name


def test_names_are_listed_once():
    assert [spec.name for spec in fm.list_metrics().values()] == METRICS
    assert len(set(METRICS)) == len(METRICS)
    assert {"auc", "gauc", "logloss", "ne", "brier", "copc", "ece", "ctr", "ks"} <= set(METRICS)


def test_no_function_is_forgotten():
    """A public function of rows has a case; any other is named in the tests of its family."""
    for name, function in PUBLIC.items():
        module = fm.PLACES[name].split(".")
        if name not in FUNCTIONS and module[1] == "metrics":
            files = (TESTS / "metrics" / module[2]).rglob("*.py")
            tests = "\n".join(path.read_text(encoding="utf-8") for path in files)
            assert function.__name__ in tests, f"no test in tests/metrics/{module[2]} calls {name}"


def test_a_family_is_loaded_when_it_is_used():
    code = """
import sys, fastmetrics as fm
assert not [name for name in sys.modules if name.startswith(("fastmetrics.metrics.", "fastmetrics.engine."))]
fm.accuracy_score([0, 1], [0, 1])
assert not [name for name in sys.modules if name.startswith(("fastmetrics.metrics.regression", "fastmetrics.engine"))]
assert "rmse" in fm.list_metrics() and "fastmetrics.metrics.regression" in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_intervals_and_plots_are_loaded_when_they_are_asked_for():
    code = """
import sys, fastmetrics as fm
late = {"fastmetrics._core.resampling", "fastmetrics.engine.scan.plots"}
log = {"click": [0, 1, 1, 0], "pctr": [0.1, 0.9, 0.3, 0.4]}
evaluate = fm.evaluate
assert not late & set(sys.modules)
evaluate(log, ["auc"], label="click", score="pctr", ci=0.95, curves=True)
assert late <= set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_every_public_name_exists_and_is_documented():
    assert sorted(fm.__all__) == sorted(set(fm.__all__))
    for name in fm.__all__:
        value = getattr(fm, name)
        if not name.startswith("__"):
            assert inspect.getdoc(value), name


@pytest.mark.parametrize(
    "name",
    [
        "fastmetrics", "fastmetrics.dask", "fastmetrics.distributed", "fastmetrics.distributed.processes",
        "fastmetrics.extend", "fastmetrics.ray", "fastmetrics.spark", "fastmetrics.testing",
    ],
)  # fmt: skip
def test_dir_lists_public_names_alone(name):
    module = importlib.import_module(name)
    fm.evaluate({"y": [0, 1], "s": [0.1, 0.2]}, "auc", label="y", score="s")  # imports what helps
    shown = [own for own in dir(module) if not own.startswith("__")]
    modules = {"dask", "distributed", "extend", "ray", "spark", "testing"} if module is fm else set()
    assert set(module.__all__) - {"__version__"} <= set(shown) <= {*module.__all__, *modules}
    assert all(hasattr(module, own) for own in dir(module))


def test_these_tests_can_fail(log):
    """The comparison of these tests sees a difference of one bit, and one changed row."""
    value = fm.roc_auc_score(log["label"], log["prob"])
    assert exact(value) != exact(math.nextafter(value, 1.0))
    assert exact(0.0) != exact(-0.0)
    changed = {**log, **{name: log[name].copy() for name in ("label", "prob", "target")}}
    changed["label"][7] ^= 1
    changed["prob"][7] = 0.5 if log["prob"][7] < 0.1 else 0.0
    changed["target"][7] += 0.5
    values, changed_values = function_cases.every_value(log), function_cases.every_value(changed)

    def unchanged():
        return set(FUNCTIONS) - {name.partition("(")[0] for name in values if values[name] != changed_values[name]}

    # Maxima, medians and metrics of the top of lists need not depend on one row; they depend on half of the rows.
    assert len(unchanged()) < len(FUNCTIONS) / 4
    half = np.arange(4000) % 2
    changed |= {"label": log["label"] ^ half, "target": log["target"] * (1 + half)}
    changed_values |= function_cases.every_value(changed, sorted(unchanged()))
    assert not unchanged()


def modules_of_the_package():
    """All modules with the kernels, without those that only run as a program."""
    inner = [module.name for module in pkgutil.walk_packages(fm.__path__, "fastmetrics.")]
    return [fm.__name__, *(name for name in inner if not name.endswith("__main__"))]


def has_examples(name):
    """Does the source of a module have examples? Kernels have none: their functions are not public."""
    path = ROOT.joinpath(*name.split("."))
    sources = [path.with_suffix(".py"), path / "__init__.py"]
    return any(">>>" in source.read_text(encoding="utf-8") for source in sources if source.is_file())


def test_every_module_can_be_imported():
    for name in modules_of_the_package():
        importlib.import_module(name)


def test_kernels_have_no_examples():
    for name in modules_of_the_package():
        if name.startswith("fastmetrics._kernels."):
            module = importlib.import_module(name)
            assert not any(test.examples for test in doctest.DocTestFinder().find(module)), name


# Packages whose examples need another engine.
ENGINES = {"dask": "dask", "ray": "ray", "spark": "pyspark"}


@pytest.mark.parametrize("name", [name for name in modules_of_the_package() if has_examples(name)])
def test_doctests(name):
    if engine := ENGINES.get(name.split(".")[1]) if "." in name else None:
        pytest.importorskip(engine, reason=f"{engine} is not installed")
    module = importlib.import_module(name)
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    with warnings.catch_warnings(), own_metrics():
        warnings.simplefilter("error")
        runner = doctest.DocTestRunner(optionflags=options)
        for example in doctest.DocTestFinder().find(module):
            if example.examples:
                runner.run(example)
    assert runner.summarize().failed == 0


def test_text_stands_below_the_underline_of_a_section():
    """Behind it, the text is lost on the page of the function."""
    lines = [(name, line) for name in fm.__all__ for line in (inspect.getdoc(getattr(fm, name)) or "").splitlines()]
    assert [(name, line) for name, line in lines if re.match(r"-{3,}\s*[^\s-]", line)] == []


def test_doctests_exist():
    """The test above runs something: every public function has an example."""
    finder = doctest.DocTestFinder(recurse=False)
    for function in PUBLIC_FUNCTIONS.values():
        assert sum(len(test.examples) for test in finder.find(function)) > 0, function.__name__
