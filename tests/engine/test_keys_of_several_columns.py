"""Groups and units of several columns, of dates and of floats: the same as of one column that numbers the tuples."""

import datetime
import re

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.states.spilled_logs import counted, small_batches, tiny_memory

ROWS = 6000
METRICS = ["gauc", "ndcg@5", "auc", "ctr"]
COLUMNS = {"label": "label", "score": "prob"}
BYTES = {"two numbers": ["user", "day"], "number and text": ["user", "name"], "four": ["name", "user", "flag", "half"]}


def make_log(rows=ROWS):
    random = np.random.default_rng(7)
    return {
        "label": random.integers(0, 2, rows),
        "prob": np.round(random.random(rows), 2),
        "user": random.integers(-20, 20, rows),
        "day": random.integers(0, 4, rows).astype("M8[D]"),
        "name": np.array(["", "a", "ab", "a name that is longer than its slot"])[random.integers(0, 4, rows)],
        "flag": random.random(rows) < 0.5,
        "half": random.integers(0, 3, rows) / 2,
        "weight": random.integers(0, 3, rows).astype(float),
        "hour": random.integers(0, 3, rows),
    }


LOG = make_log()


def numbered(log, names):
    """One column with a number for every tuple."""
    return np.unique(np.rec.fromarrays([log[name] for name in names]), return_inverse=True)[1]


def contents(report):
    return [(own.metric, own.slice, own.value.hex(), own.coverage) for own in report]


def evaluate(log, group, metrics=METRICS, **options):
    return fm.evaluate(log, metrics, **COLUMNS, group=group, **options)


@each_case("kind", BYTES)
@each_case("n_threads", [1, 2])
def test_they_equal_one_column_of_numbers(kind, n_threads):
    names = BYTES[kind]
    log = {**LOG, "key": numbered(LOG, names)}
    report = evaluate(log, names, n_threads=n_threads)
    assert contents(report) == contents(evaluate(log, "key"))
    assert report.columns["group"] == tuple(names)
    assert contents(evaluate(log, names, ["gauc"], weight="weight", by="hour")) == contents(
        evaluate(log, "key", ["gauc"], weight="weight", by="hour")
    )
    own = f"gauc(group={names!r})"
    assert evaluate(log, None, [own])[own] == evaluate(log, "key", ["gauc"])["gauc"]


def evaluate_spilled(log, names):
    with pytest.MonkeyPatch.context() as patch, counted() as calls:
        small_batches(patch, 500)
        tiny_memory(patch, 1 << 14)
        return evaluate(log, names, memory_limit="1MiB", n_threads=1), calls


@each_case("kind", BYTES)
def test_in_a_spilled_log(kind):
    names = BYTES[kind]
    spilled, calls = evaluate_spilled(LOG, names)
    assert calls["spilled"]
    assert calls["repartitioned"]
    assert contents(spilled) == contents(evaluate(LOG, names))


@each_case("kind", ["two numbers", "number and text"])
def test_a_large_group(kind):
    """Half of the rows are one group, which does not fit the memory."""
    first = np.arange(ROWS) < ROWS // 2
    log = {**LOG, "user": np.where(first, 3, LOG["user"]), "day": np.where(first, LOG["day"][0], LOG["day"])}
    log["name"] = np.where(first, "a name that is longer than its slot", LOG["name"])
    names = BYTES[kind]
    spilled, calls = evaluate_spilled(log, names)
    assert calls["large group"]
    assert contents(spilled) == contents(evaluate({**log, "key": numbered(log, names)}, "key"))


def test_one_name_in_a_list_is_that_column():
    assert evaluate(LOG, ["user"]) == evaluate(LOG, "user")
    assert evaluate(LOG, ["user", "user"]) == evaluate(LOG, "user")


@each_case("kind", ["date", "time", "float", "bool"])
def test_one_column_of_any_type(kind):
    values = {
        "date": LOG["day"], "time": LOG["day"].astype("M8[ns]") + LOG["user"], "float": LOG["user"] / 4,
        "bool": LOG["flag"],
    }[kind]  # fmt: skip
    log = {**LOG, "own": values, "key": np.unique(values, return_inverse=True)[1]}
    assert contents(evaluate(log, "own")) == contents(evaluate(log, "key"))


