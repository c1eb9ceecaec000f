"""States whose checksum is right and whose content is wrong: a checksum detects accidents, not intent.

They are refused with ValueError. No kernel reads or writes beyond its arrays, whatever the numbers are.
"""

import contextlib

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from support.cases import assert_raises, each_case
from support.states.accumulator_states import STATES, make, outcome
from support.states.accumulators import with_other_source
from support.states.state_bytes_parts import body_of, encoded, nested, put_together, seal, shapes_of, take_apart

GOOD = make("long text").to_bytes()
FIELDS = list(take_apart(GOOD)[0])

def refuse(data, what="damaged"):
    assert_raises(ValueError, what, fm.Accumulator.from_bytes, data)


def changed(name, change):
    header, arrays = take_apart(make(name).to_bytes())
    change(header, arrays)
    return put_together(header, arrays)


@pytest.mark.parametrize("name", STATES)
def test_taking_apart_and_together_is_exact(name):
    assert changed(name, lambda header, arrays: None) == make(name).to_bytes()


def column(header, name, block=0):
    """The number of a block's array."""
    return header["blocks"][block][0][name]


def set_question(**values):
    def change(header, arrays):  # None leaves an option out
        question = header["evaluation"] | values
        header["evaluation"] = {name: own for name, own in question.items() if own is not None}

    return change


def set_header(**values):
    return lambda header, arrays: header.update(values)


def set_in(name, *path):
    """Replace the value at a path in the header: the last argument is the new value."""

    def change(header, arrays):
        place = header[name]
        for step in path[:-2]:
            place = place[step]
        place[path[-2]] = path[-1]

    return change


def set_column(name, index, value):
    def change(header, arrays):
        arrays[column(header, name)][index] = value

    return change


def replace_array(find, new):
    """Replace the array whose number `find` returns."""

    def change(header, arrays):
        number = find(header)
        arrays[number] = new(arrays[number])

    return change


def first_offsets(header):
    return header["blocks"][0][1]


def first_scores(header):
    return column(header, "score 0")


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


def values_array(header):
    """The values of the first column of slices."""
    return header["slice_values"][0]


def as_integers(array):
    return array.view(np.int64)


def as_table(array):
    return array.reshape(1, -1)


def repeated(array):
    return array.repeat(2, 1)


def all_but_last(array):
    return array[:-1]


def without_last_column(array):
    return array[:, :-1]


def long_row(header, arrays):
    """A row of the first block whose key is long."""
    return int(np.flatnonzero((arrays[column(header, "head")] & np.uint64(0xFFFFFFFF)) > 12)[0])


def move_text(place):
    def change(header, arrays):
        arrays[column(header, "tail")][long_row(header, arrays)] = place

    return change


def lengthen_text(length):
    def change(header, arrays):
        arrays[column(header, "head")][long_row(header, arrays)] = length

    return change


def without_text(header, arrays):
    arrays[header["blocks"][0][2]] = np.empty(0, np.uint8)


def short_becomes_long(header, arrays):
    arrays[column(header, "head")][0] = 40
    arrays[column(header, "tail")][0] = 1


def next_partition(header, arrays):
    offsets = arrays[header["blocks"][0][1]]
    offsets[int(np.flatnonzero(offsets)[0])] -= 1


def other_hash(header, arrays):
    arrays[column(header, "hash")][0] ^= np.uint64(1 << 63)


def drop_column(name):
    return lambda header, arrays: header["blocks"][0][0].pop(name) and None


def add_column(header, arrays):
    header["blocks"][0][0]["label 9"] = column(header, "label 0")


def offsets(change):
    def apply(header, arrays):
        change(arrays[header["blocks"][0][1]])

    return apply


def set_last(values):
    values[-1] += 1


def set_first(values):
    values[0] = 1


def set_negative(values):
    values[1] = -1


def set_all_zero(values):
    values[:] = 0


