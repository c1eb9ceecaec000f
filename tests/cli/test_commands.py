"""The command line on real files: exit codes, streams, terminals. Subprocesses where the process itself matters."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from support.cases import each_case
from support.command_line import (
    CLICK_COLUMNS,
    ESCAPE,
    assert_is_a_message,
    plain,
    run,
    run_in_terminal,
    run_python,
    run_subprocess,
    run_subprocess_in_terminal,
    write_log,
)

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


# ------------------------------------------------------------------------------------------------------- the program


COMMANDS = [
    "evaluate", "compare", "bleu", "chrf", "nist", "ter", "rouge", "meteor", "trec", "demo", "sample-log", "list"
]  # fmt: skip


def test_without_arguments_the_help_is_shown(tmp_path):
    done = run_subprocess(folder=tmp_path)
    assert done.returncode == 0
    assert all(command in done.stdout for command in (*COMMANDS, "Examples"))
    assert done.stderr == ""


@each_case("command", COMMANDS)
def test_every_help_has_examples(tmp_path, command):
    done = run(command, "--help", folder=tmp_path)
    assert done.returncode == 0
    assert f"fastmetrics {command}" in done.stdout.partition("Examples")[2]


def test_version(tmp_path):
    import fastmetrics

    assert run("--version", folder=tmp_path).stdout == f"fastmetrics {fastmetrics.__version__}\n"


def test_help_does_not_wait_for_pyarrow(tmp_path):
    code = (
        "import sys; from fastmetrics.cli import main; main(['evaluate', '--help']); sys.exit('pyarrow' in sys.modules)"
    )
    assert run_python(code, tmp_path).returncode == 0


def test_the_list_of_commands_does_not_wait_for_metrics(tmp_path):
    code = (
        "import sys; from fastmetrics.cli import main; main(['--help']); "
        "sys.exit(any(name.startswith('fastmetrics.metrics.curves') for name in sys.modules))"
    )
    assert run_python(code, tmp_path).returncode == 0


@each_case(
    ("missing", "arguments"),
    [("typer", ["--help"]), ("rich", ["list"]), ("pyarrow", ["demo"]), ("pyarrow", ["sample-log", "log.parquet"])],
)
def test_missing_extra_is_named_with_the_command_to_type(tmp_path, missing, arguments):
    code = (
        f"import sys; sys.modules[{missing!r}] = None; from fastmetrics.cli import main; sys.exit(main({arguments!r}))"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 1
    assert missing in done.stderr
    assert "pip install 'fastmetrics-engine[cli]'" in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


@each_case(
    "arguments",
    [
        ["evalute"],
        ["evaluate"],
        ["evaluate", "log.parquet", "--label", "click"],
        ["evaluate", "log.parquet", "--label", "y", "--score", "p", "--threads", "0"],
        ["evaluate", "log.parquet", "--label", "y", "--score", "p", "--on-invalid", "ignore"],
        ["sample-log"],
        ["sample-log", "log.parquet", "--rows", "0"],
        ["sample-log", "log.csv"],
        ["demo", "--rows", "many"],
        ["list", "--nonsense"],
    ],
    ids=" ".join,
)
def test_wrong_usage_exits_with_2(tmp_path, arguments):
    done = run(*arguments, folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------------------------------------------------- evaluate


def test_piped_evaluate_is_plain_text_and_silent(click_log):
    done = run_subprocess("evaluate", click_log, *CLICK_COLUMNS, folder=click_log.parent)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert ESCAPE not in done.stdout
    assert "20,000" in done.stdout
    assert "auc" in done.stdout


def test_json_alone_on_standard_output(click_log):
    import fastmetrics

    done = run(
        "evaluate",
        click_log,
        *CLICK_COLUMNS,
        "--metrics",
        "auc,gauc(weight=pairs)",
        "--json",
        folder=click_log.parent,
    )
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert (document["schema"], document["version"]) == (1, fastmetrics.__version__)
    assert (document["rows"], document["dropped"]) == (20_000, {})
    assert document["columns"]["label"] == "click"
    report = fastmetrics.evaluate(
        str(click_log), ["auc", "gauc(weight=pairs)"], label="click", score="pctr", group="user_id"
    )
    assert [result["metric"] for result in document["results"]] == [result.metric for result in report]
    for result, expected in zip(document["results"], report, strict=True):
        assert set(result) >= {"metric", "score", "slice", "value", "signature", "coverage"}
        assert (result["value"], result["score"], result["slice"]) == (expected.value, "pctr", {})


def test_json_in_a_file_beside_the_table(click_log, tmp_path):
    done = run("evaluate", click_log, *CLICK_COLUMNS, "-o", "report.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))
    assert all(result["metric"] in done.stdout for result in document["results"])
    assert [path.name for path in tmp_path.iterdir()] == ["report.json"]


def test_default_metrics_are_those_of_the_registry(click_log):
    import fastmetrics

    shown = [spec for spec in fastmetrics.list_metrics().values() if spec.default and spec.target == "binary"]
    for grouped in (True, False):
        columns = CLICK_COLUMNS if grouped else CLICK_COLUMNS[:4]
        done = run("evaluate", click_log, *columns, "--json", folder=click_log.parent)
        metrics = [result["metric"] for result in json.loads(done.stdout)["results"]]
        assert metrics == [spec.example for spec in shown if grouped or spec.exchange != "hash"]


def test_threads_and_several_files_do_not_change_a_digit(click_log, tmp_path):
    table = pq.read_table(click_log)
    for part in range(3):
        pq.write_table(table.slice(part * 7_000, 7_000), tmp_path / f"part-{part}.parquet")
    reports = [
        run("evaluate", *paths, *CLICK_COLUMNS, "--threads", threads, "--json", folder=tmp_path)
        for paths, threads in [
            ([click_log], 1),
            ([click_log], 3),
            (["part-*.parquet"], 2),
            (["part-2.parquet", "part-0.parquet", "part-1.parquet"], 1),
        ]
    ]
    assert [report.returncode for report in reports] == [0] * 4, reports
    values = [[result["value"] for result in json.loads(report.stdout)["results"]] for report in reports]
    assert values[0] == values[1] == values[2] == values[3]


def test_undefined_is_null_with_a_reason(tmp_path):
    write_log(tmp_path / "log.parquet", y=[0, 0, 0], p=[0.1, 0.2, 0.3])
    arguments = ["evaluate", "log.parquet", "--label", "y", "--score", "p", "--metrics", "auc"]
    done = run(*arguments, "--json", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    (result,) = json.loads(done.stdout)["results"]
    assert result["value"] is None
    assert result["reason"]
    code, screen = run_in_terminal(*arguments, folder=tmp_path)
    assert code == 0
    assert "undefined" in screen
    assert result["reason"] in plain(screen)


def test_invalid_rows_are_an_error_or_dropped_and_counted(tmp_path):
    score = np.linspace(0.01, 0.99, 50)
    score[[7, 31]] = math.nan
    write_log(tmp_path / "log.parquet", y=np.arange(50) % 2, p=score)
    arguments = ["evaluate", "log.parquet", "--label", "y", "--score", "p", "--metrics", "auc"]
    refused = run(*arguments, folder=tmp_path)
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "NaN" in refused.stderr
    assert re.search(r"row 7\b", refused.stderr)
    dropped = run(*arguments, "--on-invalid", "drop", "--json", folder=tmp_path)
    assert dropped.returncode == 0, dropped.stderr
    assert sum(json.loads(dropped.stdout)["dropped"].values()) == 2


def test_missing_file_is_named(tmp_path):
    done = run("evaluate", "nowhere.parquet", *CLICK_COLUMNS, folder=tmp_path)
    assert_is_a_message(done, "nowhere.parquet")


def test_missing_column_names_the_near_ones(click_log):
    done = run("evaluate", click_log, "--label", "clik", "--score", "pctr", folder=click_log.parent)
    assert_is_a_message(done, "clik", "click")


def test_unknown_metric_names_the_near_ones(click_log):
    done = run("evaluate", click_log, *CLICK_COLUMNS, "--metrics", "gauk", folder=click_log.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert "gauc" in done.stderr


def test_aliases_of_metrics(click_log):
    def rows(metrics):
        done = run("evaluate", click_log, *CLICK_COLUMNS, "--metrics", metrics, "--json", folder=click_log.parent)
        assert done.returncode == 0, done.stderr
        return [(one["metric"], one["value"]) for one in json.loads(done.stdout)["results"]]

    assert rows("roc_auc_score,Log-Loss") == rows("auc,logloss")


def test_group_metric_without_group_is_wrong_usage(click_log):
    done = run("evaluate", click_log, *CLICK_COLUMNS[:4], "--metrics", "auc,gauc", folder=click_log.parent)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--group" in done.stderr


def test_raw_scores_have_advice_which_metrics_to_type(tmp_path):
    (tmp_path / "raw.csv").write_text("y,s,g\n1,2.5,a\n0,-1.5,a\n1,0.3,b\n0,0.2,b\n")
    arguments = ["evaluate", "raw.csv", "--label", "y", "--score", "s", "--group", "g"]
    done = run(*arguments, folder=tmp_path)
    assert done.returncode == 1
    assert "'s' has 2.5 at row 0" in done.stderr
    advised = done.stderr.split("--metrics ")[1].split()[0]
    assert run(*arguments, "--metrics", advised, folder=tmp_path).returncode == 0


def test_truncated_file_is_named(click_log, tmp_path):
    (tmp_path / "cut.parquet").write_bytes(click_log.read_bytes()[:-1000])
    assert_is_a_message(run("evaluate", "cut.parquet", *CLICK_COLUMNS, folder=tmp_path), "cut.parquet")


def test_json_in_a_missing_folder(click_log, tmp_path):
    done = run("evaluate", click_log, *CLICK_COLUMNS, "-o", "reports/today.json", folder=tmp_path)
    assert_is_a_message(done, "reports")
    assert list(tmp_path.iterdir()) == []


def test_json_in_a_read_only_folder(tmp_path, monkeypatch):
    """The error comes before the work and has the typed name. Root may write anywhere, so the error is simulated."""
    from fastmetrics._core.results.output_files import complete_or_nothing

    def refuse(path: Path) -> None:
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "touch", refuse)
    with (
        pytest.raises(PermissionError, match="cannot be written") as caught,
        complete_or_nothing(tmp_path / "report.json"),
    ):
        pytest.fail("the work began")
    assert caught.value.filename == str(tmp_path / "report.json")


def test_an_error_leaves_the_old_json(tmp_path):
    (tmp_path / "report.json").write_text("old", encoding="utf-8")
    done = run("evaluate", "nowhere.parquet", *CLICK_COLUMNS, "-o", "report.json", folder=tmp_path)
    assert done.returncode == 1
    assert [(path.name, path.read_text(encoding="utf-8")) for path in tmp_path.iterdir()] == [("report.json", "old")]


def test_terminal_shows_a_bar_and_a_table(click_log):
    code, screen = run_subprocess_in_terminal("evaluate", click_log, *CLICK_COLUMNS, folder=click_log.parent)
    assert code == 0
    assert ESCAPE in screen
    text = plain(screen)
    assert "scan" in text
    assert "of 20,000 rows" in text
    table = text[text.index("computed from") :]
    assert "auc" in table
    assert "groups" in table


def test_error_in_a_terminal_is_styled(tmp_path):
    code, screen = run_in_terminal("evaluate", "nowhere.parquet", *CLICK_COLUMNS, folder=tmp_path)
    assert code == 1
    assert re.search(rf"{ESCAPE}\[[0-9;]*31m", screen)
    assert "nowhere.parquet" in plain(screen)


def test_real_log_gives_the_reference_values(visits_path, tmp_path):
    columns = ["--label", "label", "--score", "score", "--group", "user_id"]
    arguments = ["evaluate", visits_path, *columns, "--metrics", "auc,gauc,logloss"]
    done = run(*arguments, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    values = {result["metric"]: result["value"] for result in document["results"]}
    assert document["rows"] == 980_067
    assert values["auc"] == 0.9600813796015879
    # The published value is a float sum over scikit-learn's AUC, which is wrong from the 15th digit on. This value is
    # a fraction of integers, rounded once.
    assert values["gauc"] == 0.9642351182117829
    assert values["gauc"] == pytest.approx(0.9642351182117777, rel=0, abs=1e-14)
    table = run(*arguments, folder=tmp_path).stdout
    assert "0.96008" in table
    assert "0.96424" in table


# -------------------------------------------------------------------------------------------------------------- list


def names_of_metrics():
    import fastmetrics

    return [spec.name for spec in fastmetrics.list_metrics().values()]


def test_list_names_every_metric(tmp_path):
    done = run("list", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert ESCAPE not in done.stdout
    head, *lines = (line.split("\t") for line in done.stdout.splitlines())
    assert head == ["metric", "summary", "labels", "needs", "parameters", "aliases"]
    assert {len(line) for line in lines} == {len(head)}  # for cut -f
    assert all(cell and cell == cell.strip() for line in lines for cell in line)
    assert list(dict.fromkeys(line[0] for line in lines)) == names_of_metrics()
    code, screen = run_in_terminal("list", folder=tmp_path)
    assert code == 0
    assert all(name in plain(screen) for name in names_of_metrics())


def test_list_as_json(tmp_path):
    metrics = json.loads(run("list", "--json", folder=tmp_path).stdout)["metrics"]
    targets = {"binary", "real", "graded", "text", "partition", "prediction", "sets", "probabilities"}
    assert [metric["name"] for metric in metrics] == names_of_metrics()
    for metric in metrics:
        words = {"name", "summary", "family", "exchange", "target", "parameters", "cutoff", "undefined", "direction"}
        assert set(metric) == words | {"aliases", "of_predictions", "of_probabilities"}
        assert metric["exchange"] in {"none", "range", "hash"}
        assert metric["target"] in targets
        assert metric["cutoff"] in {None, "optional", "required"}
        assert (metric["cutoff"] == "required") == metric["name"].endswith("@k")
