"""Labels that are numbers: metrics of target "real" in every entry point, also together with metrics of classes."""

import json
import math
import warnings
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.states.accumulators import content, merged, pieces, updated
from support.states.state_bytes_parts import put_together, take_apart

COLUMNS = {"label": "watch_time", "score": "predicted"}
CLASSES = ["auc", "logloss"]
ROWS = 3000


def watch_log(rows=ROWS, seed=3):
    generator = np.random.default_rng(seed)
    watched = np.round(generator.gamma(1.0, 30.0, rows) - 5, 2)
    return {
        "watch_time": watched,
        "liked": generator.integers(0, 2, rows).astype(np.int8),
        "predicted": np.round(watched + generator.normal(0, 4, rows), 1),
        "other": generator.random(rows).astype(np.float32),
        "user": generator.integers(0, 40, rows),
        "channel": generator.integers(0, 3, rows),
        "w": generator.choice([0.0, 0.5, 3.0], rows),
    }


@pytest.fixture(scope="module")
def log():
    return watch_log()


def evaluate(log, metrics=("mse",), **options):
    return fm.evaluate(log, list(metrics), **{**COLUMNS, **options})


def new(metrics=("mse",), **options):
    return fm.Accumulator(list(metrics), **{**COLUMNS, **options})


def expected(log, label="watch_time", score="predicted", weight=None):
    """The mean in exact fractions, of squares that are rounded to float64."""
    terms = (log[label].astype(np.float64) - log[score].astype(np.float64)) ** 2
    weights = np.ones(len(terms)) if weight is None else log[weight]
    total = sum(Fraction(own) * Fraction(times) for own, times in zip(terms.tolist(), weights.tolist(), strict=True))
    return float(total / sum(map(Fraction, weights.tolist())))




def changed(log, column, row, value, dtype=np.float64):
    values = np.array(log[column], dtype)
    values[row] = value
    return {**log, column: values}


class TestNumbers:
    def test_any_way_to_read_them(self, log, tmp_path):
        value = expected(log)
        path = tmp_path / "log.parquet"
        pa.parquet.write_table(pa.table(log), path, row_group_size=700)
        for data in (log, pa.table(log), pa.table(log).to_reader(max_chunksize=17), path):
            for n_threads in (1, 3):
                report = evaluate(data, n_threads=n_threads) if data is not path else evaluate(path)
                assert report["mse"] == value
                if not isinstance(data, (dict, pa.Table)):
                    break
        assert report.results[0].label == "watch_time"

    @each_case("dtype", ["f2", "f4", "f8", ">f8", "i1", "u1", "i2", "u4", "i8", "u8", "?"])
    def test_any_type(self, log, dtype):
        numbers = np.abs(np.round(log["watch_time"])) % 100
        typed = {**log, "watch_time": numbers.astype(dtype)}
        assert evaluate(typed)["mse"] == expected(typed)

    @each_case(
        "kind", [pa.float16(), pa.float32(), pa.int16(), pa.uint64(), pa.dictionary(pa.int8(), pa.float64())], ids=str
    )
    def test_any_arrow_type(self, log, kind):
        column = pa.array(np.abs(np.round(log["watch_time"])) % 50)
        typed = column.dictionary_encode() if pa.types.is_dictionary(kind) else column.cast(kind)
        own = {**log, "watch_time": pa.chunked_array([typed[:7], typed[7:7], typed[7:]])}
        assert evaluate(pa.table(own))["mse"] == expected({**log, "watch_time": column.to_numpy()})

    def test_numbers_that_look_like_classes(self, log):
        for values in ([-1.0, 1.0], [-1, 0], [0, 1], [0, 0]):
            own = {**log, "watch_time": np.resize(values, ROWS)}
            assert evaluate(own)["mse"] == expected(own)

    def test_weights_and_slices(self, log):
        report = evaluate(log, weight="w", by=["channel"])
        assert report.value("mse", slice={}) == expected(log, weight="w")
        for channel in range(3):
            part = {name: own[log["channel"] == channel] for name, own in log.items()}
            assert report.value("mse", slice={"channel": channel}) == expected(part, weight="w")

    def test_several_labels_and_scores(self, log):
        report = evaluate(log, label=["watch_time", "liked"], score=["predicted", "other"])
        for label in ("watch_time", "liked"):
            for score in ("predicted", "other"):
                assert report.value("mse", label=label, score=score) == expected(log, label, score)

    def test_no_rows_are_kept(self, log):
        state = updated(new(by="channel"), log)
        assert len(state.to_bytes()) < 2 * ROWS
        assert not state._state.parts[0].range_store().rows

    def test_the_log_is_only_read(self, log):
        frozen = {name: own.copy() for name, own in log.items()}
        for own in frozen.values():
            own.flags.writeable = False
        assert evaluate(frozen, weight="w", by="channel").value("mse", slice={}) == expected(log, weight="w")