def test_integers_that_became_floats():
    """As pandas reads a column of integers with nulls."""
    floats = np.where(np.arange(ROWS) % 7 == 0, np.nan, LOG["user"])
    report = evaluate({**LOG, "own": floats}, "own", on_invalid="drop")
    kept = {name: column[~np.isnan(floats)] for name, column in LOG.items()}
    assert contents(report) == contents(evaluate(kept, "user"))
    assert report.dropped == {"null or NaN group": int(np.isnan(floats).sum())}


def test_files_of_different_widths(tmp_path):
    types = [("int32", pa.string()), ("int64", pa.large_string()), ("int16", pa.string())]
    for number, (kind, text) in enumerate(types):
        rows = slice(2000 * number, 2000 * (number + 1))
        table = pa.table({name: column[rows] for name, column in LOG.items()})
        table = table.set_column(table.column_names.index("user"), "user", table["user"].cast(kind))
        table = table.set_column(table.column_names.index("name"), "name", table["name"].cast(text))
        pa.parquet.write_table(table, tmp_path / f"{number}.parquet", row_group_size=300)
    for names in BYTES.values():
        found = evaluate(str(tmp_path / "*.parquet"), names)
        assert contents(found) == contents(evaluate(LOG, names))


@each_case("kind", BYTES)
def test_accumulators(kind):
    names = BYTES[kind]
    states = []
    for start in range(0, ROWS, 1500):
        state = fm.Accumulator(METRICS, **COLUMNS, group=names, by="hour")
        for first in (start, start + 700):
            last = min(start + 1500, first + (700 if first == start else 800))
            state.update({name: column[first:last] for name, column in LOG.items()})
        states.append(fm.Accumulator.from_bytes(state.to_bytes()))
    first, *others = states
    for other in others:
        first.merge(other)
    again = fm.Accumulator.from_bytes(first.to_bytes())
    expected = contents(evaluate(LOG, names, by="hour"))
    assert contents(first.result()) == contents(again.result()) == expected
    assert again.to_bytes() == first.to_bytes()


@each_case("kind", ["date", "float"])
def test_accumulators_of_one_column(kind):
    group = {"date": "day", "float": "half"}[kind]
    state = fm.Accumulator(METRICS, **COLUMNS, group=group, ci=0.9, replicates=50)
    state.update(LOG)
    again = fm.Accumulator.from_bytes(state.to_bytes())
    assert again.result() == state.result()
    assert contents(again.result()) == contents(evaluate(LOG, group, ci=0.9, replicates=50))


def test_types_that_change_are_refused():
    state = fm.Accumulator("gauc", **COLUMNS, group=["user", "name"])
    state.update({**LOG, "user": LOG["user"].astype(np.int16)})
    state.update(LOG)
    assert_raises(TypeError, "column 'user' has Arrow type double", state.update, {**LOG, "user": LOG["half"]})
    assert_raises(TypeError, "column 'name' has Arrow type int64", state.update, {**LOG, "name": LOG["user"]})
    other = fm.Accumulator("gauc", **COLUMNS, group=["user", "name"])
    other.update({**LOG, "user": LOG["half"]})
    assert_raises(TypeError, "column types", state.merge, other)


def test_units():
    log = {**LOG, "key": numbered(LOG, ["user", "day"])}
    options = {"ci": 0.9, "replicates": 100}
    report = evaluate(log, ["user", "day"], **options)
    assert "|unit:user, day" in report.result("gauc").signature
    assert report == evaluate(log, ["user", "day"], unit=["user", "day"], **options)
    by_user = evaluate(log, ["user", "day"], ["gauc"], unit="user", **options).result("gauc")
    expected = evaluate(log, "key", ["gauc"], unit="user", **options).result("gauc")
    assert by_user.interval == expected.interval
    two = evaluate(log, "key", ["gauc"], unit=["user", "day"], **options).result("gauc")
    assert two.interval == report.result("gauc").interval
    assert_raises(
        ValueError, r"group \(-?\d+, '.*'\) has rows of several values of unit column 'day'",
        evaluate, log, ["user", "name"], unit="day", **options,
    )
    with pytest.raises(ValueError, match="column 'day' and unit column 'hour': every unit"):
        evaluate(log, "user", unit=["day", "hour"], **options)


