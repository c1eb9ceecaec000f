"""Roles and kinds: what is checked, what errors name; metrics of different columns, kinds and groups in one call."""

import json

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics.extend import (
    Binary,
    Key,
    NonNegative,
    Positive,
    Probability,
    Real,
    RowStatistic,
    Text,
    Vector,
    divide,
    metric,
)
from support.cases import assert_raises, each_case
from support.extend.worked_examples import COLUMNS, contents, evaluate, make_log

ROWS = 400
LOG = make_log(ROWS)
KINDS = {
    "binary": (Binary(), [2, 0.5], "must be 0"),
    "real": (Real(), [np.inf, -np.inf], "numbers must be finite"),
    "any real": (Real(finite=False), [], ""),
    "nonnegative": (NonNegative(), [-1e-300, np.inf], "numbers must not be negative"),
    "positive": (Positive(), [0.0, -0.0, -1.0, np.inf], "numbers must be greater than 0"),
    "probability": (Probability(), [-0.25, 1.5, np.inf], "probabilities must lie between 0 and 1"),
}


class Total(RowStatistic):
    """The sum of the column of a role."""

    __slots__ = ("role",)
    sums = ("total", "rows")

    def __init__(self, role):
        self.role = role

    def terms(self, columns):
        total = np.nan_to_num(getattr(columns, self.role).astype(float), posinf=0.0, neginf=0.0)
        return {"total": total, "rows": np.ones(columns.rows)}


def register_mean(name, role, kind):
    @metric(name, exchange="none", statistics=Total(role), roles={role: kind}, direction="none")
    def mean(parameters, sums):
        """The mean of a column."""
        return divide(sums["total"], sums["rows"])


@each_case("kind", KINDS)
def test_a_wrong_value_names_column_row_and_rule(kind):
    allowed, wrong, rule = KINDS[kind]
    name = f"mean_{kind}".replace(" ", "_")
    register_mean(name, "amount", allowed)
    good = np.tile([1.0, 1.0, 0.0 if kind == "binary" else 0.5], 100)
    asked = {"metrics": [name], "roles": {"amount": "price"}}
    assert fm.evaluate({"price": good}, **asked)[name] == good.mean()
    for value in wrong:
        bad = good.copy()
        bad[[217, 250]] = value
        for options in ({}, {"weight": "zero"}):  # also in a row without weight
            log = {"price": bad, "zero": (np.arange(300) != 217).astype(float)}
            assert_raises(ValueError, rf"(?s)amount column 'price' .*217.*{rule}", fm.evaluate, log, **asked, **options)
    assert_raises(ValueError, "amount column 'price' has 'a' at row 0", fm.evaluate, {"price": ["a", "b"]}, **asked)


def test_infinite_numbers_are_read_where_they_are_allowed():
    register_mean("own_mean", "amount", Real(finite=False))
    log = {"price": [np.inf, 1.0]}
    assert fm.evaluate(log, ["own_mean"], roles={"amount": "price"})["own_mean"] == 0.5
    log = {"price": [np.nan, 1.0]}
    assert_raises(
        ValueError, "amount column 'price' has NaN at row 0", fm.evaluate, log, ["own_mean"], roles={"amount": "price"}
    )


def test_keys_are_integers():
    register_mean("own_mean", "thing", Key())
    asked = {"metrics": ["own_mean"], "roles": {"thing": "id"}}
    assert fm.evaluate({"id": [1, 2, 6]}, **asked)["own_mean"] == 3
    assert_raises(TypeError, "thing column 'id' .*keys of this role are integers", fm.evaluate, {"id": ["a"]}, **asked)


def test_a_default_column():
    register_mean("own_mean", "amount", Real(column="price"))
    assert fm.evaluate({"price": [1.0, 2.0]}, ["own_mean"])["own_mean"] == 1.5
    assert fm.evaluate({"cost": [3.0]}, ["own_mean"], roles={"amount": "cost"})["own_mean"] == 3.0