class TestInvalid:
    @each_case("column", ["watch_time", "predicted"])
    @each_case("by", [None, "channel"])
    def test_infinities_are_refused_with_their_row(self, log, column, by):
        role = "label" if column == "watch_time" else "score"
        for value in (math.inf, -math.inf):
            bad = changed(changed(log, column, 1007, value), column, 2001, math.inf)
            for size, policy in ((len(log["w"]), "raise"), (64, "drop")):
                reader = pa.table(bad).to_reader(max_chunksize=size)
                message = rf"^{role} column '{column}' has {value} at row 1007: finite numbers are needed$"
                assert_raises(ValueError, message, evaluate, reader, by=by, on_invalid=policy)

    def test_the_row_is_that_of_the_log_if_rows_are_dropped(self, log):
        bad = changed(changed(log, "watch_time", 7, math.nan), "predicted", 9, math.inf)
        assert_raises(ValueError, "'predicted' has inf at row 9:", evaluate, bad, on_invalid="drop")
        weightless = changed(bad, "w", 3, 0.0)
        assert_raises(
            ValueError, "'predicted' has inf at row 9:",
            evaluate, changed(weightless, "w", 9, 1.0), on_invalid="drop", weight="w", by="channel",
        )
        bad = changed(changed(log, "predicted", 7, math.nan), "watch_time", 9, math.inf)
        assert_raises(ValueError, "'watch_time' has inf at row 9:", evaluate, bad, on_invalid="drop")

    @pytest.mark.parametrize("by", [None, "channel"])
    def test_values_outside_a_metrics_domain_are_named_by_column_and_row(self, log, by):
        positive = {**log, "watch_time": np.abs(log["watch_time"]) + 1, "predicted": np.abs(log["predicted"]) + 1}
        for role, column in COLUMNS.items():
            twice = changed(changed(positive, column, 2100, 0.0), column, 2900, 0.0)
            for size in (ROWS, 70):
                assert_raises(
                    ValueError, rf"^{role} column '{column}' has 0.0 at row 2100: ",
                    evaluate, pa.table(twice).to_reader(max_chunksize=size), ["mse", "gamma_deviance"], by=by,
                )

    def test_nan_and_null(self, log):
        message = "^label column 'watch_time' has NaN at row 7; on_invalid='drop' leaves such rows out$"
        assert_raises(ValueError, message, evaluate, changed(log, "watch_time", 7, math.nan))
        holes = pa.array([None if row in (7, 9) else own for row, own in enumerate(log["watch_time"].tolist())])
        assert_raises(ValueError, "'watch_time' has a null at row 7;", evaluate, {**log, "watch_time": holes})
        report = evaluate({**log, "watch_time": holes}, on_invalid="drop")
        assert report["mse"] == expected({name: np.delete(own, [7, 9]) for name, own in log.items()})
        assert report.dropped == {"null or NaN label": 2}

    @each_case(
        ("values", "error", "message"),
        [
            (["a", "b"], TypeError, "'watch_time' has 'a' at row 0: numbers are needed"),
            (pa.array([None, "a"]).dictionary_encode(), TypeError, "'watch_time' has 'a' at row 1: numbers are needed"),
            (np.array([1, 2], "M8[s]"), TypeError, r"'watch_time' has dtype datetime64\[s\]: numbers are needed"),
            ([2**53, 2**53 + 1], ValueError, "'watch_time' has 9007199254740993 at row 1: integers beyond"),
        ],
    )
    def test_values_that_are_not_numbers(self, values, error, message):
        assert_raises(error, message, evaluate, {"watch_time": values, "predicted": [0.5, 0.25]}, on_invalid="drop")


