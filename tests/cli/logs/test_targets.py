"""Metrics of numbers, texts and partitions on the command line: by name, in the list, in advice."""

import json
import shlex

import numpy as np
import pytest

pytest.importorskip("typer")
pytest.importorskip("rich")
pytest.importorskip("pyarrow")

import fastmetrics as fm
from support import partition_logs, text_logs
from support.command_line import ESCAPE, assert_is_a_message, plain, run, run_in_terminal, write_log

REAL = [spec for spec in fm.list_metrics().values() if spec.target == "real"]
COLUMNS = ["--label", "watched", "--score", "guess"]


@pytest.fixture
def folder(tmp_path):
    generator = np.random.default_rng(8)
    watched = np.round(generator.gamma(1.0, 20.0, 500), 1) + 0.5
    write_log(
        tmp_path / "log.parquet", watched=watched, guess=np.round(watched + generator.random(500), 2),
        liked=generator.integers(0, 2, 500).astype(np.int8), channel=generator.integers(0, 3, 500),
        w=generator.integers(0, 4, 500),
    )  # fmt: skip
    return tmp_path


def advised_metrics(message):
    """The metrics that a message advises to type."""
    return shlex.split(message[message.index("--metrics ") :])[1]


def test_every_metric_of_numbers(folder):
    names = ",".join(spec.name for spec in REAL)
    arguments = ["evaluate", "log.parquet", *COLUMNS, "--metrics", names, "--weight", "w", "--by", "channel"]
    done = run(*arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    report = fm.evaluate(
        folder / "log.parquet", names, label="watched", score="guess", weight="w", by="channel"
    ).to_dict()
    assert json.loads(done.stdout)["results"] == json.loads(json.dumps(report["results"]))
    code, screen = run_in_terminal(*arguments, folder=folder)
    assert code == 0
    assert all(spec.name in plain(screen) for spec in REAL)


def test_defaults_are_metrics_of_classes(folder):
    done = run("evaluate", "log.parquet", "--label", "liked", "--score", "guess", "--metrics", "auc,mse", folder=folder)
    assert done.returncode == 0, done.stderr
    done = run("evaluate", "log.parquet", "--label", "liked", "--score", "liked", "--json", folder=folder)
    assert not {result["metric"] for result in json.loads(done.stdout)["results"]} & {spec.name for spec in REAL}


def test_labels_that_are_numbers_have_advice_which_metrics_to_type(folder):
    done = run("evaluate", "log.parquet", *COLUMNS, folder=folder)
    assert_is_a_message(done, "label column 'watched' has", "labels must be 0 and 1, or -1 and +1")
    names = advised_metrics(done.stderr)
    assert set(names.split(",")) == {spec.name for spec in REAL if spec.default}
    assert run("evaluate", "log.parquet", *COLUMNS, "--metrics", names, folder=folder).returncode == 0


def test_targets_cannot_be_mixed(folder):
    done = run("evaluate", "log.parquet", *COLUMNS, "--metrics", "auc,pinball(alpha=0.9),ks,mse", folder=folder)
    assert_is_a_message(done, "metrics of classes (auc, ks) and of numbers (pinball(alpha=0.9), mse)")
    assert advised_metrics(done.stderr) == "pinball(alpha=0.9),mse"
    names = advised_metrics(done.stderr)
    assert run("evaluate", "log.parquet", *COLUMNS, "--metrics", names, folder=folder).returncode == 0


def test_bad_numbers_are_named(folder):
    write_log(folder / "bad.parquet", watched=[1.0, float("inf")], guess=[0.5, 0.25])
    done = run("evaluate", "bad.parquet", *COLUMNS, "--metrics", "mse", folder=folder)
    assert_is_a_message(done, "error: label column 'watched' has inf at row 1: finite numbers are needed\n")
    write_log(folder / "bad.parquet", watched=[1.0, 2.0], guess=[0.5, float("nan")])
    done = run("evaluate", "bad.parquet", *COLUMNS, "--metrics", "mse", folder=folder)
    assert_is_a_message(done, "score column 'guess' has NaN at row 1; on_invalid='drop'")


def test_the_list_has_the_targets(tmp_path):
    from fastmetrics.cli.list_metrics import LABELS

    head, *lines = (line.split("\t") for line in run("list", folder=tmp_path).stdout.splitlines())
    listed = [(line[0], line[head.index("labels")]) for line in lines]
    assert listed == [(form.name, LABELS[form.target][0]) for spec in fm.list_metrics().values() for form in spec.forms]
    targets = {spec.name: spec.target for spec in fm.list_metrics().values()}
    found = json.loads(run("list", "--json", folder=tmp_path).stdout)["metrics"]
    assert {metric["name"]: metric["target"] for metric in found} == targets
    code, screen = run_in_terminal("list", folder=tmp_path, columns=120)
    assert code == 0
    assert "labels are any finite numbers" in plain(screen)


def test_columns_of_texts(tmp_path):
    write_log(tmp_path / "texts.parquet", **text_logs.text_columns(60), domain=np.arange(60) % 2)
    arguments = ["evaluate", "texts.parquet", "--metrics", "bleu,rouge1(stem=True)"]
    more = ["--label", "reference", "--score", "hypothesis", "--score", "worse", "--by", "domain"]
    for own, options in ((more, {"score": ["hypothesis", "worse"], "by": "domain"}), ([], {})):
        done = run(*arguments, *own, "--json", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        report = fm.evaluate(tmp_path / "texts.parquet", "bleu,rouge1(stem=True)", **options)
        assert json.loads(done.stdout)["results"] == json.loads(report.to_json())["results"]
        code, screen = run_in_terminal(*arguments, *own, folder=tmp_path)
        assert code == 0
        assert all(word in plain(screen) for word in ("bleu", "rouge1", "stem=True", "hypothesis", "reference"))
    done = run(*arguments, "--weight", "domain", folder=tmp_path)
    assert_is_a_message(done, "metrics of text (bleu, rouge1(stem=True)) have no weights of rows")
    done = run(*arguments, "--label", "domain", folder=tmp_path)
    assert_is_a_message(done, "label column 'domain' has Arrow type int64: texts are needed, as strings")


def test_columns_of_partitions(tmp_path):
    columns = partition_logs.partition_columns(90)
    log = {"label": columns["class"], "cluster": columns["cluster"], "rough": columns["rough"]}
    write_log(tmp_path / "points.parquet", **log, day=np.arange(90) % 2)
    arguments = ["evaluate", "points.parquet", "--metrics", "ari,nmi(average_method=max),purity"]
    more = ["--label", "label", "--score", "cluster", "--score", "rough", "--by", "day", "--memory-limit", "64MiB"]
    for own, options in ((more, {"score": ["cluster", "rough"], "by": "day"}), ([], {})):
        done = run(*arguments, *own, "--json", folder=tmp_path)
        assert done.returncode == 0, done.stderr
        report = fm.evaluate(tmp_path / "points.parquet", arguments[-1], **options)
        assert json.loads(done.stdout)["results"] == json.loads(report.to_json())["results"]
        code, screen = run_in_terminal(*arguments, *own, folder=tmp_path)
        assert code == 0
        assert all(word in plain(screen) for word in ("ari", "average_method=max", "purity", "cluster"))
    done = run(*arguments, "--weight", "day", folder=tmp_path)
    assert_is_a_message(done, "metrics of partitions (ari, nmi(average_method=max), purity) have no weights of rows")
    done = run(*arguments, "--score", "unknown", folder=tmp_path)
    assert_is_a_message(done, "score: ")
    write_log(tmp_path / "holes.parquet", label=["a", None, "b"], cluster=[1, 2, 3])
    done = run("evaluate", "holes.parquet", *arguments[2:], folder=tmp_path)
    assert_is_a_message(done, "label column 'label' has a null at row 1; on_invalid='drop'")
    done = run("evaluate", "holes.parquet", *arguments[2:], "--on-invalid", "drop", "--json", folder=tmp_path)
    assert json.loads(done.stdout)["dropped"] == {"null or NaN label": 1}
    rows = np.arange(60_000)
    write_log(tmp_path / "many.parquet", label=rows, cluster=rows[::-1].copy())
    done = run("evaluate", "many.parquet", *arguments[2:], "--memory-limit", "1MiB", folder=tmp_path)
    assert_is_a_message(done, "different labels take more than half of memory_limit=1 MiB")


def test_texts_beside_other_metrics_are_wrong_usage(tmp_path):
    done = run("evaluate", "no.parquet", "--metrics", "bleu,auc", folder=tmp_path)
    assert done.returncode == 2
    assert "of classes (auc) and of text (bleu)" in " ".join(done.stderr.replace("│", " ").split())
    for missing, given in (("--label", "--score"), ("--score", "--label")):
        done = run("evaluate", "no.parquet", "--metrics", "auc", given, "x", folder=tmp_path)
        assert done.returncode == 2
        assert missing in done.stderr


def test_help_describes_the_labels_of_every_target(tmp_path):
    text = " ".join(run("evaluate", "--help", folder=tmp_path).stdout.replace("│", " ").split())
    assert ESCAPE not in text
    assert "any numbers for regression, grades of rankings, classes" in text
    assert "the references of texts (default: column reference)" in text


def test_columns_of_probabilities(tmp_path):
    """Lists, or columns separated by commas: the values of `evaluate`, and differences of models."""
    chances = np.random.default_rng(0).multinomial(16, [0.5, 0.25, 0.25], 60) / 16
    log = {"y": ["a", "b", "c"] * 20, **{f"p_{name}": chances[:, number].copy() for number, name in enumerate("abc")}}
    write_log(tmp_path / "log.parquet", **log, lists=chances[::-1].tolist())
    models = ("--probabilities", "p_a,p_b,p_c", "--probabilities", "lists")
    metrics = ("--metrics", "auc(labels=[a, b, c]),logloss(labels=[a, b, c]),top_k_accuracy(labels=[a, b, c])@2")
    done = run("evaluate", "log.parquet", "--label", "y", *models, *metrics, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    columns = ["p_a", "p_b", "p_c"]
    report = fm.evaluate(tmp_path / "log.parquet", metrics[1], label="y", probabilities=[columns, ["lists"]])
    assert json.loads(done.stdout)["results"] == json.loads(report.to_json())["results"]
    compared = ("--replicates", "20", "--baseline", "p_a,p_b,p_c", "--json")
    done = run("compare", "log.parquet", "--label", "y", *models, *metrics, *compared, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    values = [difference["other_value"] for difference in json.loads(done.stdout)["differences"]]
    assert values == [result.value for result in report.results if result.score == "lists"]
    done = run("evaluate", "log.parquet", "--label", "y", "--probabilities", "lists", folder=tmp_path)
    assert_is_a_message(done, "name the labels in the order of the probabilities")
    numbers = {"y": [0, 1, 2] * 20, "lists": chances.tolist()}
    write_log(tmp_path / "numbers.parquet", **numbers)
    done = run("evaluate", "numbers.parquet", "--label", "y", "--probabilities", "lists", folder=tmp_path)
    assert all(word in done.stdout for word in ("auc", "ap", "logloss", "brier", "ece")), done.stderr
    done = run("compare", "log.parquet", "--label", "y", "--probabilities", "lists", "--score", "p_a", folder=tmp_path)
    assert done.returncode == 2
    assert "--probabilities" in done.stderr


def test_columns_of_predicted_labels(tmp_path):
    """The command line prints the values of `evaluate`, the confusion matrix, and differences of models."""
    log = {"y": ["a", "b", "c", "a", "b"] * 8, "p": ["a", "b", "b", "a", "c"] * 8, "q": ["b", "b", "c", "a", "c"] * 8}
    write_log(tmp_path / "log.parquet", **log)
    columns = ("--label", "y", "--prediction", "p", "--prediction", "q")
    metrics = ("--metrics", "accuracy,f1(average=macro)")
    done = run("evaluate", "log.parquet", *columns, *metrics, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    options = {"label": "y", "prediction": ["p", "q"]}
    report = fm.evaluate(tmp_path / "log.parquet", metrics[1], **options)
    found = json.loads(done.stdout)
    assert found["results"] == json.loads(report.to_json())["results"]
    assert found["confusion_matrices"] == json.loads(report.to_json())["confusion_matrices"]
    done = run("evaluate", "log.parquet", *columns, folder=tmp_path)
    assert all(word in done.stdout for word in ("accuracy", "kappa", "mcc", "confusion matrix", "p, by class"))
    code, screen = run_in_terminal("evaluate", "log.parquet", *columns, *metrics, folder=tmp_path)
    assert code == 0
    assert all(word in plain(screen) for word in ("accuracy", "confusion matrix", "p, by class"))
    compared = ("--replicates", "20", "--json")
    done = run("compare", "log.parquet", *columns, *metrics, *compared, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    values = [difference["other_value"] for difference in json.loads(done.stdout)["differences"]]
    assert values == [report.value(metric, score="q") for metric in ("accuracy", "f1(average=macro)")]


def test_columns_of_sets_of_labels(tmp_path):
    """Lists of labels: the values of `evaluate`, a table of labels, and differences of models."""
    log = {"y": [["a", "b"], [], ["c"], ["a"]] * 9, "p": [["a"], ["b"], ["c"], ["a", "c"]] * 9, "q": [["b"]] * 36}
    write_log(tmp_path / "log.parquet", **log)
    columns = ("--label", "y", "--prediction", "p", "--prediction", "q")
    metrics = ("--metrics", "hamming,f1(average=samples),jaccard(average=macro)")
    report = fm.evaluate(log, metrics[1], label="y", prediction=["p", "q"])
    done = run("evaluate", "log.parquet", *columns, *metrics, "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [result["value"] for result in found["results"]] == [result.value for result in report]
    assert found["label_tables"] == json.loads(report.to_json())["label_tables"]
    done = run("evaluate", "log.parquet", *columns, *metrics, folder=tmp_path)
    assert all(word in done.stdout for word in ("hamming", "f1(average=samples)", "p, by label"))
    done = run("compare", "log.parquet", *columns, *metrics, "--replicates", "20", "--json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    values = [difference["other_value"] for difference in json.loads(done.stdout)["differences"]]
    assert values == [result.value for result in report if result.score == "q"]


def test_one_column_of_predictions_is_not_compared(tmp_path):
    write_log(tmp_path / "log.parquet", y=["a", "b"], p=["a", "b"])
    done = run("compare", "log.parquet", "--label", "y", "--prediction", "p", folder=tmp_path)
    assert done.returncode == 2
    assert "--prediction" in done.stderr
