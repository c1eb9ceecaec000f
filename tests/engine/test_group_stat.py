"""`stat=` of metrics by group: quantiles, extremes and shares of groups, in every way that a log is evaluated."""

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics._core.columns.group_keys import as_keys
from fastmetrics._core.columns.key_columns import KeyScratch
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling.resampling_units import draw_weights, find_unit_buckets
from oracles.group_stat import stat
from support.cases import assert_raises, each_case
from support.states.spilled_logs import counted, log_of, moved, slice_rows, small_batches, tiny_memory

STATS = ["stat=min", "stat=max", "stat=p10", "stat=p99.9", "stat=p50, rule=lower", "stat=p50, rule=higher",
         "stat=below, at=0.5"]  # fmt: skip
METRICS = [f"gauc({options})" for options in STATS] + [
    "gauc(weight=uniform, stat=p10)", "gauc(single_class=half, stat=p90)", "ndcg(stat=p10)@5", "mrr(stat=p25)",
    "hr(stat=min)@3", "map(empty=skip, stat=below, at=0.25)",
]  # fmt: skip
ROWS = 6000
COLUMNS = {"label": "label", "score": "prob", "group": "group"}
LOG = log_of(ROWS)


def evaluate(log, metrics=METRICS, **options):
    return fm.evaluate(log, metrics, **{**COLUMNS, **options})


def contents(report):
    return [(own.metric, own.slice, own.value.hex(), own.interval, own.coverage) for own in report]


def stat_of(sample, metric):
    options = parse(metric).arguments
    return float(stat(sample, options["stat"], options.get("rule", "linear"), options.get("at", 0)))


WEIGHT_OF = {"impressions": "n", "uniform": None, "positives": "n_positives"}


@each_case("weight", WEIGHT_OF)
@each_case("options", STATS)
def test_gauc_is_the_definition(weight, options):
    table = fm.auc_by_group(LOG["label"], LOG["prob"], LOG["group"])
    weights = np.ones(len(table)) if WEIGHT_OF[weight] is None else getattr(table, WEIGHT_OF[weight])
    sample = [pair for pair in zip(table.auc.tolist(), weights.tolist(), strict=True) if pair[0] == pair[0]]
    metric = f"gauc(weight={weight}, {options})"
    assert evaluate(LOG, [metric])[metric] == stat_of(sample, metric)


@each_case("options", STATS)
def test_ndcg_is_the_definition(options):
    """With weights of lists."""
    log = {**LOG, "weight": 0.3 + LOG["group"] % 4}
    table = fm.ranking_by_group(log["label"], log["prob"], log["group"], metrics=["ndcg@5"])
    weight_of = dict(zip(log["group"].tolist(), log["weight"].tolist(), strict=True))
    weights = [weight_of[group] for group in table.columns["group"].tolist()]
    sample = list(zip(table.columns["ndcg@5"].tolist(), weights, strict=True))
    metric = f"ndcg({options})@5"
    assert evaluate(log, [metric], weight="weight")[metric] == stat_of(sample, metric)


def test_every_way_has_the_same_bits(tmp_path):
    options = {"by": "hour", "ci": 0.9, "replicates": 20, "seed": 5}
    expected = contents(evaluate(LOG, **options, n_threads=1))
    order = np.random.default_rng(0).permutation(ROWS)
    assert contents(evaluate(moved(LOG, order), **options)) == expected
    with pytest.MonkeyPatch.context() as patch, counted() as calls:
        small_batches(patch, 500)
        tiny_memory(patch, 1 << 14)
        assert contents(evaluate(LOG, **options, memory_limit="1MiB", n_threads=2)) == expected
    assert calls["spilled"]
    parts = [fm.Accumulator(METRICS, **COLUMNS, by="hour") for _ in range(3)]
    for number, part in enumerate(parts):
        part.update(slice_rows(LOG, np.arange(ROWS) % 3 == number))
    merged = fm.Accumulator.from_bytes(parts[0].to_bytes())
    merged.merge(fm.Accumulator.from_bytes(parts[2].to_bytes()))
    merged.merge(parts[1])
    values = [(own.metric, own.slice, own.value.hex()) for own in merged.result()]
    assert values == [own[:3] for own in expected]


