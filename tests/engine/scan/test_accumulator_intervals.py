"""Intervals of accumulators equal those of one evaluate of all rows, for any batches, merges and copies."""

import pickle

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

pytest.importorskip("pyarrow")

ROWS = 3000
UNITS = 250


def make_log(seed=0):
    generator = np.random.default_rng(seed)
    user = generator.integers(0, UNITS, ROWS)
    return {
        "label": generator.integers(0, 2, ROWS),
        "a": generator.random(ROWS).astype(np.float32),
        "b": generator.random(ROWS).round(2),
        "user": user,
        "name": np.array([f"a name longer than twelve bytes {number}" for number in user]),
        "household": user // 3,
        "weight": generator.integers(1, 4, ROWS).astype(float),
        "country": generator.integers(0, 3, ROWS),
    }


LOG = make_log()


def rows_of(log, which):
    return {name: column[which] for name, column in log.items()}


def from_workers(metrics, log, **options):
    """Four workers with three batches each; one state is pickled, one restored from bytes, one copied."""
    parts = []
    for own in np.array_split(np.random.default_rng(1).permutation(ROWS), 4):
        parts.append(fm.Accumulator(metrics, label="label", score=["a", "b"], **options))
        for batch in np.array_split(own, 3):
            parts[-1].update(rows_of(log, batch))
    first = pickle.loads(pickle.dumps(parts[3]))
    return first.merge(parts[0].copy()).merge(fm.Accumulator.from_bytes(parts[2].to_bytes())).merge(parts[1])


CASES = {
    "rows of users": (["logloss", "ctr"], {"unit": "user"}),
    "rows of named users": (["logloss", "brier"], {"unit": "name"}),
    "groups": (["gauc"], {"group": "user"}),
    "named groups and rows": (["gauc", "ndcg@3", "logloss"], {"group": "name"}),
    "groups in households": (["gauc"], {"group": "name", "unit": "household"}),
    "groups and rows in households": (["gauc", "logloss"], {"group": "user", "unit": "household"}),
    "slices": (["gauc", "logloss"], {"group": "user", "by": "country"}),
    "weights": (["logloss", "ctr"], {"unit": "household", "weight": "weight"}),
    "order of scores": (["auc", "ks", "logloss"], {"unit": "user"}),
    "order of scores and groups": (["auc", "gauc"], {"group": "name", "by": "country"}),
    "normal": (["gauc", "ctr"], {"group": "user", "ci_method": "normal", "seed": 7}),
}


@each_case("case", CASES)
def test_merged_states_have_the_intervals_of_evaluate(case):
    metrics, options = CASES[case]
    options = {"ci": 0.9, "replicates": 40, **options}
    expected = fm.evaluate(LOG, metrics, label="label", score=["a", "b"], **options)
    assert all(result.interval is not None for result in expected)
    merged = from_workers(metrics, LOG, **options)
    assert merged.result() == expected
    again = fm.Accumulator.from_bytes(merged.to_bytes())
    assert again.result() == expected
    assert again.to_bytes() == merged.to_bytes()


def test_delong_needs_no_units():
    options = {"ci": 0.95, "ci_method": "delong"}
    expected = fm.evaluate(LOG, ["auc"], label="label", score=["a", "b"], **options)
    assert from_workers(["auc"], LOG, **options).result() == expected


def test_an_early_result_changes_nothing():
    state = fm.Accumulator(["logloss"], label="label", score="b", unit="user", ci=0.9, replicates=20)
    for batch in np.array_split(np.arange(ROWS), 5):
        state.update(rows_of(LOG, batch))
        state.result()
    expected = fm.evaluate(LOG, ["logloss"], label="label", score="b", unit="user", ci=0.9, replicates=20)
    assert state.result() == expected


def test_a_refused_batch_leaves_no_rows_behind():
    state = fm.Accumulator(["gauc", "logloss"], label="label", score="b", group="user", ci=0.9, replicates=20)
    state.update(rows_of(LOG, slice(0, 100)))
    before = state.result()
    bad = rows_of(LOG, slice(100, 200))
    bad["b"] = bad["b"].copy()
    bad["b"][7] = np.nan
    assert_raises(ValueError, "row 7", state.update, bad)
    assert state.result() == before


def test_half_precision_keeps_its_epsilon():
    log = {**LOG, "half": (LOG["label"] * 1.0).astype(np.float16)}
    options = {"label": "label", "score": "half", "unit": "user", "ci": 0.9, "replicates": 20}
    state = fm.Accumulator(["logloss"], **options)
    state.update(log)
    expected = fm.evaluate(log, ["logloss"], **options)
    assert state.result() == expected
    assert fm.Accumulator.from_bytes(state.to_bytes()).result() == expected


def test_states_of_other_intervals_do_not_merge():
    states = [fm.Accumulator(["ctr"], label="label", score="a", unit="user", ci=0.9, seed=seed) for seed in (0, 1)]
    assert_raises(ValueError, "questions do not merge: seed is 0 here, 1 there", states[0].merge, states[1])


@pytest.mark.parametrize(
    ("metrics", "options", "message"),
    [
        (["ctr"], {"ci": 0.9}, "unit=..."),
        (["ctr"], {"ci": 0.9, "unit": "row"}, "unit=..."),
        (["ctr"], {"ci": 0.9, "unit": "user", "approximate": True}, "approximate"),
        (["ctr"], {"ci": 1.0, "unit": "user"}, "between 0 and 1"),
        (["ctr"], {"unit": "user"}, "ci=0.95"),
    ],
)
def test_metrics_without_intervals_are_an_early_error(metrics, options, message):
    assert_raises(ValueError, message, fm.Accumulator, metrics, label="label", score="a", **options)


def test_texts_have_intervals_in_evaluate_only():
    assert_raises(ValueError, "use evaluate", fm.Accumulator, ["bleu"], ci=0.9, unit="document")