@each_case(
    "options, message",
    [
        ({"roles": {"reward": "revenue"}}, r"snips reads a column of role 'propensity': name it, propensity=\.\.\."),
        ({"propensity": "logged"}, r"role 'reward': name it, roles=\{\"reward\": \.\.\.\}, or --role reward="),
        ({"roles": {"revenue": "revenue"}}, r"no metric asked for reads .* role 'revenue'.*they read propens"),
        ({**COLUMNS["snips"], "treatment": "treated"}, r"role 'treatment' \(treatment='treated'\)"),
        ({**COLUMNS["snips"], "propensity": "loged"}, "propensity: no column 'loged'.*logged"),
    ],
)
def test_missing_and_unknown_roles(options, message):
    assert_raises(ValueError, message, fm.evaluate, LOG, ["snips"], **options)
    assert_raises(ValueError, message.partition(": no column")[0], fm_accumulate, **options)


def fm_accumulate(**options):
    state = fm.Accumulator(["snips"], **options)
    state.update(LOG)
    return state.result()


def test_roles_are_a_dict_of_names():
    twice = {**COLUMNS["snips"], "roles": {**COLUMNS["snips"]["roles"], "propensity": "target"}}
    assert_raises(ValueError, "role 'propensity' is named twice", fm.evaluate, LOG, ["snips"], **twice)
    for roles, message in ((["click"], "roles must be a dict"), ({"click": 5.5}, "click must be the name of a column")):
        assert_raises(TypeError, message, fm.evaluate, LOG, ["cvr"], roles=roles)


def test_a_role_of_two_kinds_has_the_rules_of_each():
    """Metrics that read a role as different kinds each read it for themselves."""
    register_mean("mean_amount", "amount", Real())
    register_mean("mean_positive", "amount", Positive())
    asked = {"metrics": ["mean_amount", "mean_positive"], "roles": {"amount": "price"}}
    report = fm.evaluate({"price": [1.0, 3.0]}, **asked)
    assert report["mean_amount"] == report["mean_positive"] == 2.0
    assert_raises(ValueError, "greater than 0", fm.evaluate, {"price": [1.0, -3.0]}, **asked)
    names = ["mean_amount", "mean_positive(amount=cost)"]
    report = fm.evaluate({"price": [1.0, -3.0], "cost": [1.0, 2.0]}, names, roles={"amount": "price"})
    assert (report["mean_amount"], report["mean_positive(amount=cost)"]) == (-1.0, 1.5)


def test_metric_strings_name_their_columns():
    asked = ["cvr(click=click, conversion=bought)", "cvr(click=bought, conversion=click)", "cvr"]
    report = fm.evaluate(LOG, asked, roles={"click": "treated", "conversion": "churned"})
    for name, (click, conversion) in zip(
        asked, (("click", "bought"), ("bought", "click"), ("treated", "churned")), strict=True
    ):
        assert report[name] == fm.evaluate(LOG, ["cvr"], roles={"click": click, "conversion": conversion})["cvr"]
        signature = report.result(name).signature
        assert ("click:" in signature) == (name != "cvr")
    assert_raises(ValueError, "no parameter 'clck'; did you mean 'click'", fm.evaluate, LOG, ["cvr(clck=click)"])
    assert_raises(ValueError, "click in .* must be one column; found 2", fm.evaluate, LOG, ["cvr(click=[click,user])"])
    assert_raises(ValueError, "no column 'clicks'", fm.evaluate, LOG, ["cvr(click=clicks, conversion=bought)"])


def test_numbers_classes_and_texts_in_one_call():
    log = mixed_log()
    names = ["auc", "rmse(label=days, score=revenue)", "bleu(label=meant, score=said)", "ari(label=hour, score=user)"]
    together = fm.evaluate(log, names, label="bought", score="score", by="treated")
    for name in names:
        columns = {"label": "bought", "score": "score"} if name == "auc" else {}
        alone = fm.evaluate(log, [name], by="treated", **columns)
        of_metric = [own for own in contents(together) if own[0] == name]
        assert of_metric == contents(alone)
    assert_raises(
        ValueError, r"different kinds.*metric\(label=\.\.\., score=\.\.\.\)", fm.evaluate, log, ["auc", "bleu"],
        label="bought", score="score",
    )  # fmt: skip


def mixed_log():
    texts = np.array(["a cat sat on a mat", "the dog ran to the park", "no text is here at all"])
    return {**LOG, "said": texts[LOG["hour"]], "meant": texts[LOG["user"] % 3]}


MIXED = ["auc", "rmse(label=days, score=revenue)", "bleu(label=meant, score=said)", "gauc(group=[user, hour])"]


