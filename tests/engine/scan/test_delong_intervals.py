"""ci_method="delong": the intervals of AUC equal `roc_auc_interval` for any order and batches of rows."""

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises

ROWS = 150_000


@pytest.fixture(scope="module")
def log():
    generator = np.random.default_rng(1)
    label = (generator.random(ROWS) < 0.2).astype(np.int64)
    return {
        "label": label,
        "score": (generator.normal(size=ROWS) + label).round(2),
        "other": generator.normal(size=ROWS).astype(np.float32) + label,
        "country": generator.integers(0, 3, ROWS),
        "weight": generator.integers(1, 3, ROWS),
    }


def evaluate(log, **options):
    asked = {"label": "label", "score": "score", "ci": 0.95, "ci_method": "delong"}
    return fm.evaluate(log, ["auc"], **(asked | options))


def found(result):
    return result.value, *result.interval, result.standard_error


def wanted(log, rows=slice(None), score="score", ci=0.95):
    own = fm.roc_auc_interval(log["label"][rows], log[score][rows], ci=ci)
    return own.auc, own.ci_low, own.ci_high, own.standard_error


def test_all_rows_slices_and_models(log):
    report = evaluate(log, score=["score", "other"], by="country", ci=0.9)
    assert len(report.results) == 8
    for result in report.results:
        rows = log["country"] == result.slice["country"] if result.slice else slice(None)
        assert found(result) == wanted(log, rows, result.score, 0.9)
        assert result.signature.endswith("|ci:0.9|method:delong|unit:row")


def test_spilled_rows_and_their_order(log, tmp_path):
    order = np.random.default_rng(2).permutation(ROWS)
    moved = {name: column[order] for name, column in log.items()}
    for options in ({}, {"memory_limit": 1 << 21, "spill_dir": str(tmp_path)}, {"n_threads": 1}):
        assert found(evaluate(moved, **options).results[0]) == wanted(log)


def test_one_large_tie(log):
    """A bucket of a single score is never loaded, spilled or not: its counts are enough."""
    tied = log | {"score": np.where(log["score"] < 1, 0.0, log["score"])}
    for options in ({}, {"memory_limit": 1 << 20}):
        assert found(evaluate(tied, **options).results[0]) == wanted(tied)


def test_undefined(log):
    small = {"label": [0, 0, 1, 0, 1, 1], "score": [1, 2, 3, 1, 2, 3.5], "country": ["a", "a", "a", "b", "c", "c"]}
    report = evaluate(small, by="country")
    reasons = {result.slice["country"]: result.coverage["interval"] for result in report.results if result.slice}
    assert reasons == {
        "a": "there is only one positive row, so the variance is unknown",
        "b": "the value is undefined",
        "c": "the value is undefined",
    }
    assert all(result.interval is result.standard_error is None for result in report.results if result.slice)
    assert report.results[0].interval[1] == 1.0


def test_weights_are_refused(log):
    for own in (log, "a file that is never opened.parquet"):
        assert_raises(ValueError, "it takes no weights: leave out weight='weight'", evaluate, own, weight="weight")
    assert_raises(
        ValueError, "leave out weight='weight'",
        fm.Accumulator, ["auc"], label="label", score="score", weight="weight", ci=0.95, ci_method="delong",
    )


def test_the_value_is_the_same_with_and_without(log):
    assert evaluate(log).results[0].value == fm.evaluate(log, ["auc"], label="label", score="score").results[0].value


def test_accumulators(log):
    """Merged, and restored from their bytes."""
    names = {"label": "label", "score": "score", "by": "country", "ci": 0.95, "ci_method": "delong"}
    one, two = (fm.Accumulator(["auc"], **names) for _ in range(2))
    one.update({name: column[:50_000] for name, column in log.items()})
    two.update({name: column[50_000:] for name, column in log.items()})
    one.merge(fm.Accumulator.from_bytes(two.to_bytes()))
    assert [found(own) for own in one.result().results] == [found(own) for own in evaluate(log, by="country").results]
