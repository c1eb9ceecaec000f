"""Options of intervals; intervals are the same for any order of rows, threads and memory limit."""

import json

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.registry import parse
from fastmetrics._core.resampling import replicate_weights
from fastmetrics._core.resampling.resampling_units import MAX_UNIT_BUCKETS, find_unit_buckets
from fastmetrics.engine.scan import intervals as engine_intervals
from support.cases import assert_raises, each_case

METRICS = ["logloss", "ctr", "gauc", "ndcg@3", "ece", "auc"]
COLUMNS = {"label": "y", "score": "p", "group": "user"}


def make_log(rows=6000, users=400, seed=0):
    rng = np.random.default_rng(seed)
    user = rng.integers(0, users, rows)
    score = rng.random(rows)
    label = (rng.random(rows) < 0.7 * score + 0.2 * (user % 3 == 0)).astype(np.int64)
    name = np.array([f"user with a long name {value:05d}" for value in range(users)])[user]
    return {"y": label, "p": score, "user": user, "name": name, "city": user % 23, "day": rng.integers(0, 4, rows)}


def reordered(log, seed):
    order = np.random.default_rng(seed).permutation(len(log["y"]))
    return {name: column[order] for name, column in log.items()}


def intervals(report):
    return [(r.metric, r.score, dict(r.slice), r.value, r.interval, r.standard_error, r.signature) for r in report]


@pytest.mark.parametrize("users", [400, 3 * MAX_UNIT_BUCKETS])
def test_order_threads_and_memory_change_nothing(users):
    log = make_log(60_000, users)
    options = COLUMNS | {"ci": 0.9, "replicates": 60, "seed": 4}
    wanted = intervals(fm.evaluate(log, METRICS, n_threads=1, **options))
    assert all(found[4] is not None for found in wanted)
    assert intervals(fm.evaluate(reordered(log, 1), METRICS, n_threads=3, **options)) == wanted
    assert intervals(fm.evaluate(reordered(log, 2), METRICS, n_threads=2, memory_limit=1 << 20, **options)) == wanted


@pytest.mark.parametrize("unit", ["city", "name", "user"])
def test_order_and_memory_with_units_and_slices(unit):
    log = make_log(30_000)
    options = COLUMNS | {"ci": 0.9, "replicates": 20, "unit": unit, "by": "day"}
    wanted = intervals(fm.evaluate(log, METRICS, n_threads=1, **options))
    assert intervals(fm.evaluate(reordered(log, 1), METRICS, n_threads=3, **options)) == wanted
    assert intervals(fm.evaluate(reordered(log, 2), METRICS, n_threads=2, memory_limit=1 << 20, **options)) == wanted


def test_a_large_user_and_a_small_limit():
    log = make_log(90_000, 50)
    log["user"][log["user"] > 2] = 7
    options = COLUMNS | {"ci": 0.9, "replicates": 20}
    wanted = intervals(fm.evaluate(log, METRICS, **options))
    assert intervals(fm.evaluate(reordered(log, 3), METRICS, memory_limit=1 << 20, **options)) == wanted


def test_batches_change_nothing():
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(make_log())
    options = COLUMNS | {"ci": 0.9, "replicates": 20}
    wanted = intervals(fm.evaluate(table, METRICS, **options))
    small = pyarrow.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=97))
    assert intervals(fm.evaluate(small, METRICS, **options)) == wanted


def test_values_do_not_change():
    log = make_log()
    plain = fm.evaluate(log, METRICS, **COLUMNS)
    found = fm.evaluate(log, METRICS, **COLUMNS, ci=0.95, replicates=50)
    for before, after in zip(plain, found, strict=True):
        assert before.value == after.value
        assert before.interval is None
        assert before.standard_error is None
        low, high = after.interval
        assert low < after.value < high
        assert 0 < after.standard_error < high - low
        assert after.signature == f"{before.signature}|ci:0.95|method:bootstrap|replicates:50|seed:0|unit:user"
        assert dict(before.coverage) == {name: after.coverage[name] for name in before.coverage}
    assert found.columns["unit"] == "user"