class TestBesideClasses:
    """Labels 0 and 1 are valid for metrics of classes and of numbers; no other labels are."""

    def test_zero_and_one(self, log):
        own = {**log, "predicted": log["other"]}
        for metrics in (["mse", *CLASSES], [*CLASSES, "mse"], ["gauc", "mse"]):
            together = evaluate(own, metrics, label="liked", group="user", by="channel", weight=None)
            for metric in metrics:
                alone = evaluate(own, [metric], label="liked", group="user", by="channel")
                assert [result for result in together if result.metric == metric] == list(alone)

    @pytest.mark.parametrize("value", [-1, 2, 0.5])
    def test_others_are_refused(self, log, value):
        bad = changed(log, "liked", 1005, value)
        message = (
            rf"^label column 'liked' has {float(value)} at row 1005: labels must be 0 and 1 where metrics of classes "
            r"\(auc, logloss\) and of numbers \(mse\) share them; ask for the two kinds separately$"
        )
        for data in (bad, pa.table(bad).to_reader(max_chunksize=100)):
            assert_raises(ValueError, message, evaluate, data, ["mse", *CLASSES], label="liked", score="other")
        assert evaluate(bad, label="liked")["mse"] == expected(bad, "liked")

    def test_of_many_metrics_the_first_are_named(self, log):
        assert_raises(
            ValueError, r"\(auc, ks, brier and 2 more\) and of numbers \(mse, mae, rmse\) s",
            evaluate, log, ["auc", "mse", "ks", "brier", "mae", "ne", "rmse", "ctr"],
        )

    def test_labels_minus_one_and_one_for_each_target(self, log):
        own = {**log, "liked": log["liked"] * 2 - 1}
        assert evaluate(own, label="liked")["mse"] == expected(own, "liked")
        assert evaluate(own, ["auc"], label="liked")["auc"] == fm.roc_auc_score(log["liked"], log["predicted"])
        assert_raises(ValueError, "'liked' has -1 at row", evaluate, own, ["auc", "mse"], label="liked")

    def test_numbers_are_not_classes(self, log):
        assert_raises(ValueError, r"has .* at row 0: labels must be 0 and 1, or -1 and \+1$", evaluate, log, ["auc"])

    def test_infinite_scores_are_for_metrics_of_order_only(self, log):
        bad = changed(log, "predicted", 11, math.inf)
        assert math.isfinite(evaluate(bad, ["auc"], label="liked")["auc"])
        assert_raises(
            ValueError, "score column 'predicted' has inf at row 11: finite",
            evaluate, bad, ["auc", "mse"], label="liked",
        )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"weight": "w", "by": "channel"},
        {"label": ["watch_time", "liked"], "score": ["other", "predicted"]},
        {"approximate": True, "by": "channel"},
        {"metrics": ["auc", "mse"], "label": "liked"},
        {"metrics": ["gauc", "auc", "mse", "logloss"], "label": "liked", "score": "other", "group": "user"},
        {"metrics": ["auc", "mse"], "label": "liked", "approximate": True, "state_size": "4KiB"},
    ],
)
class TestAccumulator:
    def test_states_that_are_sent_and_merged(self, log, options):
        whole, one = merged(lambda: new(**options), log, 700), updated(new(**options), log)
        assert content(whole.result()) == content(one.result())
        assert fm.Accumulator.from_bytes(whole.to_bytes()).to_bytes() == whole.to_bytes()
        if "approximate" not in options:
            assert one.result() == evaluate(log, **options)

    def test_refused_batches_change_nothing(self, log, options):
        state = updated(new(**options), log)
        before = state.to_bytes()
        label = state._state.states[0].names.labels[0]
        score = state._state.states[0].names.scores[0]
        for column, value in ((label, math.inf), (label, math.nan), (score, math.inf), (score, math.nan)):
            assert_raises(
                ValueError, rf"column '{column}' has {str(value).replace('nan', 'NaN')} at row 5",
                state.update, changed(log, column, 5, value, np.float32 if column == "other" else np.float64),
            )
            assert state.to_bytes() == before


class TestTypesOfLabels:
    def test_any_numbers_may_follow_each_other(self, log):
        state = new()
        whole = np.round(log["watch_time"])
        for dtype, piece in zip(("i4", "f4", "f8", "u1", "?"), pieces({**log, "watch_time": whole}, 600), strict=True):
            typed = {**piece, "watch_time": np.abs(piece["watch_time"]).astype(dtype)}
            state.update(typed)
            whole[state.rows - 600 : state.rows] = typed["watch_time"]
        assert state.result()["mse"] == expected({**log, "watch_time": whole})

    def test_text_may_not(self, log):
        state = updated(new(), log)
        assert_raises(
            TypeError, "'watch_time' has 'x' at row 0: numbers are needed",
            state.update, {"watch_time": ["x"], "predicted": [1.0]},
        )
        assert state.rows == ROWS

    def test_other_metrics_do_not_merge(self, log):
        words = "states of different questions do not merge: metrics is"
        assert_raises(ValueError, words, new().merge, new(["mse", "auc"]))



