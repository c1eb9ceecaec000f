"""Metrics that modules and packages bring: --plugin, entry points, and states of metrics that are not imported."""

import json
import shutil
import sys

import pytest

import fastmetrics as fm
from fastmetrics._core import registry
from support.cases import assert_raises
from support.extend.worked_examples import EXAMPLES, make_log
from support.registry_cases import own_metrics

pytest.importorskip("typer")
pytest.importorskip("rich")

from support.command_line import run, run_python, run_subprocess, write_log

CVR = ["--metrics", "cvr", "--role", "click=click", "--role", "conversion=bought"]
LOG = make_log(300)


@pytest.fixture
def folder(tmp_path):
    """A folder with a module of metrics, and a log."""
    shutil.copy(EXAMPLES / "cvr.py", tmp_path / "own_cvr.py")
    (tmp_path / "empty.py").write_text("import math\n", encoding="utf-8")
    (tmp_path / "broken.py").write_text("import no_such_package\n", encoding="utf-8")
    (tmp_path / "twice.py").write_text(
        "from fastmetrics.extend import Real, metric\n"
        "own = metric('auc', exchange='none', statistics=lambda: (), roles={'price': Real()})\n"
        "own(lambda parameters, state: 0.0)\n",
        encoding="utf-8",
    )
    write_log(tmp_path / "log.parquet", **LOG)
    return tmp_path


def evaluate(folder, *arguments):
    return run_subprocess("evaluate", "log.parquet", *arguments, folder=folder)


def test_command_line(folder):
    done = evaluate(folder, "--plugin", "own_cvr", *CVR, "--by", "hour", "--json")
    assert done.returncode == 0, done.stderr
    found = [own["value"] for own in json.loads(done.stdout)["results"]]
    expected = fm.evaluate(LOG, ["cvr"], roles={"click": "click", "conversion": "bought"}, by="hour")
    assert found == [own.value for own in expected]


@pytest.fixture
def evaluate_here(folder, monkeypatch):
    """The command in this process; the modules that it imports, and their metrics, are forgotten after each call."""
    monkeypatch.setattr(sys, "path", [*sys.path])

    def call(*arguments):
        before = set(sys.modules)
        with own_metrics(replaced="cvr"):
            done = run("evaluate", "log.parquet", *arguments, folder=folder)
        for name in {"own_cvr", "empty", "broken", "twice"} & (set(sys.modules) - before):
            del sys.modules[name]
        return done

    return call


def test_wrong_options_of_the_command_line(evaluate_here):
    for arguments, words in (
        (CVR, ["unknown metric 'cvr'"]),
        (["--plugin", "broken", *CVR], ["--plugin: module 'broken' with metrics cannot be", "no_such_package"]),
        (["--plugin", "nowhere", *CVR], ["--plugin: module 'nowhere' with metrics", "No module named 'nowhere'"]),
        (["--plugin", "empty", *CVR], ["--plugin: module 'empty' registers no metric"]),
        (["--plugin", "twice", *CVR], ["module 'twice' with metrics", "metric 'auc' is registered twice"]),
        (["--plugin", "own_cvr", *CVR[:-2]], ["metric cvr reads a column of role 'conversion'", "--role conversion="]),
        (["--plugin", "own_cvr", *CVR, "--role", "cost=click"], ["no metric asked for reads a column of role 'cost'"]),
    ):
        done = evaluate_here(*arguments)
        text = " ".join(done.stderr.split())
        assert done.returncode in (1, 2), arguments
        assert "Traceback" not in text
        for word in words:
            assert word in text, (arguments, text)
    for wrong, message in (("click", "type ROLE=COLUMN"), ("click=", "type ROLE=COLUMN"), ("click=a", "given twice")):
        done = evaluate_here("--plugin", "own_cvr", *CVR, "--role", wrong)
        assert done.returncode == 2
        assert message in " ".join(done.stderr.replace("│", " ").split())


def test_entry_points(folder):
    """A package names its module: the metric is found by name, without an import."""
    about = folder / "own_metrics-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own-metrics\nVersion: 1.0\n", encoding="utf-8")
    names = about / "entry_points.txt"
    names.write_text("[fastmetrics_metrics]\nown = own_cvr\n", encoding="utf-8")
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "import fastmetrics as fm\n"
        "log = {'click': [1, 1, 0], 'bought': [1, 0, 0]}\n"
        "print(fm.evaluate(log, 'cvr', roles={'click': 'click', 'conversion': 'bought'})['cvr'])\n"
        "print('own_cvr' in sys.modules, 'cvr' in fm.list_metrics())\n"
    )
    done = run_python(code, folder)
    assert done.stdout.split() == ["0.5", "True", "True"], done.stderr
    names.write_text("[fastmetrics_metrics]\nown = broken\n", encoding="utf-8")
    done = run_python(code, folder)
    assert "ImportError: entry point 'own': module 'broken' with metrics cannot be imported" in done.stderr
    code = "import fastmetrics as fm\nfm.evaluate({'y': [0], 's': [0.5]}, 'ctr', label='y', score='s')\n"
    done = run_python(code, folder)
    assert done.returncode == 0, done.stderr  # metrics of the library do not need it


def test_a_state_names_the_module_that_it_needs(folder):
    """In a process that has not imported the module, the error says what to type; then the state is read."""
    write = (
        "import sys; sys.path.insert(0, '.')\n"
        "import own_cvr, fastmetrics as fm, pathlib\n"
        "state = fm.Accumulator('cvr', roles={'click': 'click', 'conversion': 'bought'})\n"
        "state.update('log.parquet')\n"
        "pathlib.Path('state').write_bytes(state.to_bytes())\n"
    )
    assert run_python(write, folder).returncode == 0
    read = (
        "import fastmetrics as fm, pathlib\n"
        "print(fm.Accumulator.from_bytes(pathlib.Path('state').read_bytes()).result()['cvr'])\n"
    )
    done = run_python(read, folder)
    assert "ValueError: " in done.stderr
    words = "the question has metric 'cvr' of module 'own_cvr', which is not imported; type: import own_cvr"
    assert words in done.stderr
    done = run_python(f"import sys; sys.path.insert(0, '.')\nimport own_cvr\n{read}", folder)
    expected = fm.evaluate(LOG, ["cvr"], roles={"click": "click", "conversion": "bought"})["cvr"]
    assert done.stdout.strip() == str(expected), done.stderr


def test_a_module_that_cannot_be_imported_is_named(tmp_path, monkeypatch):
    (tmp_path / "half_a_plugin.py").write_text("1 / 0\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    assert_raises(
        ImportError, r"--plugin: module 'half_a_plugin' .* \(ZeroDivisionError: division by zero\)",
        registry.import_plugin, "half_a_plugin", "--plugin",
    )  # fmt: skip
    assert "half_a_plugin" not in sys.modules
