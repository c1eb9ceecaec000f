"""tools/new_metric.py in a copy of the tree: its metrics need no other edit, and a refusal writes nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import fastmetrics as fm
from support.cases import each_case
from support.type_checks import run_mypy

ROOT = Path(__file__).resolve().parents[2]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        Path(fm.__file__).parents[1] != ROOT or not (ROOT / "tools").is_dir(), reason="not a checkout with kernels"
    ),
]

# Name, family and exchange. Metrics of numbers have the exchange none too.
METRICS = {
    "label_distance": ("probability", "none"),
    "mean_huber_loss": ("regression", "none"),
    "greatest_balanced_accuracy_of_thresholds": ("curves", "range"),  # no name may be longer
    "top_row_clicks": ("ranking", "hash"),
}
# The files whose tests have the name of a metric or a function.
COMMON = [
    "tests/common/test_every_metric.py", "tests/common/test_bad_inputs.py", "tests/common/test_definitions.py",
    "tests/smoke/test_completeness.py", "tests/smoke/test_stated_values.py",
    "tests/architecture/test_names.py", "tests/architecture/test_generated.py",
]  # fmt: skip

# What a fresh process sees of each metric. Numbers are exact, so they are compared with ==.
USE = """
import inspect, json, sys
import fastmetrics as fm
from fastmetrics.testing.metric_cases import metric_cases
from fastmetrics.testing.sample_logs import sample_log, select

log = sample_log(600)
found = {}
for name in sys.argv[1:]:
    columns = metric_cases(name)[0].keywords
    function = getattr(fm, name)
    takes_groups = "groups" in inspect.signature(function).parameters
    whole = fm.evaluate(log, name, **columns, by="slice", ci=0.9, replicates=20, unit="group")
    parts = []
    for rows in (slice(200, 600), slice(0, 200)):
        part = fm.Accumulator(name, **columns)
        part.update(select(log, rows))
        parts.append(fm.Accumulator.from_bytes(part.to_bytes()))
    found[name] = {
        "listed": name in fm.list_metrics() and name in fm.__all__ and name in dir(fm),
        "function": function(*(log[own] for kind, own in columns.items() if takes_groups or kind != "group")),
        "evaluate": whole.value(name, slice={}),
        "merged": parts[0].merge(parts[1]).result()[name],
        "interval": whole.result(name, slice={}).interval,
        "slices": [
            [whole.value(name, slice={"slice": key}),
             fm.evaluate(select(log, log["slice"] == key), name, **columns)[name]]
            for key in sorted(set(log["slice"].tolist()))
        ],
    }
import pyarrow as pa, pyarrow.parquet as pq
pq.write_table(pa.table(log), "log.parquet")
print(json.dumps(found))
"""
# One process starts several metrics. Files are generated from all of them with the last, which is a command.
START = """
import json, sys
sys.path.insert(0, "tools")
import new_metric
from subprocess import CompletedProcess

new_metric.subprocess.run = lambda command, **options: CompletedProcess(command, 0)
for name, (family, exchange) in json.loads(sys.argv[1]):
    sys.argv = ["new_metric.py", name, "--family", family, "--exchange", exchange]
    new_metric.main()
    print("next")
"""
REFUSE = """
import contextlib, io, json, sys
sys.path.insert(0, "tools")
import new_metric
from subprocess import CompletedProcess

found = []
for *arguments, fails in json.loads(sys.argv[1]):
    sys.argv = ["new_metric.py", *arguments]
    if fails:
        new_metric.subprocess.run = lambda command, **options: CompletedProcess(command, 1, "", "it broke")
    text = io.StringIO()
    with contextlib.redirect_stderr(text):
        try:
            new_metric.main()
        except SystemExit as stop:
            found.append(f"{stop.code} {text.getvalue()}")