def values_of(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return replace_array(values_array, lambda _: np.frombuffer(sink.getvalue(), np.uint8))


def random_values(header, arrays):
    arrays[values_array(header)] = np.random.default_rng(0).integers(0, 256, 500).astype(np.uint8)


def values_beyond(header, arrays):
    """The last of three texts ends far beyond Arrow's buffer."""
    words = arrays[values_array(header)].view(np.int32)
    ends = [
        place
        for place in range(3, len(words))
        if words[place - 3] == 0 < words[place - 2] < words[place - 1] < words[place] == len("kölnulmrom".encode())
    ]
    words[ends] = 1 << 20


def slices(change):
    """Replace the sets and codes of slices."""
    return replace_array(lambda header: header["slices"], change)


def set_slice(row, place, value):
    def change(array):
        array[row, place] = value
        return array

    return slices(change)


def bins(change):
    def apply(header, arrays):
        prefixes, counts = header["histograms"][0][3:]
        change(arrays[prefixes], arrays[counts])

    return apply


def slice_counts(place, change):
    """Replace the counts of all rows (0), the numbers of slices (1), or their counts (2)."""
    return replace_array(lambda header: header["counts"][place], change)


def swap_bins(prefixes, counts):
    prefixes[:2] = prefixes[1::-1]


def negative_bin(prefixes, counts):
    counts[0, 0] -= 1000
    counts[1, 0] += 1000


def more_rows(prefixes, counts):
    counts[0, 0] += 1


NONSENSE = {
    # fields of the header
    "metric": ("integers", set_question(metrics=["aucc"]), "unknown metric"),
    "no metric": ("integers", set_question(metrics=[]), "metrics is empty"),
    "metrics that are numbers": ("integers", set_question(metrics=[1]), "not a metric string"),
    "metrics that are nothing": ("integers", set_question(metrics=None), "metrics is empty"),
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
    "more dropped than read": ("integers", set_header(dropped={"zero weight": 41}), "damaged"),
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
    # the exchange
    "no exchange": ("integers", set_header(exchange=None), "damaged"),
    "an exchange": ("only global", set_header(exchange=[False, "<i8", 9]), "damaged"),
    "an exchange of text": ("integers", set_header(exchange=[True, "|O", 9]), "damaged"),
    "an exchange of 2**60": ("integers", set_header(exchange=[False, "<i8", 60]), "damaged"),
    "an exchange of one": ("integers", set_header(exchange=[False, "<i8", 0]), "damaged"),
    # blocks
    "blocks of another kind": ("integers", set_header(blocks=[1]), "damaged"),
    "no blocks": ("integers", set_header(blocks=[]), "damaged"),
    "blocks that no metric needs": ("only additive", set_header(blocks=[[{}, 0, 0]]), "damaged"),
    "label of 7": ("integers", set_column("label 0", 3, 7), "label"),
    "label of 255": ("only global", set_column("label 0", 0, 255), "label"),
    "score of NaN": ("integers", set_column("score 0", 0, np.nan), "NaN"),
    "weight of zero": ("short text", set_column("weight", 0, 0.0), "weight"),
    "weight of NaN": ("short text", set_column("weight", 0, np.nan), "weight"),
    "weight of infinity": ("only global", set_column("weight", 0, np.inf), "weight"),
    "slice out of range": ("unsigned", set_column("slice code 0", 0, 3), "a code of a slice has no value"),
    "slice far out of range": ("only global", set_column("slice code 0", 0, 65_535), "a code of a slice has no value"),
    "offsets beyond": ("integers", offsets(set_last), "damaged"),
    "offsets not from 0": ("integers", offsets(set_first), "damaged"),
    "offsets negative": ("integers", offsets(set_negative), "damaged"),
    "offsets of nothing": ("integers", offsets(set_all_zero), "damaged"),
    "offsets of another partition": ("integers", next_partition, "partition"),
    "hash of another partition": ("integers", other_hash, "partition"),
    "fewer offsets": ("integers", replace_array(first_offsets, all_but_last), "damaged"),
    "wide offsets": ("integers", replace_array(first_offsets, np.int64), "damaged"),
    "a column less": ("integers", drop_column("hash"), "damaged"),
    "a label less": ("integers", drop_column("label 0"), "damaged"),
    "a slice less": ("unsigned", drop_column("slice code 0"), "damaged"),
    "a column more": ("integers", add_column, "damaged"),
    "a short column": ("integers", replace_array(first_scores, all_but_last), "damaged"),
    "a single column": ("integers", replace_array(first_scores, np.float32), "damaged"),
    "a column of integers": ("integers", replace_array(first_scores, as_integers), "damaged"),
    "a column of two": ("integers", replace_array(first_scores, as_table), "damaged"),
    "an array that is not there": ("integers", set_in("blocks", 0, 1, 99), "damaged"),
    "an array before the first": ("integers", set_in("blocks", 0, 1, -1), "damaged"),
    "an array of no number": ("integers", set_in("blocks", 0, 2, "2"), "damaged"),
    # text
    "text beyond": ("long text", move_text(10_000), "text"),
    "text at its end": ("long text", move_text(1 << 40), "text"),
    "text before": ("long text", move_text(2**64 - 5), "text"),
    "text too long": ("long text", lengthen_text(0xFFFFFFFF), "text"),
    "text a little too long": ("long text", lengthen_text(20_000), "text"),
    "text without text": ("long text", without_text, "text"),
    "short text that is long": ("short text", short_becomes_long, "text"),
    # sums
    "sums of no statistic": ("only additive", set_in("sums", 0, 0, 99), "damaged"),
    "sums of the last statistic": ("only additive", set_in("sums", 0, 0, -1), "damaged"),
    "sums of no view": ("only additive", set_in("sums", 0, 1, 1), "damaged"),
    "sums of no slice": ("only additive", set_in("sums", 0, 2, 3), "damaged"),
    "sums of all slices": ("only additive", set_in("sums", 0, 2, None), "damaged"),
    "sums of a slice": ("integers", set_in("sums", 0, 2, 0), "damaged"),
    "sums of another shape": ("only additive", replace_array(first_sums, without_last_column), "damaged"),
    "counts of another shape": ("only additive", replace_array(first_counts, all_but_last), "damaged"),
    "counts of another type": ("only additive", replace_array(first_counts, np.float64), "damaged"),
    "negative counts": ("only additive", replace_array(first_counts, lambda own: own - 1000), "negative"),
    "sums of nothing": ("only additive", set_header(sums=3), "damaged"),
    # slices
    "no values": ("unsigned", replace_array(values_array, lambda _: np.empty(0, np.uint8)), "a slice has no values"),
    "values of noise": ("unsigned", random_values, "slices cannot be read"),
    "values beyond their text": ("unsigned", values_beyond, "slices cannot be read"),
    "values cut off": ("unsigned", replace_array(values_array, lambda own: own[:-40]), "damaged"),
    "values without a column": ("integers", set_header(slice_values=[0]), "damaged"),
    "values of two columns": ("unsigned", values_of(pa.table({"0": ["a", "b", "c"], "1": [1, 2, 3]})), "lack values"),
    "values there twice": ("unsigned", values_of(pa.table({"0": ["a", "b", "a"]})), "a value is there twice"),
    "values that are lists": ("unsigned", values_of(pa.table({"0": [[1], [2], [3]]})), "damaged"),
    "fewer values": ("unsigned", values_of(pa.table({"0": ["a", "b"]})), "a slice has no values"),
    "no slices": ("unsigned", slices(lambda own: own[:0]), "damaged"),
    "slices of another set": ("unsigned", set_slice(0, 0, 1), "a slice is of no grouping set"),
    "slices of a set below": ("unsigned", set_slice(0, 0, -1), "a slice is of no grouping set"),
    "slices beyond the values": ("unsigned", set_slice(0, 1, 3), "a slice has no values"),
    "slices there twice": ("unsigned", set_slice(2, 1, 0), "a slice is there twice"),
    "slices of two columns": ("unsigned", slices(lambda own: own.repeat(2, 1)), "another type or shape"),
    "rows of a slice that is not there": ("only global", slices(lambda own: own[:-1]), "slices that it does not count"),
    # counts of slices
    "no counts": ("unsigned", set_header(counts=None), "damaged"),
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
    "shift as text": ("approximate", set_in("histograms", 0, 2, "1"), "array is missing"),
    "histogram of no view": ("approximate", set_in("histograms", 0, 0, 1), "damaged"),
    "histogram of a slice": ("approximate", set_in("histograms", 0, 1, 0), "damaged"),
    "histogram of another slice": ("approximate slices", set_in("histograms", 1, 1, 0), "rows"),
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


@pytest.mark.parametrize("change", [set_header(slices=[]), set_header(sums=[[0, 0]])])
def test_lists_that_are_too_short(change):
    refuse(changed("only additive", change), "damaged|unpack")


@pytest.mark.parametrize("name", FIELDS)
@each_case("value", [None, 0, -1, 1.5, "text", [], {}, [[]], True, 10**30, {"a": 1}], ids=str)
def test_any_other_value_of_a_header_field(name, value):
    """Any other value of a field is refused with ValueError, or harmless: there is no other error."""
    header, arrays = take_apart(GOOD)
    if name == "arrays":
        bad = seal(encoded(nested(header) | {"arrays": value}), body_of(arrays))
    else:
        bad = put_together({**header, name: value}, arrays)
    try:
        state = fm.Accumulator.from_bytes(bad)
    except ValueError:
        return
    outcome(state)
    state.merge(with_other_source(state)).to_bytes()


@each_case("missing", FIELDS)
def test_a_missing_header_field(missing):
    header, arrays = take_apart(GOOD)
    if missing == "arrays":
        refuse(seal(encoded(nested(header)), b""))
        return
    del header[missing]
    refuse(put_together(header, arrays))


@each_case(
    "text",
    [b"", b"null", b"3", b"[]", b"{}", b'"text"', b'{"library": ', b"\xff\xfe", b"[" * 100_000, b'{"library": null}'],
    ids=lambda text: repr(text[:20]),
)
def test_text_that_is_not_a_header(text):
    refuse(seal(text + b" " * (-len(text) % 8), b""), "damaged|written by fastmetrics None")


@each_case(
    ("kind", "shape"),
    [
        ("|O", [1]), ("<U4", [1]), ("|V8", [1]), ("<i8,<i8", [1]), ("(2,)<i8", [1]), ("no type", [1]), (None, [1]),
        (3, [1]), ([], [1]), ("<i8", [-1]), ("<i8", [1.0]), ("<i8", ["1"]), ("<i8", None), ("<i8", [10**20]),
        ("<i8", [2**62, 4]), ("<i8", [0, 2**70]), ("<i8", [2**32, 2**32]), ("<i8", [1] * 100), ("<c16", [1]),
        ("<M8[s]", [1]), ("|b1", [8]),
    ],
    ids=str,
)  # fmt: skip
def test_impossible_arrays(kind, shape):
    header, arrays = take_apart(GOOD)
    shapes = shapes_of(arrays)
    shapes[header["blocks"][0][1]] = [kind, shape]
    refuse(seal(encoded(nested(header) | {"arrays": shapes}), body_of(arrays)))


def test_arrays_that_do_not_begin_at_eight_bytes():
    header, arrays = take_apart(GOOD)
    text = encoded(nested(header) | {"arrays": shapes_of(arrays)})
    refuse(seal(text + b"   ", body_of(arrays)), "begin")
    refuse(seal(text, body_of(arrays) + bytes(8)), "shorter than its bytes")
    refuse(seal(text, body_of(arrays)[:-8]), "longer than its bytes")


@given(st.sampled_from([name for name in STATES if name != "empty"]), st.data())
def test_any_number_in_any_array(name, data):
    """A state with other numbers is refused, or gives some report; no kernel reads or writes beyond its arrays."""
    header, arrays = take_apart(make(name).to_bytes())
    arrays = [own.copy() for own in arrays]
    filled = [number for number, own in enumerate(arrays) if own.size]
    for _ in range(data.draw(st.integers(1, 3))):
        array = arrays[data.draw(st.sampled_from(filled))].reshape(-1).view(np.uint8)
        place = array[data.draw(st.integers(0, len(array) - 1)) :][:8]
        place[:] = np.frombuffer(data.draw(st.binary(min_size=8, max_size=8)), np.uint8)[: len(place)]
    try:
        state = fm.Accumulator.from_bytes(put_together(header, arrays))
    except ValueError:
        return
    assert fm.Accumulator.from_bytes(state.to_bytes()).rows == state.rows
    # Sums that no rows can have may be greater than any float.
    with contextlib.suppress(OverflowError):
        outcome(state.merge(with_other_source(make(name))))
