"""Lists that are joined with a truth table: values by the definition, and the same bits in any order and by any way."""

import copy
import pickle

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.exchange import group_reduction
from oracles.ranking import truth_lists as oracle
from support.ranking.truth_tables import COLUMNS, MEASURES, METRICS, TRUTH, random_tables

QUESTION = fm.Evaluation(METRICS, truth_columns=TRUTH, by="country", weight="weight", ci=0.9, **COLUMNS)


def same(first, second):
    """Are two reports equal to the last bit?"""
    for one, other in zip(first, second, strict=True):
        for name in ("metric", "slice", "value", "interval", "coverage"):
            assert getattr(one, name) == getattr(other, name)


@pytest.mark.parametrize("texts", [False, True])
@pytest.mark.parametrize("seed", range(4))
def test_values_are_those_of_the_definition(seed, texts):
    log, truth = random_tables(seed, texts=texts)
    report = fm.evaluate(log, METRICS, label="grade", weight="weight", by="country", truth=truth, **COLUMNS)
    rows, judged = log.to_pylist(), truth.to_pylist()
    for country in (None, "nl", "de", "fr"):
        of_slice = [row for row in rows if country in (None, row["country"])]
        for name, own, options in MEASURES:
            lists = oracle.join(of_slice, judged, -1 if own == "bpref" else 0).values()
            expected = oracle.value(own, list(lists), weighted=True, **options)
            found = report.value(name, slice={} if country is None else {"country": country})
            assert found == pytest.approx(expected, rel=1e-12), (name, country)


@given(st.integers(0, 2**32 - 1), st.integers(2, 40), st.booleans())
def test_values_are_those_of_runs_and_qrels(seed, n_users, texts):
    log, truth = random_tables(seed, n_users, texts=texts)
    report = fm.evaluate(log, METRICS, label="grade", truth=truth, **COLUMNS)
    judged = pc.is_in(log["user"], pc.unique(truth["user"]))
    run = log.rename_columns(["query", "item", "score", "country", "weight"]).select(["query", "item", "score"])
    qrels = truth.rename_columns(["query", "item", "relevance"])
    if not pc.any(judged).as_py():
        assert {result.value for result in report} == {0.0}
        return
    ranking = fm.evaluate_ranking(qrels, run, METRICS, missing="drop")
    alone = fm.evaluate(log.filter(judged), METRICS, label="grade", truth=truth, **COLUMNS)
    assert [alone[name] for name in METRICS] == [ranking[name] for name in METRICS]


def test_metrics_together_are_those_alone():
    """bpref tells items that the truth lacks from those of grade 0; other metrics do not."""
    log, truth = random_tables(19)
    names = [*METRICS, "auc@10", "err(max_grade=5)", "rbp", "mind_mrr", "dcg", "hr(average=micro)@3"]
    together = fm.evaluate(log, names, label="grade", truth=truth, **COLUMNS)
    for name in names:
        assert together[name] == fm.evaluate(log, name, label="grade", truth=truth, **COLUMNS)[name]


def test_a_slice_is_the_log_of_its_rows():
    log, truth = random_tables(5)
    report = fm.evaluate(log, QUESTION, truth=truth)
    for country in ("nl", "de", "fr"):
        alone = fm.evaluate(log.filter(pc.equal(log["country"], country)), QUESTION.replace(by=None), truth=truth)
        where = fm.evaluate(log, QUESTION.replace(by=None, where=f"country = '{country}'"), truth=truth)
        for name in METRICS:
            found = report.result(name, slice={"country": country})
            assert (found.value, found.interval) == (alone.result(name).value, alone.result(name).interval)
            assert (found.value, found.interval) == (where.result(name).value, where.result(name).interval)


def test_a_group_in_several_slices_has_its_truth_in_each():
    log = {"user": [1, 1, 1, 2], "item": [1, 2, 3, 1], "score": [0.9, 0.8, 0.7, 0.6], "day": [1, 1, 2, 2]}
    truth = {"user": [1, 1, 1, 2], "item": [2, 3, 4, 9]}
    columns = COLUMNS | {"truth_columns": {"item": "item"}}
    report = fm.evaluate(log, ["recall@5"], by="day", truth=truth, **columns)
    assert report["recall@5"] == pytest.approx((2 / 3 + 0) / 2)
    assert report.value("recall@5", slice={"day": 1}) == pytest.approx(1 / 3)
    assert report.value("recall@5", slice={"day": 2}) == pytest.approx((1 / 3 + 0) / 2)