def test_a_large_group():
    log = {**LOG, "group": np.where(np.arange(ROWS) < ROWS // 2, 3, LOG["group"])}
    with pytest.MonkeyPatch.context() as patch, counted() as calls:
        small_batches(patch, 500)
        tiny_memory(patch, 1 << 14)
        spilled = evaluate(log, memory_limit="1MiB", n_threads=1)
    assert calls["large group"]
    assert contents(spilled) == contents(evaluate(log))


def test_slices_are_logs_of_their_own():
    report = evaluate(LOG, by="hour")
    for hour in np.unique(LOG["hour"]).tolist():
        own = evaluate(slice_rows(LOG, LOG["hour"] == hour))
        assert [result.value for result in report if result.slice == {"hour": hour}] == [own[name] for name in METRICS]


def test_an_interval_repeats_groups():
    """Each replicate is the statistic of the groups, each as often as the weight of its unit says."""
    metric, replicates = "gauc(stat=p25)", 40
    result = evaluate(LOG, [metric], ci=0.8, replicates=replicates, seed=11).results[0]
    table = fm.auc_by_group(LOG["label"], LOG["prob"], LOG["group"])
    keys = as_keys(table.group)
    scratch = KeyScratch(keys.rows, keys.dtype)
    keys.hash_block(0, keys.rows, scratch)
    hashes = scratch.hashes
    buckets = find_unit_buckets([hashes])
    times = draw_weights(buckets, 11, 0, replicates)[buckets.bucket_of(hashes)]
    values = []
    for replicate in range(replicates):
        rows = zip(table.auc.tolist(), table.n.tolist(), times[:, replicate].tolist(), strict=True)
        values.append(stat_of([(auc, n) for auc, n, copies in rows if auc == auc for _ in range(copies)], metric))
    assert result.interval == tuple(np.quantile(values, (0.1, 0.9)).tolist())


def test_units_larger_than_groups():
    log = {**LOG, "home": LOG["group"] // 3}
    options = {"unit": "home", "ci": 0.9, "replicates": 20}
    expected = evaluate(log, **options)
    for own in expected:
        is_same = "do not differ" in own.coverage.get("interval", "")  # in all replicates
        assert (own.interval is None) == ("stat=m" in own.metric or is_same)
    with pytest.MonkeyPatch.context() as patch:
        tiny_memory(patch, 1 << 14)
        assert contents(evaluate(log, **options, memory_limit="1MiB")) == contents(expected)


def test_compare():
    log = {**LOG, "other": np.roll(LOG["prob"], 1)}
    options = {"label": "label", "group": "group", "replicates": 50, "seed": 2}
    metrics = ["ndcg(stat=p10)@5", "ndcg@5"]
    found = fm.compare(log, metrics, **options, score=["prob", "other"])
    values = {own.metric: (own.baseline_value, own.other_value) for own in found}
    for metric in metrics:
        assert values[metric] == tuple(evaluate(log, [metric], score=score)[metric] for score in ("prob", "other"))
    wins = {own.metric: (own.won, own.lost, own.tied) for own in found}
    assert all(own.interval is not None or "replicate" in own.reason for own in found)
    assert wins[metrics[0]] == wins[metrics[1]]  # groups have the same values


def test_what_is_undefined_for_the_mean():
    log = {**LOG, "label": np.ones(ROWS, np.int8)}
    (mean, lowest) = evaluate(log, ["gauc", "gauc(stat=min)"]).results
    assert np.isnan(lowest.value)
    assert lowest.reason == mean.reason


def test_one_name_for_what_is_the_same():
    assert parse("gauc(stat=mean)") == parse("gauc")
    assert repr(parse("ndcg( stat='p10', rule = linear)@10")) == "ndcg(stat=p10)@10"
    assert repr(parse("ndcg(stat=p99.9, rule=lower)@10")) == "ndcg(stat=p99.9, rule=lower)@10"
    assert "stat" not in evaluate(LOG, ["gauc"]).results[0].signature
    assert "|stat:p10|rule:linear|" in evaluate(LOG, ["gauc(stat=p10)"]).results[0].signature
    assert "|stat:below|at:0.5|" in evaluate(LOG, ["gauc(stat=below, at=0.5)"]).results[0].signature


def test_a_smaller_share_of_bad_groups_is_better():
    assert parse("ndcg(stat=p10)").direction == "maximize"
    assert parse("ndcg(stat=below, at=0.5)").direction == "minimize"


def test_the_scale_of_a_statistic_of_groups():
    assert parse("dcg(stat=p10)").scale == parse("dcg").scale == "real"
    assert parse("dcg(stat=below, at=0.5)").scale == "share"


def test_extremes_have_no_interval():
    assert not parse("gauc").no_interval
    assert not parse("gauc(stat=p10)").no_interval
    for extreme in ("min", "max", "p0", "p100"):
        assert "least and the greatest" in parse(f"gauc(stat={extreme})").no_interval


@each_case(
    "metric, message",
    [
        ("hr(average=micro, stat=p10)@5", "hr.average=micro, stat=p10.@5: stat= is for means over groups"),
        ("auc(stat=p10)", "metric 'auc' has no parameter 'stat'"),
        ("gauc(stat=median)", "stat must be mean, min, max"),
        ("gauc(quantile=0.1)", "has no parameter 'quantile'"),
        ("gauc(at=0.5)", "at belongs to stat=below"),
    ],
)
def test_wrong_metric_strings(metric, message):
    assert_raises(ValueError, message, evaluate, LOG, [metric])


def test_runs_have_means_alone():
    tables = {"q": {"a": 1}}, {"q": {"a": 0.5}}
    assert_raises(ValueError, "stat= is for evaluate", fm.evaluate_ranking, *tables, ["ndcg(stat=p10)@5"])


def test_a_table_of_files(tmp_path):
    for number in range(3):
        pa.parquet.write_table(pa.table(LOG).slice(number * 2000, 2000), tmp_path / f"{number}.parquet")
    assert contents(evaluate(tmp_path)) == contents(evaluate(LOG))


def test_fractions_of_the_oracle():
    assert stat([(0.0, 1), (1.0, 3)], "p50") == Fraction(1)
