"""Metrics of several kinds, of keys and of score order in compare and on the command line; bad input there."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics.extend import GroupStatistic, Key, Real, finalize_group_mean, metric
from support.cases import assert_raises, each_case
from support.extend.worked_examples import COLUMNS, EXAMPLES, load_example, make_log

pytest.importorskip("typer")
pytest.importorskip("rich")

from support.command_line import run_subprocess

ROWS = 600
OPTIONS = {"score": ["score", "other"], "replicates": 20}


@pytest.fixture(scope="module")
def log(worked_examples):
    load_example("exposure_gini")
    random = np.random.default_rng(5)
    columns = make_log(ROWS)
    items = random.integers(0, 30, ROWS)
    columns |= {
        "other": np.round(columns["score"] + random.normal(0, 1, ROWS), 1),
        "session": columns["user"] * 10 + random.integers(0, 3, ROWS),
        "number": items,
        "item": np.array([f"item {item:03d}" for item in items]),
        "cluster": random.integers(0, 3, ROWS), "new_cluster": random.integers(0, 3, ROWS),
        "topic": np.array(["red", "blue"])[random.integers(0, 2, ROWS)],
    }  # fmt: skip
    return columns


def differences(comparison):
    return [
        (own.metric, own.slice, own.baseline_value, own.other_value, own.pvalue, own.interval, own.won, own.lost)
        for own in comparison
    ]


@each_case("by", [None, "hour"])
def test_metrics_of_different_columns_and_groups_are_compared_in_one_scan(by, log):
    """What one call finds is what a call for each metric finds, and the values are those of evaluate."""
    metrics = ["auc", "rmse(label=revenue)", "gauc(group=[user, hour])", "concordance"]
    columns = {"label": "bought", "by": by, "unit": "user", "roles": COLUMNS["concordance"]["roles"]}
    together = differences(fm.compare(log, metrics, correction="none", **columns, **OPTIONS))
    apart = []
    for name in metrics:
        own = columns | {"roles": columns["roles"] if name == "concordance" else None}
        apart += differences(fm.compare(log, [name], correction="none", **own, **OPTIONS))
    assert sorted(together, key=repr) == sorted(apart, key=repr)
    report = fm.evaluate(log, metrics, label="bought", by=by, score="other", roles=columns["roles"])
    values = {(own.metric, tuple(own.slice.items())): own.value for own in report}
    assert {(own[0], tuple(own[1].items())): own[3] for own in together} == values


def test_partitions_and_numbers_are_compared_in_one_scan(log):
    metrics = ["ari(label=topic)", "rmse(label=revenue)"]
    models = {"score": ["cluster", "new_cluster"], "replicates": 20, "unit": "user", "correction": "none"}
    found = fm.compare(log, metrics, **models)
    assert differences(found) == [differences(fm.compare(log, [name], **models))[0] for name in metrics]
    assert found["ari(label=topic)"].other_value == fm.adjusted_rand_score(log["topic"], log["new_cluster"])


@each_case("weight", [None, "weight"])
def test_tables_of_keys_are_compared(weight, log):
    """A metric without labels; texts as keys have the bits of numbered ones."""
    options = {"group": "user", "unit": "user", "weight": weight, **OPTIONS}
    if weight is not None:
        assert_raises(ValueError, "counts keys", fm.compare, log, ["exposure_gini@3"], item="item", **options)
        return
    found = fm.compare(log, ["exposure_gini@3"], item="item", **options)
    assert differences(found) == differences(fm.compare(log, ["exposure_gini@3"], item="number", **options))
    (one,) = found
    assert one.label is None
    assert "label" not in one.to_dict()
    report = fm.evaluate(log, ["exposure_gini@3"], score="score", group="user", item="item")
    assert one.baseline_value == report[one.metric]


def test_groups_won_see_keys_in_their_own_order(log):
    """A metric of groups that depends on the order of its keys; texts arrive in another order."""

    class FirstKey(GroupStatistic):
        """The share of rows of the least key among the groups' rows."""

        def value(self, group):
            return float(np.mean(group.item == group.item.min())) + float(group.score[0])

    @metric("first_key", exchange="hash", statistics=FirstKey(), roles={"score": Real(), "item": Key()})
    def first_key(parameters, state):
        """A mean that depends on the order of keys."""
        return finalize_group_mean(state, "no value", "no group")

    backwards = {name: column[::-1] for name, column in log.items()}
    found = fm.compare(backwards, ["first_key"], item="item", group="user", **OPTIONS)
    expected = fm.compare(log, ["first_key"], item="number", group="user", **OPTIONS)
    assert differences(found) == differences(expected)
    assert expected["first_key"].won > 0


@pytest.fixture
def folder(tmp_path, log):
    pa.parquet.write_table(pa.table(log), tmp_path / "log.parquet")
    for name in ("exposure_gini", "concordance"):
        code = (EXAMPLES / f"{name}.py").read_text(encoding="utf-8")
        (tmp_path / f"own_{name}.py").write_text(code, encoding="utf-8")
    return tmp_path


def run(folder, command, *arguments):
    plugins = ["--plugin", "own_exposure_gini", "--plugin", "own_concordance"]
    done = run_subprocess(command, "log.parquet", *plugins, *arguments, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_chained_exchanges_and_score_ranges_on_the_command_line(folder, log):
    metrics = ["exposure_gini(group=user)@3", "concordance", "rmse(label=revenue)", "auc"]
    roles = ["--role", "item=item", "--role", "time=days", "--role", "event=churned"]
    columns = ["--label", "bought", "--by", "hour", *roles]
    found = run(folder, "evaluate", "--metrics", ", ".join(metrics), "--score", "score", *columns)
    options = {"label": "bought", "by": "hour", "item": "item", "roles": COLUMNS["concordance"]["roles"]}
    expected = fm.evaluate(log, metrics, score="score", **options)
    assert [own["value"] for own in found["results"]] == [own.value for own in expected]
    scores = ["--score", "score", "--score", "other", "--unit", "user", "--replicates", "20"]
    found = run(folder, "compare", "--metrics", ", ".join(metrics), *scores, *columns)
    expected = fm.compare(log, metrics, unit="user", **options, **OPTIONS)
    assert [own["difference"] for own in found["differences"]] == [own.difference for own in expected]


def test_bad_input_is_named_by_compare(log):
    columns = {"label": "bought", **OPTIONS}
    for metrics, options, message in (
        (["concordance"], {}, "metric concordance reads a column of role 'time'.*--role time="),
        (["auc"], {"roles": {"cost": "days"}}, "no metric asked for reads a column of role 'cost'"),
        (["exposure_gini@3"], {"group": "user", "item": "revenue"}, "item column 'revenue' has Arrow type double"),
        (["rmse(label=topic)"], {}, "label column 'topic' has 'red' at row|label column 'topic' has 'blue' at row"),
        (["bleu(label=topic, score=item)"], {}, "do not read the scores that are compared"),
    ):
        error = TypeError if "Arrow type" in message else ValueError
        assert_raises(error, message, fm.compare, log, metrics, unit="user", **columns, **options)