def test_levels_seeds_and_the_normal_method():
    log = make_log()
    one = fm.evaluate(log, "ctr", **COLUMNS, ci=0.5, replicates=400).result("ctr")
    wide = fm.evaluate(log, "ctr", **COLUMNS, ci=0.99, replicates=400).result("ctr")
    assert wide.interval[0] < one.interval[0] < one.interval[1] < wide.interval[1]
    assert wide.standard_error == one.standard_error
    other = fm.evaluate(log, "ctr", **COLUMNS, ci=0.5, replicates=400, seed=1).result("ctr")
    assert other.interval != one.interval
    normal = fm.evaluate(log, "ctr", **COLUMNS, ci=0.95, ci_method="normal", replicates=400).result("ctr")
    assert normal.standard_error == one.standard_error
    width = 1.959963984540054 * normal.standard_error
    assert normal.interval == (normal.value - width, normal.value + width)
    assert "|ci:0.95|method:normal|" in normal.signature


def test_the_greatest_level_there_is():
    level = np.nextafter(1.0, 0.0).item()
    found = fm.evaluate(make_log(), "ctr", **COLUMNS, ci=level, ci_method="normal", replicates=20).result("ctr")
    reach = (found.interval[1] - found.value) / found.standard_error
    assert abs(reach - 8.2923611) < 1e-6  # the tail probability of a normal distribution there is 2**-54


def test_the_interval_of_a_mean_is_as_wide_as_theory_says():
    rng = np.random.default_rng(0)
    log = {"y": rng.integers(0, 2, 20_000), "p": rng.random(20_000)}
    found = fm.evaluate(log, "ctr", label="y", score="p", ci=0.95).result("ctr")
    theory = (found.value * (1 - found.value) / 20_000) ** 0.5
    assert abs(found.standard_error / theory - 1) < 0.1


def test_reports_show_intervals():
    report = fm.evaluate(make_log(), ["gauc", "logloss"], **COLUMNS, ci=0.95, replicates=50)
    result = report.result("gauc")
    fields = json.loads(report.to_json())["results"][0]
    assert (fields["ci_low"], fields["ci_high"], fields["standard_error"]) == (*result.interval, result.standard_error)
    table = report.to_arrow()
    assert table["ci_low"].to_pylist()[0] == result.interval[0]
    assert table["ci_high"].to_pylist()[0] == result.interval[1]
    assert table["standard_error"].to_pylist()[0] == result.standard_error
    assert report.to_pandas()["standard_error"].tolist()[0] == result.standard_error
    assert "95 % interval" in str(report)
    assert "95 % interval" in report._repr_html_()
    sliced = fm.evaluate(make_log(), ["gauc", "logloss"], **COLUMNS, ci=0.95, replicates=50, by="day")
    assert "95 % interval" in str(sliced)


def test_undefined_replicates_are_left_out_and_counted():
    # One user of twelve has both classes: a replicate without that user has no GAUC.
    user = np.repeat(np.arange(12), 4)
    label = (user % 2 == 0).astype(np.int64)
    label[:4] = [1, 0, 1, 0]
    log = {"y": label, "p": np.linspace(0, 1, 48), "user": user}
    found = fm.evaluate(log, "gauc", **COLUMNS, ci=0.95, replicates=200).result("gauc")
    assert found.interval is None
    assert found.standard_error is None
    undefined = found.coverage["undefined_replicates"]
    assert 40 < undefined < 110  # e ** -1 of 200
    assert found.coverage["interval"] == f"{undefined} of 200 replicates are undefined"
    label[:20] = [*[1, 0, 1, 0] * 4, 0, 1, 1, 0]
    found = fm.evaluate(log, "gauc", **COLUMNS, ci=0.95, replicates=1000).result("gauc")
    assert found.interval is not None
    assert 0 < found.coverage["undefined_replicates"] < 50


def test_no_interval_has_a_reason():
    log = make_log()
    log["user"][:] = 3
    for options, reason in (({}, "too few units: 1"), ({"seed": 0}, "two or more are needed")):
        found = fm.evaluate(log, "ctr", **COLUMNS, ci=0.95, **options).result("ctr")
        assert found.interval is None
        assert reason in found.coverage["interval"]
    log = make_log()
    log["y"][:] = 0
    found = fm.evaluate(log, "gauc", **COLUMNS, ci=0.95).result("gauc")
    assert np.isnan(found.value)
    assert found.interval is None
    assert found.coverage["interval"] == "the value is undefined"