print(json.dumps(found))
"""
ASKED = ["--family", "curves", "--exchange", "none"]
REFUSED = {
    "no name": ([], "NAME"),
    "no family": (["my_metric", "--exchange", "none"], "required: --family"),
    "no exchange": (["my_metric", "--family", "curves"], "required: --exchange"),
    "unknown exchange": (["my_metric", "--family", "curves", "--exchange", "score"], "invalid choice: 'score'"),
    "unknown family": (["my_metric", "--family", "curve", "--exchange", "none"], "one of calibration, .*found 'curve'"),
    "a family of texts": (["my_metric", "--family", "text", "--exchange", "none"], "do not read labels and scores"),
    "numbers by group": (["my_metric", "--family", "regression", "--exchange", "hash"], "need --exchange none"),
    "no identifier": (["my-own", *ASKED], "NAME must be words in lower case"),
    "not snake case": (["MyMetric", *ASKED], "NAME must be words in lower case"),
    "a keyword": (["lambda", *ASKED], "no word of Python"),
    "a builtin": (["max", *ASKED], "no word of Python"),
    "too long": (["a" * 41, *ASKED], "at most 40 characters; found 41"),
    "a public name": (["roc_auc_score", *ASKED], "fastmetrics.roc_auc_score exists"),
    "a package": (["engine", *ASKED], "fastmetrics.engine exists"),
    "a metric": (["gauc", *ASKED], "the metric 'gauc' exists"),
    "a module": (["count_ratios", *ASKED], r"count_ratios.py exists"),
    "a class": (["rows", *ASKED], "has a class Rows"),
    "a word of the engine": (["label", *ASKED], "has the word 'label' for something else"),
    "the generator fails": (["my_metric", *ASKED], "nothing was written:\nit broke"),
}


def run(folder, *command):
    """Run Python in the folder, where `import fastmetrics` finds the copy."""
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(
        [sys.executable, *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout


def link_kernels(source, target):
    """Compiled kernels are not copied."""
    if source.endswith((".so", ".pyd")):
        os.symlink(source, target)
    else:
        shutil.copy2(source, target)


def copy_tree(folder):
    # Compiled modules are copied; a module that another process is writing has one more suffix.
    ignored = shutil.ignore_patterns("*.c", "*.pyc.*", "golden", "parity")
    for name in ("fastmetrics", "tests", "tools", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored, copy_function=link_kernels)
    for name in ("CHANGELOG.md", "pyproject.toml"):
        shutil.copy2(ROOT / name, folder / name)


def contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """What was found in a copy of the tree, in which refusals were asked for, and then a metric for each exchange."""
    folder = tmp_path_factory.mktemp("tree")
    copy_tree(folder)
    before = contents(folder)
    asked = [[*arguments, case == "the generator fails"] for case, (arguments, _) in REFUSED.items()]
    refusals = json.loads(run(folder, "-c", REFUSE, json.dumps(asked)))
    after_refusals = contents(folder)
    *others, (name, (family, exchange)) = METRICS.items()
    printed = run(folder, "-c", START, json.dumps(others)).split("next\n")[:-1]
    printed += [run(folder, "tools/new_metric.py", name, "--family", family, "--exchange", exchange)]
    return {
        "folder": folder, "before": before, "after refusals": after_refusals, "after": contents(folder),
        "refusals": dict(zip(REFUSED, refusals, strict=True)), "printed": dict(zip(METRICS, printed, strict=True)),
        "seen": json.loads(run(folder, "-c", USE, *METRICS)),
    }  # fmt: skip


def test_refusals_write_nothing(copy):
    assert copy["after refusals"] == copy["before"]


@each_case("case", REFUSED)
def test_a_refusal_says_why(copy, case):
    assert re.search(REFUSED[case][1], copy["refusals"][case]), copy["refusals"][case]


def test_three_files_are_written_and_the_others_generated(copy):
    written = {f"fastmetrics/metrics/{family}/{name}.py" for name, (family, _) in METRICS.items()}
    written |= {f"tests/oracles/{family}/{name}.py" for name, (family, _) in METRICS.items()}
    changed = {"CHANGELOG.md", "fastmetrics/__init__.pyi", "docs/definitions.md", "docs/functions.md"}
    changed.add("fastmetrics/_core/types/metric_names.pyi")
    assert {path for path, text in copy["after"].items() if copy["before"].get(path) != text} == written | changed
    assert all(name in text and "make it your metric" in text for name, text in copy["printed"].items())


@each_case("name", METRICS)
def test_the_metric_is_everywhere(copy, name):
    seen = copy["seen"][name]
    assert seen["listed"]
    assert seen["function"] == seen["evaluate"] == seen["merged"]
    assert 0 < seen["evaluate"] < 10
    assert all(one == other for one, other in seen["slices"])
    assert len({one for one, _ in seen["slices"]}) == 3
    low, high = seen["interval"]
    assert low <= seen["evaluate"] <= high
    assert low < high
    definitions, functions, changelog = (
        copy["after"][path].decode() for path in ("docs/definitions.md", "docs/functions.md", "CHANGELOG.md")
    )
    assert f"- `{name}(y_true" in definitions
    assert f"- `{name}`, " in definitions
    assert f"| `{name}` |" in functions
    assert f"- `fm.{name}`, metric `{name}`" in changelog.split("\n## [")[1]


def test_the_command_line_has_them(copy):
    pytest.importorskip("typer")
    names = [name for name, (family, _) in METRICS.items() if family != "regression"]
    columns = ["--label", "label", "--score", "prob", "--group", "group"]
    command = ["-m", "fastmetrics", "evaluate", "log.parquet", *columns, "--metrics", ",".join(names), "--json"]
    results = json.loads(run(copy["folder"], *command))["results"]
    assert {own["metric"]: own["value"] for own in results} == {name: copy["seen"][name]["evaluate"] for name in names}


def test_the_common_tests_pass(copy):
    names = f"{' or '.join(METRICS)} or completeness or test_names or up_to_date or definitions_are_found"
    done = run(copy["folder"], "-m", "pytest", "-v", "-p", "no:cacheprovider", *COMMON, "-k", names)
    passed = set(re.findall(r"::(\S+) PASSED", done))
    tests = ("test_checks_of_metrics", "test_checks_of_functions", "test_definition", "test_value", "test_metric")
    assert {f"{test}[{name}]" for test in tests for name in METRICS} <= passed
    assert {"test_every_metric_has_a_case", "test_generated_files_are_up_to_date"} <= passed


def test_the_linters_pass(copy):
    pytest.importorskip("ruff")
    folders = {f"fastmetrics/metrics/{family}" for family, _ in METRICS.values()}
    run(copy["folder"], "-m", "ruff", "check", "--no-cache", *folders, "tests/oracles")


def test_the_types_pass(copy, types_cache, tmp_path):
    """Beside the checkout: in the copy, whose lists of names changed, mypy would read all files again."""
    paths = [copy["folder"] / f"fastmetrics/metrics/{family}/{name}.py" for name, (family, _) in METRICS.items()]
    beside = [shutil.copy2(path, tmp_path) for path in paths]
    done = run_mypy(beside, ROOT, types_cache)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_copy_is_what_was_tested(copy):
    """Nothing was written into the checkout."""
    assert not [name for name in METRICS if list((ROOT / "fastmetrics").rglob(f"{name}.py"))]