def test_mixed_metrics_in_accumulators():
    log = mixed_log()
    columns = {"label": "bought", "score": "score", "by": "treated"}
    state = fm.Accumulator(MIXED, **columns)
    for start in (300, 0, 150):
        state.update({name: column[start:start + (150 if start < 300 else 100)] for name, column in log.items()})
    again = fm.Accumulator.from_bytes(state.to_bytes())
    assert contents(again.result()) == contents(fm.evaluate(log, MIXED, **columns))


def test_mixed_metrics_on_the_command_line(tmp_path):
    pytest.importorskip("typer")
    from support.command_line import run, write_log

    write_log(tmp_path / "log.parquet", **mixed_log())
    done = run(
        "evaluate", "log.parquet", "--label", "bought", "--score", "score", "--metrics", ",".join(MIXED), "--json",
        folder=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = [(own["metric"], own["value"]) for own in json.loads(done.stdout)["results"]]
    expected = fm.evaluate(mixed_log(), MIXED, label="bought", score="score")
    assert found == [(own.metric, own.value) for own in expected]


def test_a_metric_with_its_own_group_is_compared():
    log = {**LOG, "other": -LOG["score"]}
    options = {"label": "bought", "score": ["score", "other"], "unit": "hour", "replicates": 20}
    found = fm.compare(log, ["gauc(group=hour)"], **options)
    expected = fm.compare(log, ["gauc"], group="hour", **options)
    assert found["gauc(group=hour)"].difference == expected["gauc"].difference


def test_several_groupings_are_those_of_several_calls(tmp_path):
    names = ["gauc", "gauc(group=hour)", "gauc(group=[user, hour])", "ndcg(group=hour)@5"]
    columns = {"label": "bought", "score": "score"}
    for options in ({}, {"weight": None, "by": "treated"}, {"memory_limit": "1MiB"}):
        report = fm.evaluate(LOG, names, group="user", **columns, **options)
        for name, group in zip(names, ("user", "hour", ["user", "hour"], "hour"), strict=True):
            plain = name.partition("(")[0] + ("@5" if "@" in name else "")
            alone = fm.evaluate(LOG, [plain], group=group, **columns, **options)
            found = [own[1:] for own in contents(report) if own[0] == name]
            assert found == [own[1:] for own in contents(alone)]
    state = fm.Accumulator(names, group="user", **columns)
    for start in (0, 200):
        state.update({name: column[start:start + 200] for name, column in LOG.items()})
    again = fm.Accumulator.from_bytes(state.to_bytes())
    assert contents(again.result()) == contents(fm.evaluate(LOG, names, group="user", **columns))


class Distances(RowStatistic):
    sums = ("squares", "rows")

    def terms(self, columns):
        return {"squares": ((columns.wanted - columns.probabilities) ** 2).sum(axis=1), "rows": np.ones(columns.rows)}


def test_a_metric_reads_vectors():
    """Of lists and of several columns, in slices, intervals, states and under a memory limit."""

    @metric(
        "mean_distance", exchange="none", statistics=Distances(),
        roles={"wanted": Vector(), "probabilities": Vector()},
    )  # fmt: skip
    def mean_distance(parameters, sums):
        """The mean squared distance of two vectors."""
        return divide(sums["squares"], sums["rows"])

    generator = np.random.default_rng(0)
    wanted, found = generator.integers(-4, 5, (2, ROWS, 3)) / 4
    log = {"a": wanted, "b": found.tolist(), "day": np.arange(ROWS) % 3, "w": np.ones(ROWS)}
    log |= {f"b_{number}": column.copy() for number, column in enumerate(found.T)}
    values = ((wanted - found) ** 2).sum(axis=1)
    options = {"roles": {"wanted": "a"}, "by": "day", "ci": 0.9, "unit": "day", "replicates": 10}
    reports = [
        fm.evaluate(log, "mean_distance", **options, probabilities=columns, memory_limit=limit)
        for columns in ("b", ["b_0", "b_1", "b_2"])
        for limit in (None, "1MiB")
    ]
    for report in reports:
        assert report.value("mean_distance", slice={}) == values.mean()
        for day in range(3):
            assert report.value("mean_distance", slice={"day": day}) == values[day::3].mean()
        assert [own.interval for own in report] == [own.interval for own in reports[0]]
    state = fm.Accumulator("mean_distance", roles={"wanted": "a"}, probabilities="b", weight="w")
    state.update(log)
    assert fm.Accumulator.from_bytes(state.to_bytes()).result()["mean_distance"] == values.mean()
    infinite = log | {"a": np.where(np.arange(ROWS)[:, None] == 4, np.inf, 0)}
    options = {"roles": {"wanted": "a"}, "probabilities": "b"}
    assert_raises(ValueError, "'a' has inf at row 4", fm.evaluate, infinite, "mean_distance", **options)
    assert_raises(
        ValueError, "role 'x' has several numbers", metric, "own", exchange="range", statistics=Distances(),
        roles={"x": Vector(), "score": Real()},
    )  # fmt: skip


def test_a_null_of_one_metric_leaves_the_row_out_of_all():
    """As documented in docs/extending.md."""
    revenue = pa.array(LOG["revenue"], mask=np.arange(ROWS) % 7 == 3)
    log = {**LOG, "revenue": revenue}
    assert_raises(ValueError, "reward column 'revenue' has a null at row 3", evaluate, log)
    report = evaluate(log, on_invalid="drop")
    kept = {name: column[np.arange(ROWS) % 7 != 3] for name, column in LOG.items()}
    assert [own[:4] for own in contents(report)] == [own[:4] for own in contents(evaluate(kept))]
    assert report.dropped == {"null or NaN reward": 57}
    assert evaluate(log, ("cvr",))["cvr"] == evaluate(LOG, ("cvr",))["cvr"]  # it does not read the column


@each_case(
    "options, error, message",
    [
        ({"roles": {"reward": 5}}, TypeError, "role 'reward' of metric 'own' must have a kind, such as Real"),
        ({"roles": {"group": Real()}}, ValueError, "cannot have a role 'group'"),
        ({"roles": {"weight": Real()}}, ValueError, "cannot have a role 'weight'"),
        ({"roles": {"two words": Real()}}, ValueError, "cannot have a role 'two words'"),
        ({"parameters": {"power": 1}, "roles": {"power": Real()}}, ValueError, "cannot have a role 'power'"),
        ({"exchange": "hash", "roles": {"reference": Text()}}, ValueError, "exchanges move numbers"),
        ({"exchange": "score"}, ValueError, "exchange must be one of"),
        ({"direction": "up"}, ValueError, "direction must be one of"),
        ({"scale": "logit"}, ValueError, "scale must be one of .*'share'"),
    ],
)
def test_what_a_metric_cannot_declare(options, error, message):
    options = {"exchange": "none", "statistics": Total("reward")} | options
    assert_raises(error, message, metric, "own", **options)


def test_a_name_that_exists_is_refused():
    for name, message in (
        ("auc", "metric 'auc' is registered twice"),
        ("AUC", "registered twice|that is metric 'auc'"),
        ("roc_auc_score", "metric 'roc_auc_score' cannot be called 'roc_auc_score': that is metric 'auc'"),
        ("cvr", "metric 'cvr' is registered twice"),
    ):
        assert_raises(ValueError, message, register_mean, name, "amount", Real())
    assert_raises(
        ValueError, "cannot be called 'ctr'",
        metric("own", exchange="none", statistics=Total("a"), roles={"a": Real()}, aliases=("ctr",)),
        lambda parameters, sums: 0.0,
    )  # fmt: skip
    assert fm.evaluate({"y": [0, 1], "s": [0.1, 0.2]}, ["auc"], label="y", score="s")["auc"] == 1.0


def test_it_is_listed_and_suggested():
    register_mean("mean_amount", "amount", Real())
    assert "mean_amount" in fm.list_metrics()
    spec = next(spec for spec in fm.list_metrics().values() if spec.name == "mean_amount")
    assert (spec.summary, spec.roles, spec.target) == ("The mean of a column.", {"amount": Real()}, "columns")
    with pytest.raises(ValueError, match="did you mean 'mean_amount'"):
        fm.evaluate({"price": [1.0]}, ["mean_amonut"])


def test_predictions_may_be_named_among_other_roles():
    log = {"y": [0, 1, 2, 2], "p": [0, 1, 1, 2]}
    expected = fm.evaluate(log, ["accuracy"], label="y", prediction="p")
    assert fm.evaluate(log, ["accuracy"], label="y", roles={"prediction": "p"})["accuracy"] == expected["accuracy"]
    accumulator = fm.Accumulator(["accuracy"], label="y", roles={"prediction": "p"})
    accumulator.update(log)
    assert accumulator.result()["accuracy"] == expected["accuracy"] == 0.75