def test_replicates_that_do_not_differ_have_no_interval():
    log = {"y": np.repeat([1.0, 2.0], 20), "p": np.repeat([1.5, 2.5], 20), "user": np.arange(40)}
    found = fm.evaluate(log, "median_ae", label="y", score="p", unit="user", ci=0.95).result("median_ae")
    assert (found.value, found.interval, found.standard_error) == (0.5, None, 0.0)
    assert found.coverage["interval"].startswith("the replicates do not differ between the ends")
    log = {"y": np.repeat([0, 1, 1], 40), "p": np.repeat([0.25, 0.5, 1.0], 40), "user": np.arange(120) % 20}
    log["q"] = np.where(np.arange(120) % 37, log["p"], 0.125)  # the median changes in no replicate
    found = fm.compare(log, "median_ae", label="y", score=["p", "q"], unit="user", ci_method="bootstrap")["median_ae"]
    assert (found.difference, found.interval, found.pvalue, found.verdict) == (0.0, None, 1.0, "cannot tell")


def test_no_interval_of_replicates_leaves_the_domain():
    log = {"y": np.tile([0, 1], 10), "p": np.tile([0.25, 0.75], 10), "user": np.arange(20)}
    log["p"][3] = 0.125
    for method in ("normal", "bootstrap"):
        found = fm.evaluate(log, "auc", label="y", score="p", unit="user", ci=0.95, ci_method=method).result("auc")
        assert found.interval[0] < found.value < found.interval[1] == 1


@each_case("ci_method", [None, "linearized", "bootstrap", "normal"])
def test_extremes_have_no_interval_by_any_method(ci_method):
    """Replicates of a maximum never exceed it: their quantiles would say that no row can."""
    log = make_log(3000, 60) | {"q": np.random.default_rng(1).random(3000)}
    for names, columns in (
        (["max_error", "mae"], {"label": "p", "score": "q"}), (["gauc(stat=max)", "gauc(stat=min)", "gauc"], COLUMNS),
    ):  # fmt: skip
        options = columns | {"ci": 0.9, "ci_method": ci_method, "unit": "user", "by": "day"}
        for own in fm.evaluate(log, names, **options):
            reason = parse(own.metric).no_interval
            assert (own.interval is None) == (reason is not None), own
            assert reason in (None, own.coverage.get("interval")), own
        del options["score"]
        log["other"] = np.random.default_rng(2).random(3000)
        for own in fm.compare(log, names, score=[columns["score"], "other"], **options):
            reason = parse(own.metric).no_interval
            assert (own.interval is None) == (reason is not None), own
            assert reason in (None, own.reason), own


@each_case("ci", [0, 1, -0.5, 95, 1.5, float("nan"), "0.95", True])
def test_bad_levels(ci):
    assert_raises(
        ValueError, "ci must be a number between 0 and 1", fm.evaluate, make_log(50), "ctr", **COLUMNS, ci=ci
    )


@each_case(
    ("options", "match"),
    [
        ({"replicates": 0}, "replicates must be an integer of at least 1; found 0"),
        ({"replicates": -5}, "replicates must be an integer"),
        ({"replicates": 10.5}, "replicates must be an integer"),
        ({"replicates": True}, "replicates must be an integer"),
        ({"replicates": 2**31}, "replicates must be an integer of at most 2,147,483,647; found 2147483648"),
        ({"seed": -1}, "seed must be an integer from 0"),
        ({"seed": 2**64}, "seed must be an integer from 0"),
        ({"seed": "x"}, "seed must be an integer from 0"),
        ({"ci_method": "jackknife"}, "ci_method must be one of 'linearized'"),
        ({"ci_method": np.array(["normal", "normal"])}, "ci_method must be one of 'linearized'"),
        ({"unit": "users"}, "users"),
        ({"ci_method": "delong", "unit": "row"}, "metric ctr has intervals by"),
    ],
)
def test_bad_options(options, match):
    assert_raises(ValueError, match, fm.evaluate, make_log(50), "ctr", **COLUMNS, ci=0.95, **options)


def test_unit_needs_an_interval():
    assert_raises(ValueError, r"ask for them, ci=0\.95", fm.evaluate, make_log(50), "ctr", **COLUMNS, unit="city")
    assert_raises(
        TypeError, "unit must be the name of a column",
        fm.evaluate, make_log(50), "ctr", **COLUMNS, ci=0.95, unit={"city"},
    )


