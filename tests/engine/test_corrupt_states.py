"""States whose checksum is right and whose content is wrong: a checksum detects accidents, not intent.

They are refused with ValueError. No kernel reads or writes beyond its arrays, whatever the numbers are.
"""

import contextlib
import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.engine.partial.files.containers import StateError
from support.cases import assert_raises, each_case
from support.registry_cases import TEXT_COLUMNS
from support.states.accumulator_states import STATES, log_of, make, outcome
from support.states.accumulators import with_other_source
from support.states.state_bytes_parts import (
    HEADER,
    ROWS,
    VALUES,
    code_of,
    nested,
    put_rows,
    put_together,
    rows_of,
    seal,
    sections_of,
    set_value,
    take_apart,
)

GOOD = make("long text").to_bytes()
FIELDS = list(take_apart(GOOD).header)

def refuse(data, what="damaged"):
    assert_raises(StateError, what, fm.Accumulator.from_bytes, data)


def changed(name, change):
    parts = take_apart(make(name).to_bytes())
    change(parts)
    return put_together(*parts)


@pytest.mark.parametrize("name", STATES)
def test_taking_apart_and_together_is_exact(name):
    same = changed(name, lambda parts: None)
    assert fm.Accumulator.from_bytes(same).to_bytes() == make(name).to_bytes()


def set_question(**values):
    def change(parts):  # None leaves an option out
        question = parts.header["evaluation"] | values
        parts.header["evaluation"] = {name: own for name, own in question.items() if own is not None}

    return change


def set_header(**values):
    return lambda parts: parts.header.update(values)


def set_in(name, *path):
    """Replace the value at a path in the header: the last argument is the new value."""

    def change(parts):
        place = parts.header[name]
        for step in path[:-2]:
            place = place[step]
        place[path[-2]] = path[-1]

    return change


def rows(change):
    """Change the columns of the rows: a function of all columns that returns new ones."""

    def apply(parts):
        put_rows(parts.sections, change(rows_of(parts.sections)))

    return apply


def set_column(name, index, value):
    return lambda parts: set_value(parts.sections, name, index, value)


def without(name):
    return rows(lambda columns: {own: values for own, values in columns.items() if own != name})


def cast(name, function):
    return rows(lambda columns: columns | {name: function(columns[name])})


def without_first_key(columns):
    keys = columns["key"]
    return columns | {"key": pa.array([None, *keys.to_pylist()[1:]], keys.type)}


def without_keys(columns):
    return columns | {"key": pa.nulls(len(columns["key"]), columns["key"].type)}


def replace_array(find, new):
    """Replace the array whose number `find` returns."""

    def change(parts):
        number = find(parts.header)
        parts.arrays[number] = new(parts.arrays[number])

    return change


def first_counts(header):
    return header["sums"][0][3]


def first_sums(header):
    return header["sums"][0][4]


def shift_of_bins(header):
    return header["histograms"][0][2]


def first_prefixes(header):
    return header["histograms"][0][3]


def first_bins(header):
    return header["histograms"][0][4]


def repeated(array):
    return array.repeat(2, 1)


def all_but_last(array):
    return array[:-1]


def without_last_column(array):
    return array[:, :-1]


def set_section(name, content):
    """Replace a section by what a function of its bytes returns."""
    return lambda parts: parts.sections.update({name: content(parts.sections.get(name, b""))})