@pytest.mark.parametrize("texts", [False, True])
def test_any_container_order_and_number_of_threads(texts, tmp_path):
    log, truth = random_tables(6, texts=texts)
    expected = fm.evaluate(log, QUESTION, truth=truth)
    rng = np.random.default_rng(0)
    shuffled = [table.take(rng.permutation(len(table))) for table in (log, truth)]
    pq.write_table(log, tmp_path / "log.parquet", row_group_size=100)
    pq.write_table(truth, tmp_path / "truth.parquet", row_group_size=50)
    pyarrow.csv.write_csv(truth, tmp_path / "truth.csv")
    for one, other, n_threads in (
        (*shuffled, 1),
        (shuffled[0].to_batches(max_chunksize=17), shuffled[1].to_batches(max_chunksize=11), 2),
        (tmp_path / "log.parquet", tmp_path / "truth.parquet", 2),
        (tmp_path / "log.parquet", tmp_path / "truth.csv", 2),
        (pl.from_arrow(log), pl.from_arrow(truth).lazy(), None),
        (log.to_pylist(), truth.to_pydict(), None),
    ):
        same(expected, fm.evaluate(one, QUESTION, truth=other, n_threads=n_threads))


def test_a_memory_limit_changes_no_bit():
    log, truth = random_tables(7, n_users=2_500, most_items=30)
    expected = fm.evaluate(log, QUESTION, truth=truth)
    same(expected, fm.evaluate(log.to_batches(max_chunksize=2_000), QUESTION, truth=truth, memory_limit="1MiB"))
    accumulator = fm.Accumulator(QUESTION, memory_limit="1MiB")
    accumulator.update(truth, "truth")
    for batch in log.to_batches(max_chunksize=2_000):
        accumulator.update(batch)
    same(expected, accumulator.result())


def test_float32_scores_and_other_names():
    log, truth = random_tables(8)
    expected = fm.evaluate(log, QUESTION, truth=truth)
    narrow = log.set_column(2, "score", log["score"].cast(pa.float32()))
    narrow = narrow.set_column(0, "user", log["user"].cast(pa.int16()))
    renamed = truth.rename_columns(["who", "what", "how"]).set_column(1, "what", truth["item"].cast(pa.uint8()))
    question = QUESTION.replace(truth_columns={"label": "how", "group": "who", "item": "what"})
    same(expected, fm.evaluate(narrow, question, truth=renamed))
    named = QUESTION.replace(truth_columns={"label": "how * 1", "group": ["who"], "item": "what"})
    same(expected, fm.evaluate(log, named, truth=renamed))


def test_groups_of_several_columns():
    log, truth = random_tables(9)
    expected = fm.evaluate(log, METRICS, label="grade", truth=truth, **COLUMNS)
    split = [
        table.append_column("low", pa.array(table["user"].to_numpy() % 8)).append_column(
            "high", pa.array([f"h{key // 8}" for key in table["user"].to_pylist()]))
        for table in (log, truth)
    ]  # fmt: skip
    report = fm.evaluate(
        split[0], METRICS, label="grade", truth=split[1], score="score", group=["low", "high"], item="item"
    )
    assert [result.value for result in report] == [result.value for result in expected]


def test_units_that_are_larger_than_groups():
    log, truth = random_tables(10)
    for options in ({"ci": 0.9}, {"ci": 0.9, "replicates": 50}):
        report = fm.evaluate(log, METRICS, label="grade", truth=truth, unit="country", **COLUMNS, **options)
        assert {result.n_units for result in report} <= {3, None}
        joined = fm.evaluate(log, METRICS, label="grade", truth=truth.take(pa.array(range(len(truth))[::-1])),
                             unit="country", **COLUMNS, **options)  # fmt: skip
        same(report, joined)
    by_user = fm.evaluate(log, METRICS, label="grade", truth=truth, ci=0.9, **COLUMNS)
    assert {result.n_units for result in by_user if result.n_units} == {len(pc.unique(log["user"]))}


def test_models_are_compared_by_their_lists():
    log, truth = random_tables(11)
    rng = np.random.default_rng(0)
    log = log.append_column("other", pa.array(rng.random(len(log))))
    one = fm.compare(log, METRICS, label="grade", score=["score", "other"], group="user", item="item", truth=truth)
    for name in METRICS:
        values = [
            fm.evaluate(log, name, label="grade", score=score, group="user", item="item", truth=truth)[name]
            for score in ("score", "other")
        ]
        assert [one[name].baseline_value, one[name].other_value] == values
        assert one[name].won + one[name].lost + one[name].tied == len(pc.unique(log["user"]))


def test_two_logs_are_compared_by_one_truth():
    before, truth = random_tables(12)
    after, _ = random_tables(13)
    comparison = fm.compare(after, METRICS, label="grade", truth=truth, against=before, by="country", **COLUMNS)
    for name in METRICS:
        values = [
            fm.evaluate(log, name, label="grade", truth=truth, by="country", **COLUMNS) for log in (before, after)
        ]
        assert [comparison[name].baseline_value, comparison[name].other_value] == [own[name] for own in values]