KINDS = {
    "f2": pa.float16(), "f4": pa.float32(), "f8": pa.float64(), "i1": pa.int8(), "u8": pa.uint64(), "?": pa.bool_(),
}  # fmt: skip
FUNCTIONS = {spec.name: spec.function for spec in fm.list_metrics().values() if spec.target == "real" and spec.function}


@st.composite
def logs_with_nulls(draw):
    """(table with nulls, the valid rows as float64, whether it has weights): a few positive numbers of any type."""
    rows = draw(st.integers(1, 30))
    generator = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    columns, plain = {}, {}
    valid = np.ones(rows, bool)
    for name in ("watch_time", "predicted"):
        kind = draw(st.sampled_from(list(KINDS)))
        values = np.minimum(1 + np.round(generator.gamma(1.0, 20.0, rows), 1), 127).astype(kind)
        holes = generator.random(rows) < draw(st.sampled_from([0.0, 0.2]))
        valid &= ~holes
        columns[name] = pa.array(values, KINDS[kind], mask=holes)
        plain[name] = values.astype(np.float64)
        if kind in ("f4", "f8") and draw(st.booleans()):
            columns[name] = pa.array(np.where(holes, np.nan, values).astype(kind))
    weighted = draw(st.booleans())
    columns["w"] = plain["w"] = generator.choice([0.0, 0.25, 7.0], rows)
    return pa.table(columns), {name: own[valid] for name, own in plain.items()}, weighted


@given(logs_with_nulls(), st.integers(1, 31), st.data())
def test_any_types_and_nulls(case, size, data):
    """evaluate, and states that were sent, equal the functions on the valid rows."""
    table, rest, weighted = case
    options = {"on_invalid": "drop", "weight": "w" if weighted else None}
    metrics = list(FUNCTIONS)
    states = [new(metrics, **options) for _ in range(3)]
    for start in range(0, len(table), size):
        states[data.draw(st.integers(0, 2))].update(table.slice(start, size))
    whole = states[0].merge(states[1]).merge(fm.Accumulator.from_bytes(states[2].to_bytes()))
    if not len(rest["w"]):
        for look in (whole.result, lambda: evaluate(table, metrics, **options)):
            assert_raises(ValueError, "no row is left", look)
        return
    report = evaluate(table.to_reader(max_chunksize=size), metrics, **options)
    assert whole.result() == report
    if weighted and not rest["w"].any():
        assert all(math.isnan(result.value) and result.reason for result in report)
        return
    if weighted:
        # Like scikit-learn, the functions count rows of weight zero as rows: one row of two has a variance of 0.
        rest = {name: own[rest["w"] > 0] for name, own in rest.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fm.UndefinedMetricWarning)
        for name, function in FUNCTIONS.items():
            takes_weights = weighted and name != "max_error"  # for which a weight only says that there is a row
            weights = {"sample_weight": rest["w"]} if takes_weights else {}
            value = function(rest["watch_time"], rest["predicted"], **weights)
            assert float(report[name]).hex() == float(value).hex(), name


def test_a_square_beyond_float64_has_a_reason():
    log = {"watch_time": [1e300, 1.0], "predicted": [-1e300, 1.0]}
    report = evaluate(log)
    assert math.isnan(report["mse"])
    assert "its square" in json.loads(report.to_json())["results"][0]["reason"]
    assert fm.Accumulator.from_bytes(updated(new(), log).to_bytes()).result().to_json() == report.to_json()


@pytest.mark.parametrize(
    ("metrics", "label", "seen"),
    [
        (["mse"], "watch_time", 1),
        (["mse"], "liked", 4),
        (["mse", "auc"], "liked", 6),
        (["auc"], "liked", 8),
    ],
)
def test_states_with_label_kinds_that_no_scan_records(log, metrics, label, seen):
    header, arrays, sections = take_apart(updated(new(metrics, label=label), log).to_bytes())
    assert fm.Accumulator.from_bytes(put_together(header, arrays, sections)).rows == ROWS
    assert_raises(
        ValueError, "the state is damaged: its labels are not of one kind",
        fm.Accumulator.from_bytes, put_together({**header, "seen": [seen]}, arrays, sections),
    )