def values_of(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return set_section(VALUES, lambda _: sink.getvalue().to_pybytes())


def random_bytes(_):
    return np.random.default_rng(0).integers(0, 256, 500).astype(np.uint8).tobytes()


def values_beyond(content):
    """The last of three texts ends far beyond Arrow's buffer."""
    words = np.frombuffer(content, np.int32).copy()
    ends = [
        place
        for place in range(3, len(words))
        if words[place - 3] == 0 < words[place - 2] < words[place - 1] < words[place] == len("kölnulmrom".encode())
    ]
    words[ends] = 1 << 20
    return words.tobytes()


def slices(change):
    """Replace the sets and codes of slices."""
    return replace_array(lambda header: header["slices"], change)


def set_slice(row, place, value):
    def change(array):
        array[row, place] = value
        return array

    return slices(change)


def bins(change):
    def apply(parts):
        prefixes, counts = parts.header["histograms"][0][3:]
        change(parts.arrays[prefixes], parts.arrays[counts])

    return apply


def slice_counts(place, change):
    """Replace the counts of all rows (0), the numbers of slices (1), or their counts (2)."""
    return replace_array(lambda header: header["counts"][place], change)


def types_of_labels(parts):
    """A type of labels that does not exist, in all tables."""
    for number, own in enumerate(parts.arrays):
        if own.dtype == np.uint8 and b"\n" in own.tobytes():
            parts.arrays[number] = np.frombuffer(b"integex\n", np.uint8)


def swap_bins(prefixes, counts):
    prefixes[:2] = prefixes[1::-1]


def negative_bin(prefixes, counts):
    counts[0, 0] -= 1000
    counts[1, 0] += 1000


def more_rows(prefixes, counts):
    counts[0, 0] += 1


ROWS_AGAIN = take_apart(make("integers").to_bytes()).sections[ROWS]
NONSENSE = {
    # fields of the header
    "metric": ("integers", set_question(metrics=["aucc"]), "unknown metric"),
    "no metric": ("integers", set_question(metrics=[]), "metrics is empty"),
    "metrics that are numbers": ("integers", set_question(metrics=[1]), "list of metric strings; found 1"),
    "metrics that are nothing": ("integers", set_question(metrics=None), "damaged"),
    "names that are numbers": ("integers", set_question(label=[1.5]), "label must be the name of a column"),
    "no group": ("integers", set_question(group=None), "computed inside groups"),
    "another label": ("integers", set_question(label=["a", "b"]), "damaged"),
    "another score": ("integers", set_question(score=["a", "b"]), "damaged"),
    "weights": ("integers", set_question(weight="w"), "damaged"),
    "slices": ("integers", set_question(by="by"), "damaged"),
    "policy": ("integers", set_question(on_invalid="forget"), "on_invalid"),
    "exact instead": ("approximate", set_question(approximate=False), "damaged"),
    "approximate instead": ("only global", set_question(approximate=True), "weighted"),
    "state size": ("approximate", set_question(state_size="huge"), "state_size"),
    "small state": ("approximate slices", set_question(state_size=-1), "state_size"),
    # rows
    "rows": ("integers", set_header(rows=39), "damaged"),
    "negative rows": ("integers", set_header(rows=-1), "damaged"),
    "rows as text": ("integers", set_header(rows="40"), "damaged"),
    "rows of a float": ("integers", set_header(rows=40.0), "damaged"),
    "more dropped than read": ("integers", set_header(dropped={"zero weight": 41}), "do not fit each other"),
    "more rows than a state counts": ("empty", set_header(rows=1 << 63, filtered=1 << 63), "do not fit each other"),
    "rows without sources": ("integers", set_header(sources=[]), "rows without sources, or sources without rows"),
    "sources without rows": ("empty", set_header(sources=["one"]), "rows without sources, or sources without rows"),
    "negative dropped": ("integers", set_header(dropped={"a": -1, "b": 1}), "damaged"),
    "dropped as text": ("integers", set_header(dropped={"a": "1"}), "damaged"),
    "dropped as a list": ("integers", set_header(dropped=[1]), "damaged"),
    "labels seen": ("integers", set_header(seen=[8]), "damaged"),
    "labels mixed": ("integers", set_header(seen=[5]), "damaged"),
    "labels of more columns": ("integers", set_header(seen=[1, 1]), "damaged"),
    "first row": ("integers", set_header(minus_one_rows=["x"]), "damaged"),
    "first rows": ("integers", set_header(minus_one_rows=[]), "damaged"),
    "types": ("integers", set_header(types=["double"]), "damaged"),
    "no types": ("integers", set_header(types=None), "damaged"),
    "types without rows": ("empty", set_header(types=["double", "int64"]), "damaged"),
    "types of numbers": ("integers", set_header(types=[1, 2]), "damaged"),
    "single scores": ("integers", set_header(types=["float", "int64"]), "damaged"),
    "text keys": ("integers", set_header(types=["double", "string"]), "damaged"),
    "unsigned keys": ("integers", set_header(types=["double", "uint64"]), "damaged"),
    # kept rows
    "no rows": ("integers", lambda parts: parts.sections.pop(ROWS), "not the rows it counts"),
    "rows that no metric needs": ("only additive", set_section(ROWS, lambda _: b""), "no metric needs"),
    "rows of another part": ("integers", set_section("tasks/0/parts/1/rows/0.parquet", lambda _: b""), "no metric"),
    "rows of noise": ("integers", set_section(ROWS, random_bytes), "rows/0.parquet"),
    "rows of nothing": ("integers", set_section(ROWS, lambda _: b""), "rows/0.parquet"),
    "rows cut off": ("integers", set_section(ROWS, lambda own: own[: len(own) // 2]), "rows/0.parquet"),
    "rows twice": ("integers", set_section(ROWS.replace("0.p", "1.p"), lambda _: ROWS_AGAIN), "the rows it counts"),
    "a row less": ("integers", rows(lambda own: {name: values[:-1] for name, values in own.items()}), "rows it counts"),
    "score of NaN": ("integers", set_column("score 0", 0, code_of(np.nan)), "NaN"),
    "score of negative NaN": ("integers", set_column("score 0", 0, code_of(-np.nan)), "NaN"),
    "weight of zero": ("short text", set_column("weight", 0, code_of(0.0)), "weight"),
    "weight of NaN": ("short text", set_column("weight", 0, code_of(np.nan)), "weight"),
    "weight of infinity": ("only global", set_column("weight", 0, code_of(np.inf)), "weight"),
    "slice out of range": ("unsigned", set_column("slice code 0", 0, 3), "a code of a slice has no value"),
    "slice far out of range": ("only global", set_column("slice code 0", 0, 65_535), "a code of a slice has no value"),
    "labels of numbers": ("integers", cast("label 0", lambda own: own.astype(np.int64) + 7), "it has columns"),
    "a label less": ("integers", without("label 0"), "it has columns"),
    "a slice less": ("unsigned", without("slice code 0"), "it has columns"),
    "a column more": ("integers", rows(lambda own: own | {"label 9": own["label 0"]}), "it has columns"),
    "a single column": ("integers", cast("score 0", lambda own: own.astype(np.int32)), "it has columns"),
    "a column of floats": ("integers", cast("score 0", lambda own: own.astype(float)), "it has columns"),
    "a column of lists": ("integers", cast("score 0", lambda own: [[1]] * len(own)), "it has columns"),
    "no keys": ("integers", without("key"), "it has columns"),
    "keys of text": ("integers", cast("key", lambda own: own.cast(pa.string()).cast(pa.binary())), "it has columns"),
    "keys of another sign": ("integers", cast("key", lambda own: own.cast(pa.uint64())), "it has columns"),
    "the first key is missing": ("integers", rows(without_first_key), "a row has no key"),
    "all keys are missing": ("long text", rows(without_keys), "a row has no key"),
    "texts of keys": ("integers", set_header(key_kind="texts"), "texts of keys that no metric reads"),
    "texts of no kind": ("integers", set_header(key_texts=[0, 1]), "its keys have no kind"),
    # sums
    "sums of no statistic": ("only additive", set_in("sums", 0, 0, 99), "damaged"),
    "sums of the last statistic": ("only additive", set_in("sums", 0, 0, -1), "damaged"),
    "no sums": ("integers", set_header(sums=[]), "some are missing"),
    "sums of a statistic less": ("unsigned", lambda parts: parts.header["sums"].pop(), "some are missing"),
    "sums of too few numbers": ("integers", set_in("sums", 0, []), "damaged"),
    "sums of another statistic": ("integers", set_in("sums", 9, 3, 1), "damaged"),
    "the same array twice": ("only additive", set_in("sums", 1, 3, 1), "array 1 is there for two things"),
    "an array that is true": ("integers", set_header(slices=False), "'slices' is not count"),
    "an array of no one": ("integers", lambda parts: parts.arrays.append(np.arange(1)), "arrays that no metric needs"),
    "a first row of no row": ("integers", set_header(minus_one_rows=[40]), "not of one kind"),
    "one type as a text": ("approximate", set_header(types="x"), "not \\[text\\] or null"),
    "a column of an unknown type": ("approximate", set_in("types", 0, "x"), "a column has Arrow type x"),
    "a first -1 that was not seen": ("integers", set_header(minus_one_rows=[3]), "not of one kind"),
    "kinds of labels of no row": ("empty", set_header(seen=[1]), "not of one kind"),
    "a source twice": ("integers", set_header(sources=["one", "one"]), "a source is there twice"),
    "a field of no one": ("integers", set_header(another=1), "fields that no metric needs: another"),
    "a schema that is no integer": ("integers", set_question(schema=1.0), "schema 1.0 is not known"),
    "labels of an unknown type": ("partitions", types_of_labels, "the label has Arrow type integex"),
    "sums of no view": ("only additive", set_in("sums", 0, 1, 1), "damaged"),
    "sums of no slice": ("only additive", set_in("sums", 0, 2, 3), "damaged"),
    "sums of all slices": ("only additive", set_in("sums", 0, 2, None), "damaged"),
    "sums of a slice": ("integers", set_in("sums", 0, 2, 0), "damaged"),
    "sums of another shape": ("only additive", replace_array(first_sums, without_last_column), "damaged"),
    "counts of another shape": ("only additive", replace_array(first_counts, all_but_last), "damaged"),
    "counts of another type": ("only additive", replace_array(first_counts, np.float64), "damaged"),
    "negative counts": ("only additive", replace_array(first_counts, lambda own: own - 1000), "negative"),
    "sums with an array less": ("integers", lambda parts: parts.header["sums"][0].pop(), "not the arrays it should"),
    "sums of nothing": ("only additive", set_header(sums=3), "damaged"),
    # slices
    "no values": ("unsigned", lambda parts: parts.sections.pop(VALUES), "a slice has no values"),
    "values of noise": ("unsigned", set_section(VALUES, random_bytes), "slices/0.arrow"),
    "values beyond their text": ("unsigned", set_section(VALUES, values_beyond), "slices/0.arrow"),
    "values cut off": ("unsigned", set_section(VALUES, lambda own: own[:-40]), "damaged"),
    "values without a column": ("integers", values_of(pa.table({"0": ["a"]})), "no metric needs"),
    "values of two columns": ("unsigned", values_of(pa.table({"0": ["a", "b", "c"], "1": [1, 2, 3]})), "lack values"),
    "values there twice": ("unsigned", values_of(pa.table({"0": ["a", "b", "a"]})), "a value is there twice"),
    "values without a mark": ("unsigned", values_of(pa.table({"0 marked": ["a", "b", "c"]})), "have no type"),
    "values of a column of nothing": ("unsigned", values_of(pa.table({"0 marked": [1, 2, 3]})), "have no type"),
    "values that are lists": ("unsigned", values_of(pa.table({"0": [[1], [2], [3]]})), "damaged"),
    "fewer values": ("unsigned", values_of(pa.table({"0": ["a", "b"]})), "a slice has no values"),
    "no slices": ("unsigned", slices(lambda own: own[:0]), "damaged"),
    "slices of another set": ("unsigned", set_slice(0, 0, 1), "a slice is of no grouping set"),
    "slices of a set below": ("unsigned", set_slice(0, 0, -1), "a slice is of no grouping set"),
    "slices beyond the values": ("unsigned", set_slice(0, 1, 3), "a slice has no values"),
    "slices there twice": ("unsigned", set_slice(2, 1, 0), "a slice is there twice"),
    "slices of two columns": ("unsigned", slices(lambda own: own.repeat(2, 1)), "of other columns"),
    "rows of a slice that is not there": ("only global", slices(lambda own: own[:-1]), "belong to no slice"),
    # counts of slices
    "no counts": ("unsigned", set_header(counts=None), "damaged"),
    "counts of nothing": ("unsigned", set_header(counts=[]), "its counts of slices are missing"),
    "counts without slices": ("integers", set_header(counts=[0, 0, 0]), "counts slices that it does not have"),
    "counts of no slice": ("unsigned", slice_counts(1, lambda own: own + 1), "counts belong to no slice"),
    "counts of a slice twice": ("unsigned", slice_counts(1, lambda own: own * 0), "counts belong to no slice"),
    "counts of more rows": ("unsigned", slice_counts(0, lambda own: own + 1), "not the rows it counts"),
    "counts of fewer rows in slices": ("unsigned", slice_counts(2, lambda own: own // 2), "not the rows it counts"),
    "counts below zero": ("unsigned", slice_counts(2, lambda own: -own), "negative"),
    "more positives than rows": ("unsigned", slice_counts(2, lambda own: own[::-1].copy()), "more positives than rows"),
    "counts of other labels": ("unsigned", slice_counts(2, lambda own: own.repeat(2, 0)), "damaged"),
    # histograms
    "bins out of order": ("approximate", bins(swap_bins), "order"),
    "bins below zero": ("approximate", bins(negative_bin), "negative"),
    "bins of more rows": ("approximate", bins(more_rows), "rows"),
    "no histograms": ("approximate", set_header(histograms=[]), "rows"),
    "histograms of exact states": ("integers", set_header(histograms=[[0, None, 0, 0, 0]]), "damaged"),
    "shift": ("approximate", replace_array(shift_of_bins, lambda own: own * 0 + 65), "order"),
    "negative shift": ("approximate", replace_array(shift_of_bins, lambda own: own * 0 - 1), "order"),
    "shift as text": ("approximate", set_in("histograms", 0, 2, "1"), "not \\[\\[count"),
    "histogram of no view": ("approximate", set_in("histograms", 0, 0, 1), "damaged"),
    "histogram of a slice": ("approximate", set_in("histograms", 0, 1, 0), "damaged"),
    "histogram of another slice": ("approximate slices", set_in("histograms", 1, 1, 0), "are there twice"),
    "a histogram less": ("approximate slices", lambda parts: parts.header["histograms"].pop(), "some are missing"),
    "histograms of texts": ("integers", set_header(histograms=["x"]), "not \\[\\[count"),
    "histogram of all slices": ("approximate slices", set_in("histograms", 0, 1, None), "damaged"),
    "more bins than the state may have": ("approximate many", set_question(state_size=4096), "more bins"),
    "bins of another type": ("approximate", replace_array(first_prefixes, np.int64), "damaged"),
    "counts of three": ("approximate", replace_array(first_bins, repeated), "damaged"),
}  # fmt: skip


@each_case(
    "case", [own for own in NONSENSE.values() if own[2]], ids=[n for n, c in NONSENSE.items() if c[2]]
)
def test_nonsense(case):
    name, change, message = case
    bad = changed(name, change)
    assert bad != make(name).to_bytes()
    refuse(bad, message)


def test_parts_of_other_metrics():
    header = nested(take_apart(GOOD).header)
    header["tasks"][0]["parts"] *= 2
    refuse(seal(sections_of(GOOD) | {HEADER: json.dumps(header).encode()}), "parts are not those of its metrics")


def test_tasks_of_different_rows():
    task = fm.Task(label="label", score="prob")
    state = fm.Accumulator("ne", tasks={"one": task, "two": task})
    state.update(log_of())
    parts = take_apart(state.to_bytes())
    for field in ("rows", "filtered"):
        parts.header["tasks"][1][field] += 1
    refuse(put_together(*parts), "its tasks have different rows")


def test_rows_that_no_state_counts():
    state = fm.Accumulator("bleu", **TEXT_COLUMNS)
    state.update(log_of())
    parts = take_apart(state.to_bytes())
    refuse(put_together(parts.header | {"rows": 7}, parts.arrays, parts.sections), "sums have not the rows it counts")


@each_case("sums", [[], [0.0, 0.0], [-1.0], [math.inf], ["x"], [True], None, 3], ids=str)
def test_sums_of_probabilities_are_numbers(sums):
    state = fm.Accumulator("logloss", label="y", probabilities=["a", "b"])
    state.update({"y": [0, 1], "a": [0.5, 0.25], "b": [0.500001, 0.75]})
    parts = take_apart(state.to_bytes())
    assert 0 < parts.header["sum_distances"][0] < 2e-6
    refuse(put_together(parts.header | {"sum_distances": sums}, parts.arrays, parts.sections))


def test_values_that_are_no_interval():
    state = fm.Accumulator("logloss", label="label", score="prob", by="cut(prob, [0.5])")
    state.update(log_of())
    sections = sections_of(state.to_bytes())
    assert outcome(fm.Accumulator.from_bytes(seal(sections))) == outcome(state)
    bad = sections[VALUES].replace(b"0.5", b"0.4")
    assert bad != sections[VALUES]
    refuse(seal(sections | {VALUES: bad}), "a value is no interval of its column")


@pytest.mark.parametrize("change", [set_header(slices=[]), set_header(sums=[[0, 0]])])
def test_lists_that_are_too_short(change):
    refuse(changed("only additive", change))


@pytest.mark.parametrize("name", FIELDS)
@each_case("value", [None, 0, -1, 1.5, "text", [], {}, [[]], True, 10**30, {"a": 1}], ids=str)
def test_any_other_value_of_a_header_field(name, value):
    """Any other value of a field is refused with ValueError, or harmless: there is no other error."""
    parts = take_apart(GOOD)
    bad = put_together({**parts.header, name: value}, parts.arrays, parts.sections)
    if name == "arrays":
        bad = seal(sections_of(GOOD) | {HEADER: json.dumps(nested(parts.header) | {"arrays": value}).encode()})
    try:
        state = fm.Accumulator.from_bytes(bad)
    except ValueError:
        return
    outcome(state)
    state.merge(with_other_source(state)).to_bytes()


@each_case("missing", FIELDS)
def test_a_missing_header_field(missing):
    header = nested(take_apart(GOOD).header)
    for place in (header, *header["tasks"], *header["tasks"][0]["parts"]):
        place.pop(missing, None)
    refuse(seal(sections_of(GOOD) | {HEADER: json.dumps(header).encode()}))


@given(st.sampled_from([name for name in STATES if name != "empty"]), st.data())
def test_any_number_in_any_array(name, data):
    """A state with other numbers is refused, or gives some report; no kernel reads or writes beyond its arrays."""
    parts = take_apart(make(name).to_bytes())
    columns = {number: own for number, own in enumerate(parts.arrays) if own.size}
    stored = {own: rows_of(parts.sections, own) for own in parts.sections if own.endswith("parquet")}
    for own, of_section in stored.items():
        columns |= {(own, column): of_section[column].copy() for column in of_section if column[:3] != "key"}
    for _ in range(data.draw(st.integers(1, 3))):
        array = columns[data.draw(st.sampled_from(list(columns)))].reshape(-1).view(np.uint8)
        place = array[data.draw(st.integers(0, len(array) - 1)) :][:8]
        place[:] = np.frombuffer(data.draw(st.binary(min_size=8, max_size=8)), np.uint8)[: len(place)]
    for own, of_section in stored.items():
        changed_columns = {column: columns.get((own, column), of_section[column]) for column in of_section}
        put_rows(parts.sections, changed_columns, own)
    try:
        state = fm.Accumulator.from_bytes(put_together(*parts))
    except ValueError:
        return
    assert fm.Accumulator.from_bytes(state.to_bytes()).rows == state.rows
    # Sums that no rows can have may be greater than any float.
    with contextlib.suppress(OverflowError):
        outcome(state.merge(with_other_source(make(name))))


@each_case("differing", [[], [False], [False, True, True], [True, True], [False, 1], [False, None], None, 3], ids=str)
def test_models_are_equal_or_not(differing):
    state = fm.Accumulator("auc", label="y", score=["a", "b"])
    state.update({"y": [0, 1], "a": [0.5, 0.25], "b": [0.5, 0.75]})
    parts = take_apart(state.to_bytes())
    assert parts.header["differing"] == [False, True]
    refuse(put_together(parts.header | {"differing": differing}, parts.arrays, parts.sections))
