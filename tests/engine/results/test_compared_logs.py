"""compare(against=...): the values of two logs, paired by the units that are in both."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

import fastmetrics as fm  # noqa: E402
from oracles.inference.errors import error_by_leaving_out  # noqa: E402
from support.cases import assert_raises, each_case  # noqa: E402

COLUMNS = {"label": "click", "group": "user"}
SMOOTH = ["logloss", "ne", "brier", "accuracy", "ctr", "copc", "gauc", "gauc(weight=pairs)", "ndcg@3", "mrr"]
OTHERS = ["auc", "ap", "ks", "ece", "eer", "lift@0.1"]


def make_log(seed, users=(0, 30), rows=700, noise=0.4):
    """Users are the same people in every log: their rate depends on the user alone."""
    rng = np.random.default_rng(seed)
    user = rng.integers(*users, rows)
    rate = 1 / (1 + np.exp(-np.random.default_rng(1).normal(size=1_000)[user] - rng.normal(size=rows)))
    return {
        "click": (rng.random(rows) < rate).astype(np.int64),
        "p": np.clip(rate * np.exp(rng.normal(size=rows) * noise), 0.001, 0.999),
        "q": np.clip(rate * np.exp(rng.normal(size=rows)), 0.001, 0.999),
        "user": user,
        "weight": 0.5 + (user % 7) / 3,
        "channel": np.array(["mail", "search", "web"])[rng.integers(0, 3, rows)],
        "device": rng.integers(0, 2, rows),
    }


OLD, NEW = make_log(1), make_log(2, (12, 42), 900, 0.8)


def compare(metrics, old=OLD, new=NEW, **options):
    return fm.compare(new, metrics, against=old, **({"score": "p"} | COLUMNS | options))


def evaluate(log, metric, rows=slice(None), **options):
    log = {name: column[rows] for name, column in log.items()}
    return fm.evaluate(log, metric, score="p", **(COLUMNS | options))[metric]


def error_of_users(metric, old, new, **options):
    """The jackknife over the users of both logs: each is left out of both."""
    n_old = old["click"].shape[0]

    def difference(rows):
        return evaluate(new, metric, rows[n_old:], **options) - evaluate(old, metric, rows[:n_old], **options)

    return error_by_leaving_out(difference, np.concatenate((old["user"], new["user"])))


@pytest.mark.parametrize("by", [None, "channel", ["channel", "device"], [["channel"], ["device", "channel"]]])
def test_the_values_are_those_of_evaluate_of_each_log(by):
    comparison = compare([*SMOOTH, *OTHERS], by=by)
    old, new = (fm.evaluate(log, [*SMOOTH, *OTHERS], score="p", by=by, **COLUMNS) for log in (OLD, NEW))
    compared, evaluated = ([(one.metric, tuple(one.slice.items())) for one in own] for own in (comparison, new.results))
    assert sorted(compared, key=repr) == sorted(evaluated, key=repr)
    for one in comparison:
        assert one.baseline_value == old.value(one.metric, slice=one.slice)
        assert one.other_value == new.value(one.metric, slice=one.slice)
        assert (one.baseline, one.other) == ("before", "after")


@pytest.mark.parametrize("weight", [None, "weight"])
@pytest.mark.parametrize("users", [(12, 42), (100, 130)])
def test_the_errors_are_those_of_leaving_every_user_out_of_both(weight, users):
    new = make_log(2, users, 900, 0.8)
    comparison = compare(SMOOTH, new=new, weight=weight)
    for one in comparison:
        assert one.standard_error == pytest.approx(error_of_users(one.metric, OLD, new, weight=weight), rel=1e-9)
        assert one.n_units == np.union1d(OLD["user"], new["user"]).shape[0]


def test_the_errors_of_slices_are_those_of_leaving_every_user_out_of_both():
    logs = make_log(1, (0, 12)), make_log(2, (6, 18))  # in all slices of every user are both classes
    for one in compare(SMOOTH, *logs, by="channel"):
        if one.slice:
            own = [{name: column[log["channel"] == one.slice["channel"]] for name, column in log.items()}
                   for log in logs]  # fmt: skip
            assert one.standard_error == pytest.approx(error_of_users(one.metric, *own), rel=1e-9)


@each_case("metric, tolerance", [("auc", 0.02), ("ap", 0.08), ("partial_auc(max_fpr=0.3)", 0.08)])
def test_the_order_of_scores_is_so_to_first_order(metric, tolerance):
    old, new = make_log(1, (0, 60), 3_000), make_log(2, (30, 90), 3_000)
    one = compare(metric, old, new)[metric]
    assert one.standard_error == pytest.approx(error_of_users(metric, old, new), rel=tolerance)


def test_users_in_both_make_a_difference_more_certain():
    """Users without rows in common are independent: the variances add up. Those in both are alike in both."""
    far = make_log(2, (100, 130), 900)
    near = far | {"user": far["user"] - 100}
    errors = [fm.evaluate(log, "ctr", score="p", ci=0.95, **COLUMNS).result("ctr") for log in (OLD, far)]
    apart, paired = (compare("ctr", new=log)["ctr"] for log in (far, near))
    n = apart.n_units
    plain = [one.standard_error**2 * one.n_units / (one.n_units - 1) for one in errors]
    assert apart.standard_error == pytest.approx(np.sqrt(sum(plain) * (n - 1) / n), rel=1e-9)
    rng = np.random.default_rng(0)
    alike = {name: column[rng.permutation(700)[:650]] for name, column in OLD.items()}
    paired = compare("ctr", new=alike)["ctr"]
    assert paired.standard_error < 0.7 * apart.standard_error


@each_case("options, users, said, unit", [
    ({}, (12, 42), "paired by user: 18 of 30 and 30 are in both logs", "user"),
    ({}, (100, 130), "independent: no user is in both logs", ""),
    ({"group": None}, (12, 42), "independent: each row is a unit", ""),
    ({"group": None, "unit": "user"}, (12, 42), "paired by user: 18 of 30 and 30 are in both logs", "user"),
    ({"group": None, "unit": ["user", "device"]}, (100, 130), "independent: no user, device is in both logs", ""),
    ({"replicates": 50}, (12, 42), "paired by user: 18 of 30 and 30 are in both logs", "user"),
])  # fmt: skip
def test_it_says_whether_units_are_in_both(options, users, said, unit):
    comparison = compare(["logloss"], new=make_log(3, users), **options)
    assert comparison["logloss"].method.endswith(said)
    assert f"the logs are {said}" in comparison.notes
    assert "rows of the logs: before 700, after 700" in comparison.notes
    assert comparison.unit == unit


def test_units_of_larger_logs_are_counted_in_part():
    rng = np.random.default_rng(0)
    old, new = (
        {"user": np.arange(start, start + 40_000), "click": rng.integers(0, 2, 40_000), "p": rng.random(40_000)}
        for start in (0, 30_000)
    )
    apart = new | {"user": new["user"] + 100_000}
    (said,) = (note for note in compare("logloss", old, new).notes if "paired" in note)
    about, first, second = (int(word.replace(",", "")) for word in said.split() if word[0].isdigit())
    assert about == pytest.approx(10_000, rel=0.1)
    assert first == pytest.approx(40_000, rel=0.1)
    assert second == pytest.approx(40_000, rel=0.1)
    (said,) = (note for note in compare("logloss", old, apart).notes if "independent" in note)
    assert said.startswith("the logs are independent: no user of ")
    assert said.endswith(" that were looked at is in both logs")


@given(st.data())
def test_the_numbers_do_not_depend_on_order_batches_and_threads(data):
    seed = data.draw(st.integers(0, 1_000))
    rows = [data.draw(st.integers(30, 300)) for _ in range(2)]
    old, new = (make_log(seed + number, (0, 12), n) for number, n in enumerate(rows))
    asked = {"by": "device", "weight": data.draw(st.sampled_from([None, "weight"]))}
    expected = compare(["logloss", "gauc", "auc", "ap"], old, new, **asked)
    rng = np.random.default_rng(seed)
    turned = [{name: column[order] for name, column in log.items()}
              for log in (old, new) for order in [rng.permutation(log["click"].shape[0])]]  # fmt: skip
    batches = [pa.Table.from_batches(pa.table(log).to_batches(max_chunksize=7)) for log in turned]
    assert compare(["logloss", "gauc", "auc", "ap"], *batches, n_threads=3, **asked) == expected


def test_the_numbers_do_not_depend_on_the_memory_limit(scaled):
    old, new = make_log(1, (0, 400), 20_000), make_log(2, (200, 600), 20_000)
    metrics = ["logloss", "gauc", "auc", "ks"]
    expected = compare(metrics, old, new, by="channel")
    assert compare(metrics, old, new, by="channel", memory_limit=300_000, n_threads=2) == expected


def test_files_streams_and_frames_are_read_alike(tmp_path):
    for name, log in (("monday", OLD), ("tuesday", NEW)):
        pq.write_table(pa.table(log), tmp_path / f"{name}.parquet", row_group_size=100)
    monday, tuesday = (tmp_path / f"{name}.parquet" for name in ("monday", "tuesday"))
    expected = compare(["logloss", "gauc", "auc"], by="channel")
    found = compare(["logloss", "gauc", "auc"], monday, tuesday, by="channel", n_threads=2)
    assert [one.replace(baseline="before", other="after", signature="") for one in found] == [
        one.replace(signature="") for one in expected
    ]
    assert {(one.baseline, one.other) for one in found} == {("monday", "tuesday")}
    with monday.open("rb") as file:
        assert list(compare(["logloss", "gauc", "auc"], file, NEW, by="channel")) == list(expected)
    reader = pa.RecordBatchReader.from_stream(pa.table(NEW))
    assert list(compare(["logloss", "gauc", "auc"], [str(monday)], reader, by="channel")) == list(expected)


def test_text_files_with_keys_of_both_kinds_are_read_as_texts(tmp_path):
    old = "user,click,p\n" + "".join(f"{n % 9},{n % 2},0.{n % 8 + 1}\n" for n in range(60))
    new = old.replace("\n3,", "\nx3,")
    (tmp_path / "old.csv").write_text(old)
    (tmp_path / "new.csv").write_text(new)
    comparison = compare("logloss", tmp_path / "old.csv", tmp_path / "new.csv")
    assert "paired by user: 8 of 9 and 9" in comparison["logloss"].method


def test_several_scores_and_tasks():
    comparison = compare(["logloss", "auc"], score=["p", "q"])
    assert [(one.metric, one.baseline, one.other) for one in comparison] == [
        ("logloss", "p before", "p after"), ("auc", "p before", "p after"),
        ("logloss", "q before", "q after"), ("auc", "q before", "q after"),
    ]  # fmt: skip
    alone = compare(["logloss", "auc"], score="q")
    assert comparison.difference("auc", other="q after").standard_error == alone["auc"].standard_error
    tasks = {"a": fm.Task(score="p", metrics="auc"), "b": fm.Task(score="q", metrics="logloss", where="device = 1")}
    of_tasks = fm.compare(NEW, tasks=tasks, against=OLD, **COLUMNS)
    assert of_tasks.difference("auc", task="a").difference == compare("auc")["auc"].difference
    assert of_tasks.tasks["a"].columns["score"] == "p"


def test_slices_of_one_log_alone_are_left_out():
    new = NEW | {"channel": np.where(NEW["channel"] == "web", "app", NEW["channel"])}
    comparison = compare("logloss", new=new, by="channel")
    assert [one.slice for one in comparison] == [{}, {"channel": "mail"}, {"channel": "search"}]
    assert "slices that only one of the logs has are left out: 2" in comparison.notes
    assert comparison.columns["by"] == "channel"
    few = compare("logloss", by="channel", min_rows=250)
    assert [one.slice for one in few] == [{}]
    assert [one.slice for one in compare("logloss", min_rows=1_000)] == [{}]


def test_margins_families_and_the_question():
    comparison = compare(["logloss", "auc"], by="channel", margin={"logloss": 10.0})
    whole = [one for one in comparison if not one.slice]
    assert whole[0].verdict == "equal within the margin"
    alone = fm.compare(NEW, ["logloss", "auc"], against=OLD, score="p", margin={"logloss": 10.0}, **COLUMNS)
    assert [one.adjusted_pvalue for one in whole] == [one.adjusted_pvalue for one in alone]
    again = fm.compare(NEW, comparison.evaluation, against=OLD)
    assert again == comparison
    assert pickle.loads(pickle.dumps(comparison)) == comparison
    assert fm.Evaluation.from_toml(comparison.evaluation.to_toml()) == comparison.evaluation
    assert "before" in comparison.to_html()


def test_metrics_of_texts_and_of_predictions():
    old = {"reference": ["a b c d", "b c d e"] * 6, "hypothesis": ["a b c d", "b c d x"] * 6, "page": [1, 2, 3] * 4}
    new = old | {"hypothesis": ["a b c x", "b c d e"] * 6}
    one = fm.compare(new, "bleu", label="reference", score="hypothesis", unit="page", against=old)["bleu"]
    assert one.method.endswith("paired by page: 3 of 3 and 3 are in both logs")
    assert one.baseline_value == fm.evaluate(old, "bleu")["bleu"]
    rng = np.random.default_rng(0)
    old, new = ({"label": rng.integers(0, 3, 90), "guess": rng.integers(0, 3, 90)} for _ in range(2))
    one = fm.compare(new, "accuracy", label="label", prediction="guess", against=old)["accuracy"]
    assert (one.baseline_value, one.other_value) == tuple((log["label"] == log["guess"]).mean() for log in (old, new))


def test_replicates_are_paired_too():
    rng = np.random.default_rng(0)
    alike = {name: column[rng.permutation(700)[:650]] for name, column in OLD.items()}
    linearized, resampled = (compare("ctr", new=alike, **own)["ctr"] for own in ({}, {"replicates": 2_000}))
    assert resampled.standard_error == pytest.approx(linearized.standard_error, rel=0.15)


WITHOUT_P = {name: column for name, column in NEW.items() if name != "p"}


@each_case("old, new, options, error, text", [
    (OLD, OLD, {}, ValueError, "data and against are the same log"),
    ("a.parquet", ["./a.parquet"], {}, ValueError, "data and against are the same log"),
    (OLD, WITHOUT_P, {}, ValueError, "data: score: no column 'p'"),
    (WITHOUT_P, NEW, {}, ValueError, "against: score: no column 'p'"),
    ({name: column[:0] for name, column in OLD.items()}, NEW, {}, ValueError, "against: the log has no rows"),
    (OLD, {name: column[:0] for name, column in NEW.items()}, {}, ValueError, "data: the log has no rows"),
    (OLD, NEW | {"user": NEW["user"].astype(str)}, {}, TypeError, "data: column 'user' has Arrow type"),
    (OLD, NEW | {"p": NEW["p"] + 1}, {"metrics": "logloss"}, ValueError, "data: "),
    (OLD, NEW | {"p": np.where(NEW["user"] == 13, np.nan, NEW["p"])}, {}, ValueError, "data: score column 'p' has NaN"),
    (OLD, NEW, {"where": "user < 12"}, ValueError, "data: no row is left of the log"),
    (OLD, NEW, {"where": "user > 35"}, ValueError, "against: no row is left of the log"),
    (OLD, NEW, {"where": np.ones(700, bool)}, ValueError, "where is a mask of the rows of one log"),
    (OLD, NEW, {"by": "qcut(q, 3)"}, ValueError, r"by='qcut\(q, 3\)' has other edges in each log"),
    (OLD, NEW, {"baseline": "p"}, ValueError, "with against= the other log is the baseline"),
    (OLD, NEW, {"baseline": "rest", "by": "channel"}, ValueError, "with against= the other log is the baseline"),
    (OLD, NEW, {"ci_method": "delong"}, ValueError, "ci_method='delong' compares two scores of the same rows"),
    (OLD, NEW, {"margin": {"ap": 0.1}}, ValueError, "margin has ap, which is not compared"),
    (OLD, NEW, {"by": "nothing"}, ValueError, "against: by: no column 'nothing'"),
])  # fmt: skip
def test_what_cannot_be_compared_is_refused(old, new, options, error, text):
    options = dict(options)
    metrics = options.pop("metrics", "auc")
    assert_raises(error, text, lambda: compare(metrics, copy.copy(old) if old is not new else old, new, **options))


@each_case(
    ("column", "values", "options", "text"),
    [
        ("user", lambda own: own.astype(str), {}, "column 'user' has Arrow type string, but int64 in against"),
        ("user", lambda own: own.astype("M8[D]"), {}, r"'user' has Arrow type date32\[day\], but int64 in against"),
        ("user", lambda own: own.astype(str), {"group": "device", "unit": "user"}, "string, but int64 in against"),
        ("user", lambda own: own.astype(str), {"group": ["device", "user"]}, "string, but int64 in against"),
        ("channel", lambda own: np.arange(own.size), {"by": "channel"}, "int64, but string in against"),
        ("click", lambda own: own * 2 - 1, {}, r"'click' has -1 at row \d+ and 0 in against"),
    ],
)
def test_columns_of_other_types_name_the_other_log_and_both_types(column, values, options, text):
    other = NEW | {column: values(NEW[column])}
    assert_raises((TypeError, ValueError), f"^data: .*{text}", compare, ["auc", "gauc"], OLD, other, **options)
    with pytest.raises((TypeError, ValueError), match=r"^data: .* in against"):
        compare(["auc", "gauc"], other, OLD, **options)
