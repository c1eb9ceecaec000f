"""The self-check passes here. When a kernel, a function or a merge is wrong, it fails and names what is wrong."""

import json
import subprocess
import sys

import pytest

import fastmetrics as fm
from architecture.sources import PACKAGE, imports_of, read
from fastmetrics._kernels.sweep import short_curves
from fastmetrics.cli import main
from fastmetrics.selfcheck import checks, same_bits, values
from fastmetrics.selfcheck.checks import run_family, run_selfcheck


@pytest.fixture
def few_checks(monkeypatch):
    """Only the checks of a few functions and metrics run."""

    def choose():
        found = [*values.value_checks(), *same_bits.function_checks()]
        words = ("roc_auc_score: its definition", "rand_score: its definition", "copc: ")
        return [check for check in found if check.name.startswith(words)], {"engine": "not asked"}

    monkeypatch.setattr(checks, "all_checks", choose)


@pytest.mark.smoke
@pytest.mark.parametrize("seed", [0, 7])
def test_values_agree_with_their_definitions(seed):
    outcome = run_family("values", values.value_checks(), seed)
    assert not outcome.failures
    assert outcome.checks > len(values.COMPARISONS)


def test_every_family_of_functions_has_a_definition():
    families = {getattr(fm, name).__module__.split(".")[2] for name in fm.__all__ if in_metrics(getattr(fm, name))}
    assert families == {own.family for own in values.COMPARISONS}


def test_definitions_share_no_code_with_the_library():
    """They are the oracles of the tests, and import the standard library and each other alone."""
    definitions = "fastmetrics.selfcheck.definitions."
    for path in (PACKAGE / "selfcheck" / "definitions").glob("*.py"):
        text = read(path)
        for name in imports_of(path, text):
            assert name.startswith(definitions) or name.partition(".")[0] in sys.stdlib_module_names
        assert path.stem == "__init__" or text.startswith("# Written by tools/generate.py from tests/oracles/")


def in_metrics(value):
    return callable(value) and getattr(value, "__module__", "").startswith("fastmetrics.metrics.")


def test_a_wrong_kernel_is_named(monkeypatch):
    monkeypatch.setattr(short_curves, "roc_auc", lambda *arguments: 0.25)
    failures = run_family("values", values.value_checks(), 0).failures
    assert "roc_auc_score: its definition" in failures
    assert "found 0.25" in failures["roc_auc_score: its definition"]
    assert "rand_score: its definition" not in failures


def test_a_wrong_last_bit_is_named(monkeypatch):
    right = fm.rand_score
    monkeypatch.setattr(fm, "rand_score", lambda *labels: right(*labels) * (1 - 2**-53))
    assert list(run_family("values", values.value_checks(), 0).failures) == ["rand_score: its definition"]


def test_bits_that_depend_on_the_order_are_named(monkeypatch):
    right = fm.mean_squared_error

    def from_the_front(y_true, y_pred, **options):
        return right(y_true, y_pred, **options) + y_true[0] * 1e-9

    from_the_front.__module__, from_the_front.__doc__ = right.__module__, right.__doc__
    from_the_front.__signature__ = __import__("inspect").signature(right)
    from_the_front.__name__ = right.__name__
    monkeypatch.setattr(fm, "mean_squared_error", from_the_front)
    chosen = [own for own in same_bits.function_checks() if own.name == "mean_squared_error: order of rows"]
    assert list(run_family("order", chosen, 0).failures) == ["mean_squared_error: order of rows"]


def test_a_merge_that_loses_a_state_is_named(monkeypatch):
    chosen = [own for own in same_bits.metric_checks() if "merged" in own.name and own.family == "calibration"]
    assert chosen
    assert not run_family("engine", chosen, 0).failures
    monkeypatch.setattr(fm.Accumulator, "merge", lambda self, other: self)
    failures = run_family("engine", chosen, 0).failures
    assert failures.keys() == {own.name for own in chosen}
    assert all("check accumulators failed for" in text for text in failures.values())


def test_an_error_is_a_failure_and_the_others_run(monkeypatch, few_checks):
    def broken(*arguments, **options):
        raise ZeroDivisionError("a broken kernel")

    monkeypatch.setattr(fm, "rand_score", broken)
    report = run_selfcheck()
    assert list(report.failures) == ["rand_score: its definition"]
    assert "ZeroDivisionError: a broken kernel" in report.failures["rand_score: its definition"]
    assert sum(family.checks for family in report.families) > 3


def test_command(monkeypatch, capsys, few_checks):
    assert main(["selfcheck", "--seed", "3"]) == 0
    table = capsys.readouterr().out
    assert table.splitlines()[0].split() == ["family", "checks", "failures", "seconds"]
    assert "skipped: engine: not asked" in table
    assert "seed 3: all checks passed" in table
    monkeypatch.setattr(fm, "rand_score", lambda *labels: 0.5)
    assert main(["selfcheck", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert not document["passed"]
    failures = {name: text for family in document["families"] for name, text in family["failures"].items()}
    assert list(failures) == ["rand_score: its definition"]
    assert main(["selfcheck"]) == 1
    assert "failed: rand_score: its definition: draw 0" in capsys.readouterr().out


def test_without_extras():
    """Neither pyarrow nor typer nor rich: functions are checked, and the report says what was left out."""
    code = (
        "import sys\n"
        "for name in ('pyarrow', 'typer', 'rich', 'pandas', 'scipy'): sys.modules[name] = None\n"
        "from fastmetrics.selfcheck import __main__, checks\n"
        "found, skipped = checks.all_checks()\n"
        "checks.all_checks = lambda: ([own for own in found if own.name.startswith('copc')], skipped)\n"
        "sys.argv[1:] = []\n"
        "sys.exit(__main__.main())\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped: engine: evaluate needs pyarrow" in done.stdout
    assert "all checks passed" in done.stdout


@pytest.mark.conformance
def test_all_of_it():
    report = run_selfcheck()
    assert not report.failures
    assert not report.skipped
    assert {family.family for family in report.families} == {own.family for own in values.COMPARISONS}