def test_accumulators_take_both_tables_in_any_order(tmp_path):
    log, truth = random_tables(14, texts=True)
    expected = fm.evaluate(log, QUESTION, truth=truth)
    whole = fm.Accumulator(QUESTION)
    for batch in truth.to_batches(max_chunksize=40):
        whole.update(batch, table="truth")
    later = pickle.loads(pickle.dumps(whole))
    for batch in log.to_batches(max_chunksize=50):
        whole.update(batch)
    same(expected, whole.result())
    whole.save(tmp_path / "state.fm")
    same(expected, fm.Accumulator.load(tmp_path / "state.fm").result())
    same(expected, copy.deepcopy(whole).result())
    later.update(log)
    same(expected, later.result())
    parts = [fm.Accumulator(QUESTION) for _ in range(3)]
    parts[0].update(truth, "truth")
    parts[1].update(log[:100])
    parts[2].update(log[100:])
    for order in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
        first, *others = (parts[number].copy() for number in order)
        for other in others:
            first = fm.Accumulator.from_bytes(first.merge(other).to_bytes())
        same(expected, first.result())


def test_a_question_with_truth_is_stored():
    assert fm.Evaluation.from_toml(QUESTION.to_toml()) == QUESTION
    assert eval(repr(QUESTION), {"Evaluation": fm.Evaluation}) == QUESTION
    log, truth = random_tables(15)
    report = fm.evaluate(log, METRICS, label="grade", truth=truth, **COLUMNS)
    assert report.evaluation.truth_columns == {"item": "item", "label": "grade"}
    same(report, report.evaluation.run(log, truth=truth))
    assert "truth label grade" in str(report)


def test_rows_of_truth_that_no_list_needs_are_told():
    log, truth = random_tables(16)
    more = pa.table({"user": [10**6, 10**6 + 1, 3], "item": [1, 2, 10**6], "grade": pa.array([1, 1, None])})
    both = pa.concat_tables([truth, more])
    report = fm.evaluate(log, "ndcg@5", label="grade", truth=both, on_invalid="drop", **COLUMNS)
    coverage = report.result("ndcg@5").coverage
    there = set(log["user"].to_pylist())
    alone = sum(user not in there for user in both["user"].to_pylist())
    assert coverage["truth_rows_dropped"] == 1
    assert coverage["truth_rows_left_out"] == alone
    assert coverage["truth_rows"] == len(both) - 1 - alone
    assert f"{alone} rows of truth left out" in str(report)


def test_a_task_with_a_label_reads_the_log():
    log, truth = random_tables(17)
    log = log.append_column("watched", log["weight"])
    tasks = {
        "lists": fm.Task(score="score", metrics="ndcg@5"),
        "minutes": fm.Task(label="watched", score="score", metrics="rmse"),
    }
    report = fm.evaluate(log, tasks=tasks, truth_columns=TRUTH, group="user", item="item", truth=truth)
    assert report.value("ndcg@5", task="lists") == fm.evaluate(
        log, "ndcg@5", label="grade", truth=truth, **COLUMNS)["ndcg@5"]  # fmt: skip
    assert report.value("rmse", task="minutes") == fm.evaluate(log, "rmse", label="watched", score="score")["rmse"]


def test_partitions_that_do_not_fit_the_memory_are_divided_by_whole_groups():
    log, truth = random_tables(7, n_users=6_000, most_items=30)
    question = fm.Evaluation(METRICS, truth_columns=TRUTH, by="country", **COLUMNS)
    with pytest.MonkeyPatch.context() as patch:
        large = []
        reduce_large = group_reduction.reduce_large_partition
        patch.setattr(group_reduction, "reduce_large_partition", lambda *own: large.append(own) or reduce_large(*own))
        found = fm.evaluate(log, question, truth=truth, memory_limit="2MiB", n_threads=1)
    assert large
    same(fm.evaluate(log, question, truth=truth), found)


def test_small_batches_are_gathered():
    log, truth = random_tables(18, n_users=40)
    question = fm.Evaluation(METRICS, truth_columns=TRUTH, **COLUMNS)
    expected = fm.evaluate(log, question, truth=truth)
    accumulator, chunks = fm.Accumulator(question), truth.to_batches(max_chunksize=10)
    for number, batch in enumerate(log.select(["user", "item", "score"]).to_batches(max_chunksize=7)):
        accumulator.update(batch)
        if number % 5 == 0:
            accumulator.update(chunks.pop(), table="truth")
    for chunk in chunks:
        accumulator.update(chunk, table="truth")
    assert accumulator.rows == len(log)
    same(expected, accumulator.result())