def test_groups_have_to_be_inside_units():
    log = make_log()
    assert_raises(
        ValueError, r"group \d+ has rows of several values of unit column 'day'",
        fm.evaluate, log, "gauc", **COLUMNS, ci=0.95, unit="day",
    )
    assert_raises(
        ValueError, r"group 'user with a long name \d+' has rows of several values",
        fm.evaluate, log, "gauc", label="y", score="p", group="name", ci=0.95, unit="day",
    )
    assert_raises(
        ValueError, "rows cannot be resampled one by one", fm.evaluate, log, "gauc", **COLUMNS, ci=0.95, unit="row"
    )
    fm.evaluate(log, "ctr", **COLUMNS, ci=0.95, unit="day", replicates=20)


def test_a_null_unit_is_refused():
    log = make_log(50)
    log["city"] = [None, *log["city"].tolist()[1:]]
    assert_raises(
        ValueError, "unit column 'city' has a null at row 0", fm.evaluate, log, "ctr", **COLUMNS, ci=0.95, unit="city"
    )
    report = fm.evaluate(log, "ctr", **COLUMNS, ci=0.95, unit="city", on_invalid="drop")
    assert dict(report.dropped) == {"null or NaN unit": 1}


def test_slices_that_do_not_fit_are_resampled_in_several_passes(monkeypatch):
    log = make_log(3000)
    options = COLUMNS | {"ci": 0.9, "replicates": 20, "by": ["day", "city"]}
    wanted = intervals(fm.evaluate(log, METRICS, **options))
    shares = []
    take = engine_intervals.replicate_additive
    monkeypatch.setattr(engine_intervals, "replicate_additive", lambda *given: shares.append(given[-1]) or take(*given))
    monkeypatch.setattr(engine_intervals, "MAX_REPLICATE_BYTES", 1 << 17)
    assert intervals(fm.evaluate(log, METRICS, n_threads=1, **options)) == wanted
    assert len(shares) > 3


def test_days_are_units_as_dates_numbers_or_texts():
    log = make_log()
    log["day"] = np.random.default_rng(1).integers(0, 30, len(log["y"]))
    wanted = fm.evaluate(log, "ctr", **COLUMNS, ci=0.9, unit="day").result("ctr")
    log["date"] = log["day"].astype("datetime64[D]")
    log["time"] = log["day"].astype("datetime64[us]")
    log["text"] = log["day"].astype(str)
    dates = fm.evaluate(log, "ctr", **COLUMNS, ci=0.9, unit="date").result("ctr")
    assert (dates.interval, dates.standard_error) == (wanted.interval, wanted.standard_error)
    assert fm.evaluate(log, "ctr", **COLUMNS, ci=0.9, unit="time").result("ctr").interval == wanted.interval
    texts = fm.evaluate(log, "ctr", **COLUMNS, ci=0.9, unit="text").result("ctr")
    assert texts.coverage["units"] == 30
    assert 0.5 < texts.standard_error / wanted.standard_error < 2
    log["float"] = log["day"] / 2
    floats = fm.evaluate(log, "ctr", **COLUMNS, ci=0.9, unit="float").result("ctr")
    assert floats.coverage["units"] == 30
    assert 0.5 < floats.standard_error / wanted.standard_error < 2


def test_weights_that_do_not_fit_are_drawn_in_blocks(monkeypatch):
    log = make_log(3000)
    texts = {"label": log["city"], "cluster": log["day"], "user": log["user"]}
    wanted = intervals(fm.evaluate(log, METRICS, **COLUMNS, ci=0.9, replicates=101))
    pairs = intervals(fm.evaluate(texts, "ari", unit="user", ci=0.9, replicates=101))
    monkeypatch.setattr(replicate_weights, "CACHED_WEIGHT_BYTES", 7 * 400)
    buckets = find_unit_buckets([np.arange(400, dtype=np.uint64)])
    assert replicate_weights.ReplicateWeights(buckets, 0, 101).cached is None
    assert intervals(fm.evaluate(log, METRICS, **COLUMNS, ci=0.9, replicates=101)) == wanted
    assert intervals(fm.evaluate(texts, "ari", unit="user", ci=0.9, replicates=101)) == pairs