def test_compare():
    log = {**LOG, "other": 1 - LOG["prob"], "key": numbered(LOG, ["user", "name"])}
    options = {"label": "label", "score": ["prob", "other"], "replicates": 100}
    found = fm.compare(log, ["gauc"], group=["user", "name"], **options)["gauc"]
    expected = fm.compare(log, ["gauc"], group="key", **options)["gauc"]
    assert (found.difference, found.won, found.lost, found.tied) == (
        expected.difference, expected.won, expected.lost, expected.tied
    )  # fmt: skip
    assert found.method == "100 paired replicates by user, name, two-sided"


def test_errors_name_the_tuple_and_the_row():
    weights = np.ones(ROWS)
    weights[17] = 2
    log = {**LOG, "weights": weights}
    for names in (["user", "day"], ["name", "user", "half"]):
        key = tuple(LOG[name][17].item() if name != "day" else str(LOG[name][17]) for name in names)
        with pytest.raises(ValueError, match=re.escape(f"group {key!r} has weights 1.0 and 2.0")):
            evaluate(log, names, ["ndcg@5"], weight="weights")
    nulls = pa.array(LOG["name"], mask=np.arange(ROWS) == 1234)
    assert_raises(
        ValueError, "group column 'name' has a null at row 1234", evaluate, {**LOG, "name": nulls}, ["user", "name"]
    )
    log = {**LOG, "half": np.where(np.arange(ROWS) == 55, np.nan, LOG["half"])}
    assert_raises(ValueError, "group column 'half' has NaN at row 55", evaluate, log, ["half", "user"])
    for names in (["user", 1.5], {"user"}, 5.5):
        assert_raises(TypeError, "group must be the name of a column or a list of names", evaluate, LOG, names)
    assert_raises(ValueError, "group is an empty list", evaluate, LOG, [])
    assert_raises(ValueError, "group: no column 'usr'", evaluate, LOG, ["day", "usr"])


@each_case("kind", ["list", "struct"])
def test_types_that_are_no_keys(kind):
    column = {"list": pa.array([[1]] * ROWS), "struct": pa.array([{"a": 1}] * ROWS)}[kind]
    log = pa.table({**LOG, "own": column})
    for names in ("own", ["user", "own"]):
        message = f"group column 'own' has Arrow type {kind}.*name columns, or fields"
        assert_raises(TypeError, message, evaluate, log, names)


@each_case("kind", ["binary", "decimal"])
def test_bytes_and_decimals_are_keys(kind):
    column = {
        "binary": pa.array([f"{user}".encode() for user in LOG["user"]]),
        "decimal": pa.array(LOG["user"]).cast(pa.decimal128(25, 2)),
    }[kind]
    log = pa.table({**LOG, "own": column})
    for own, user in (("own", "user"), (["day", "own"], ["day", "user"])):
        assert evaluate(log, own).results == evaluate(log, user).results


def test_a_column_of_nulls_has_no_groups():
    log = pa.table({**LOG, "own": pa.nulls(ROWS)})
    assert_raises(ValueError, "group column 'own' has a null at row 0", evaluate, log, ["user", "own"])
    assert_raises(
        ValueError, "6000 with null or NaN group", evaluate, log, ["user", "own"], on_invalid="drop"
    )


def test_a_date_of_a_single_group_in_an_error():
    log = {**LOG, "weights": np.where(np.arange(ROWS) == 3, 2.0, 1.0)}
    assert_raises(
        ValueError, f"group '{datetime.date.fromisoformat(str(LOG['day'][3]))}' has weights", evaluate, log, "day",
        ["ndcg@5"], weight="weights",
    )  # fmt: skip
