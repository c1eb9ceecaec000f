"""The bytes of an accumulator: exact there and back, and nothing but ValueError for whatever else they may be.

A checksum tells accidents; it does not tell who wrote the bytes. So there are two halves: bytes that were damaged on
the way, and bytes whose checksum is right and whose content is nonsense.
"""

import hashlib
import json
import pickle
import struct
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from test_common import STRINGS

import fastmetrics as fm
import strategies
from fastmetrics import _version

COLUMNS = {"label": "label", "score": "prob", "group": "group"}
PREFIX = struct.Struct("<8sIIQ16s")
DAMAGED = r"no state of an Accumulator|damaged|has format"
RANKS = ["auc", "gauc"]
APPROXIMATE = ["auc", "ks", "logloss", "ece"]


def log_of(rows=40, keys="int64", seed=3):
    log = strategies.click_log(rows, seed=seed)
    generator = np.random.default_rng(seed)
    texts = {
        "int64": log["group"],
        "uint64": log["group"].astype(np.uint64) + np.uint64(2**63),
        "short": np.char.add("é", log["group"].astype(str)),
        "long": np.char.add("a user's name of some length: ", log["group"].astype(str)),
    }
    log["group"] = texts[keys]
    return {**log, "w": generator.choice([1.0, 0.5, 4.0], rows), "by": generator.choice(["köln", "ulm", "rom"], rows)}


STATES = {
    "empty": (0, "int64", {}),
    "one row": (1, "int64", {}),
    "integers": (40, "int64", {}),
    "unsigned": (40, "uint64", {"by": "by"}),
    "short text": (40, "short", {"weight": "w"}),
    "long text": (40, "long", {"weight": "w", "by": "by"}),
    "only global": (40, "int64", {"metrics": ["auc"], "weight": "w", "by": ["by", "label"]}),
    "only additive": (40, "int64", {"metrics": ["logloss", "ece"], "by": "by"}),
    "several columns": (40, "long", {"score": ["prob", "score"], "label": ["label", "other"], "metrics": RANKS}),
    "approximate": (40, "int64", {"metrics": APPROXIMATE, "approximate": True}),
    "approximate slices": (400, "int64", {"metrics": APPROXIMATE, "approximate": True, "by": "by", "state_size": 4096}),
    "approximate many": (400, "int64", {"metrics": ["auc"], "score": "score", "approximate": True}),
    "single scores": (40, "int64", {"dtype": "float32", "on_invalid": "drop"}),
}  # fmt: skip


def make(name):
    rows, keys, options = STATES[name]
    options = {"metrics": STRINGS, **COLUMNS, **options}
    dtype = options.pop("dtype", "float64")
    state = fm.Accumulator(options.pop("metrics"), n_threads=1, **options)
    if rows:
        log = log_of(rows, keys)
        log["prob"] = log["prob"].astype(dtype)
        log["other"] = log["label"]
        for start in range(0, rows, 17):
            state.update({column: values[start : start + 17] for column, values in log.items()})
            state.flush()
    return state


@pytest.fixture(scope="module")
def data():
    return {name: make(name).to_bytes() for name in STATES}


def outcome(state):
    try:
        return state.result().to_json()
    except ValueError as error:
        return str(error)


# ------------------------------------------------------------------------------------------------- there and back


@pytest.mark.parametrize("name", STATES)
class TestEveryState:
    def test_the_round_trip_is_exact(self, name, data):
        again = fm.Accumulator.from_bytes(data[name])
        assert again.to_bytes() == data[name]
        assert outcome(again) == outcome(make(name))
        assert again.to_bytes() == data[name]
        assert make(name).to_bytes() == data[name]
        assert make(name).copy().to_bytes() == data[name]
        assert pickle.loads(pickle.dumps(again)).to_bytes() == data[name]

    def test_any_buffer(self, name, data):
        expected = outcome(make(name))
        odd = bytearray(b"x" + data[name] + b"y")
        for buffer in (
            bytearray(data[name]),
            memoryview(data[name]),
            memoryview(odd)[1:-1],
            memoryview(bytes(odd))[1:-1],
            memoryview(np.frombuffer(data[name], np.uint8)),
        ):
            assert outcome(fm.Accumulator.from_bytes(buffer)) == expected

    def test_the_buffer_may_be_used_again(self, name, data):
        buffer = bytearray(data[name])
        state = fm.Accumulator.from_bytes(buffer)
        buffer[:] = bytes(len(buffer))
        assert state.to_bytes() == data[name]

    def test_what_was_read_can_go_on(self, name, data):
        state, again = make(name), fm.Accumulator.from_bytes(data[name])
        rows, keys, options = STATES[name]
        log = log_of(30, keys, seed=9)
        log["prob"] = log["prob"].astype(options.get("dtype", "float64"))
        log["other"] = log["label"]
        for own in (state, again):
            own.update(log)
            own.merge(own)
        assert again.rows == 2 * (rows + 30)
        assert outcome(again) == outcome(state)

    def test_a_flipped_byte(self, name, data):
        """Every byte of what is before the arrays, and many of those."""
        good = data[name]
        header = PREFIX.size + PREFIX.unpack_from(good)[2]
        places = {*range(PREFIX.size), *range(PREFIX.size, header, 7), *range(header, len(good), 211), len(good) - 1}
        for place in sorted(places):
            for bits in (0x01, 0x80):
                bad = bytearray(good)
                bad[place] ^= bits
                with pytest.raises(ValueError, match=DAMAGED):
                    fm.Accumulator.from_bytes(bad)

    def test_bytes_that_are_missing_or_too_many(self, name, data):
        good = data[name]
        for length in {*range(PREFIX.size + 9), len(good) // 2, len(good) - 8, len(good) - 1}:
            with pytest.raises(ValueError, match=DAMAGED):
                fm.Accumulator.from_bytes(good[:length])
        for more in (b"\0", b"        ", good):
            with pytest.raises(ValueError, match="damaged: it has"):
                fm.Accumulator.from_bytes(good + more)
        with pytest.raises(ValueError, match="no state of an Accumulator"):
            fm.Accumulator.from_bytes(good[1:])


@given(st.data())
def test_any_damage(data):
    good = GOOD
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(bad)))
        stop = min(len(bad), start + data.draw(st.integers(0, 20)))
        bad[start:stop] = data.draw(st.binary(max_size=20))
    if bytes(bad) == good:
        return
    with pytest.raises(ValueError, match=DAMAGED):
        fm.Accumulator.from_bytes(bytes(bad))


GOOD = make("long text").to_bytes()


def test_what_is_no_bytes():
    for data in (None, "text", 3, [1, 2], np.zeros(3), make("empty")):
        with pytest.raises(TypeError, match="a state is bytes"):
            fm.Accumulator.from_bytes(data)
    for data in (b"", b"PAR1", b"\x80\x04", b"FMSTATE\n", bytes(1000)):
        with pytest.raises(ValueError, match="no state of an Accumulator"):
            fm.Accumulator.from_bytes(data)


def test_threads_are_said_by_the_reader():
    assert fm.Accumulator.from_bytes(GOOD).n_threads is None
    assert fm.Accumulator.from_bytes(GOOD, n_threads=3).n_threads == 3
    assert pickle.loads(pickle.dumps(fm.Accumulator.from_bytes(GOOD, n_threads=3))).n_threads == 3
    with pytest.raises(ValueError, match="n_threads must be"):
        fm.Accumulator.from_bytes(GOOD, n_threads=0)


def test_another_format_is_named():
    magic, version, *rest = PREFIX.unpack_from(GOOD)
    newer = PREFIX.pack(magic, version + 1, *rest) + GOOD[PREFIX.size :]
    with pytest.raises(ValueError, match=rf"format {version + 1}; this version of fastmetrics reads format {version}"):
        fm.Accumulator.from_bytes(newer)


def test_another_version_is_named(monkeypatch):
    monkeypatch.setattr(_version, "__version__", "9.9.9")
    with pytest.raises(ValueError, match=rf"written by fastmetrics {fm.__version__}; this is 9\.9\.9"):
        fm.Accumulator.from_bytes(GOOD)
    newer = make("integers").to_bytes()
    assert fm.Accumulator.from_bytes(newer).to_bytes() == newer
    monkeypatch.undo()
    with pytest.raises(ValueError, match=r"written by fastmetrics 9\.9\.9"):
        fm.Accumulator.from_bytes(newer)


READER = """
import sys, pathlib
import fastmetrics as fm
folder = pathlib.Path(sys.argv[1])
whole = None
for path in sorted(folder.glob("*.state")):
    state = fm.Accumulator.from_bytes(path.read_bytes())
    assert state.to_bytes() == path.read_bytes()
    whole = state if whole is None else whole.merge(state)
(folder / "report.json").write_text(whole.result().to_json(), encoding="utf-8")
(folder / "whole.state").write_bytes(whole.to_bytes())
"""


def test_another_process_reads_them(tmp_path):
    for number in range(3):
        (tmp_path / f"{number}.state").write_bytes(GOOD)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", READER, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    here = make("long text")
    here.merge(make("long text")).merge(make("long text"))
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == here.result().to_json()
    again = fm.Accumulator.from_bytes((tmp_path / "whole.state").read_bytes())
    assert again.result() == here.result()


# ------------------------------------------------------------------------------ a right checksum, and nonsense inside


def take_apart(data):
    """Header and arrays, read as the layout is described."""
    _, _, header_length, _, _ = PREFIX.unpack_from(data)
    header = json.loads(data[PREFIX.size : PREFIX.size + header_length])
    place = PREFIX.size + header_length
    arrays = []
    for kind, shape in header["arrays"]:
        count = int(np.prod(shape))
        arrays.append(np.frombuffer(data, kind, count, place).reshape(shape).copy())
        place += -(-arrays[-1].nbytes // 8) * 8
    assert place == len(data)
    return header, arrays


def seal(text, body):
    digest = hashlib.blake2b(text + body, digest_size=16).digest()
    return PREFIX.pack(b"FMSTATE\n", 1, len(text), len(body), digest) + text + body


def put_together(header, arrays):
    header["arrays"] = [[array.dtype.str, list(array.shape)] for array in arrays]
    text = json.dumps(header).encode()
    body = b"".join(array.tobytes() + bytes(-array.nbytes % 8) for array in arrays)
    return seal(text + b" " * (-len(text) % 8), body)


def refuse(data, message="damaged"):
    with pytest.raises(ValueError, match=message):
        fm.Accumulator.from_bytes(data)


def changed(name, change):
    header, arrays = take_apart(make(name).to_bytes())
    again = change(header, arrays)
    header, arrays = again if isinstance(again, tuple) else (header, arrays)
    return put_together(header, arrays)


def test_taking_apart_and_together_is_exact(data):
    for name in STATES:
        assert changed(name, lambda header, arrays: None) == data[name]


def column(header, name, block=0):
    """The number of a block's array."""
    return header["blocks"][block][0][name]


def set_header(**values):
    return lambda header, arrays: header.update(values)


def set_in(name, *path):
    """Put the last of `path` where the others lead to."""

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
    """Another array in the place of the one that `find` names."""

    def change(header, arrays):
        number = find(header)
        arrays[number] = new(arrays[number])

    return change


def own_offsets(header):
    return header["blocks"][0][1]


def own_scores(header):
    return column(header, "score 0")


def own_counts(header):
    return header["sums"][0][3]


def own_sums(header):
    return header["sums"][0][4]


def own_prefixes(header):
    return header["histograms"][0][3]


def own_bins(header):
    return header["histograms"][0][4]


def own_slices(header):
    return header["slices"]


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
    first = int(np.flatnonzero(offsets)[0])
    offsets[first] -= 1


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


def slices_of(table):
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return replace_array(own_slices, lambda _: np.frombuffer(sink.getvalue(), np.uint8))


def random_slices(header, arrays):
    arrays[header["slices"]] = np.random.default_rng(0).integers(0, 256, 500).astype(np.uint8)


def cut_slices(header, arrays):
    arrays[header["slices"]] = arrays[header["slices"]][:-40]


def bins(change):
    def apply(header, arrays):
        prefixes, counts = header["histograms"][0][3:]
        change(arrays[prefixes], arrays[counts])

    return apply


def swap_bins(prefixes, counts):
    prefixes[:2] = prefixes[1::-1]


def negative_bin(prefixes, counts):
    counts[0, 0] -= 1000
    counts[1, 0] += 1000


def more_rows(prefixes, counts):
    counts[0, 0] += 1


NONSENSE = {
    # what a header says of itself
    "metric": ("integers", set_header(metrics=["aucc"]), "unknown metric"),
    "no metric": ("integers", set_header(metrics=[]), "metrics is empty"),
    "metrics that are numbers": ("integers", set_header(metrics=[1]), "is no metric"),
    "metrics that are nothing": ("integers", set_header(metrics=None), "damaged"),
    "names that are numbers": ("integers", set_header(names=[[1], ["prob"], "group", None, []]), "damaged"),
    "no group": ("integers", set_header(names=[["label"], ["prob"], None, None, []]), "computed inside groups"),
    "another label": ("integers", set_header(names=[["a", "b"], ["prob"], "group", None, []]), "damaged"),
    "another score": ("integers", set_header(names=[["label"], ["a", "b"], "group", None, []]), "damaged"),
    "weights": ("integers", set_header(names=[["label"], ["prob"], "group", "w", []]), "damaged"),
    "slices": ("integers", set_header(names=[["label"], ["prob"], "group", None, ["by"]]), "damaged"),
    "policy": ("integers", set_header(on_invalid="forget"), "on_invalid"),
    "exact instead": ("approximate", set_header(approximate=False), "damaged"),
    "approximate instead": ("only global", set_header(approximate=True), "weighted"),
    "state size": ("approximate", set_header(state_size="huge"), "state_size"),
    "small state": ("approximate slices", set_header(state_size=-1), "state_size"),
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
    "blocks that nobody needs": ("only additive", set_header(blocks=[[{}, 0, 0]]), "damaged"),
    "label of 7": ("integers", set_column("label 0", 3, 7), "label"),
    "label of 255": ("only global", set_column("label 0", 0, 255), "label"),
    "score of NaN": ("integers", set_column("score 0", 0, np.nan), "NaN"),
    "weight of zero": ("short text", set_column("weight", 0, 0.0), "weight"),
    "weight of NaN": ("short text", set_column("weight", 0, np.nan), "weight"),
    "weight of infinity": ("only global", set_column("weight", 0, np.inf), "weight"),
    "slice out of range": ("unsigned", set_column("slice", 0, 3), "slice"),
    "slice far out of range": ("only global", set_column("slice", 0, 65_535), "slice"),
    "offsets beyond": ("integers", offsets(set_last), "damaged"),
    "offsets not from 0": ("integers", offsets(set_first), "damaged"),
    "offsets negative": ("integers", offsets(set_negative), "damaged"),
    "offsets of nothing": ("integers", offsets(set_all_zero), "damaged"),
    "offsets of another partition": ("integers", next_partition, "partition"),
    "hash of another partition": ("integers", other_hash, "partition"),
    "fewer offsets": ("integers", replace_array(own_offsets, all_but_last), "damaged"),
    "wide offsets": ("integers", replace_array(own_offsets, np.int64), "damaged"),
    "a column less": ("integers", drop_column("hash"), "damaged"),
    "a label less": ("integers", drop_column("label 0"), "damaged"),
    "a slice less": ("unsigned", drop_column("slice"), "damaged"),
    "a column more": ("integers", add_column, "damaged"),
    "a short column": ("integers", replace_array(own_scores, all_but_last), "damaged"),
    "a single column": ("integers", replace_array(own_scores, np.float32), "damaged"),
    "a column of integers": ("integers", replace_array(own_scores, as_integers), "damaged"),
    "a column of two": ("integers", replace_array(own_scores, as_table), "damaged"),
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
    "sums of another shape": ("only additive", replace_array(own_sums, without_last_column), "damaged"),
    "counts of another shape": ("only additive", replace_array(own_counts, all_but_last), "damaged"),
    "counts of another type": ("only additive", replace_array(own_counts, np.float64), "damaged"),
    "negative counts": ("only additive", replace_array(own_counts, lambda own: own - 1000), "negative"),
    "sums of nothing": ("only additive", set_header(sums=3), "damaged"),
    # slices
    "no slices": ("unsigned", replace_array(own_slices, lambda _: np.empty(0, np.uint8)), "damaged"),
    "slices of noise": ("unsigned", random_slices, "damaged"),
    "slices cut off": ("unsigned", cut_slices, "damaged"),
    "slices without names": ("integers", slices_of(pa.table({"0": ["a"]})), "damaged"),
    "slices of two columns": ("unsigned", slices_of(pa.table({"0": ["a", "b", "c"], "1": [1, 2, 3]})), "damaged"),
    "slices that are null": ("unsigned", slices_of(pa.table({"0": ["a", None, "c"]})), "damaged"),
    "slices there twice": ("unsigned", slices_of(pa.table({"0": ["a", "b", "a"]})), "damaged"),
    "slices that are lists": ("unsigned", slices_of(pa.table({"0": [[1], [2], [3]]})), "damaged"),
    "fewer slices": ("unsigned", slices_of(pa.table({"0": ["a", "b"]})), "damaged"),
    # histograms
    "bins out of order": ("approximate", bins(swap_bins), "order"),
    "bins below zero": ("approximate", bins(negative_bin), "negative"),
    "bins of more rows": ("approximate", bins(more_rows), "rows"),
    "no histograms": ("approximate", set_header(histograms=[]), "rows"),
    "histograms of exact states": ("integers", set_header(histograms=[[0, None, 0, 0, 0]]), "damaged"),
    "shift": ("approximate", set_in("histograms", 0, 2, 65), "order"),
    "negative shift": ("approximate", set_in("histograms", 0, 2, -1), "order"),
    "shift as text": ("approximate", set_in("histograms", 0, 2, "1"), "order"),
    "histogram of no view": ("approximate", set_in("histograms", 0, 0, 1), "damaged"),
    "histogram of a slice": ("approximate", set_in("histograms", 0, 1, 0), "damaged"),
    "histogram of all slices": ("approximate slices", set_in("histograms", 0, 1, None), "damaged"),
    "more bins than room": ("approximate many", set_header(state_size=4096), "more bins"),
    "bins of another type": ("approximate", replace_array(own_prefixes, np.int64), "damaged"),
    "counts of three": ("approximate", replace_array(own_bins, repeated), "damaged"),
}  # fmt: skip


@pytest.mark.parametrize(
    "case", [own for own in NONSENSE.values() if own[2]], ids=[n for n, c in NONSENSE.items() if c[2]]
)
def test_nonsense(case):
    name, change, message = case
    bad = changed(name, change)
    assert bad != make(name).to_bytes()
    refuse(bad, message)


@pytest.mark.parametrize("change", [set_header(names=["label", "prob"]), set_header(sums=[[0, 0]])])
def test_lists_that_are_too_short(change):
    refuse(changed("only additive", change), "damaged|unpack")


@pytest.mark.parametrize("name", list(json.loads(GOOD[PREFIX.size : PREFIX.size + PREFIX.unpack_from(GOOD)[2]])))
@pytest.mark.parametrize("value", [None, 0, -1, 1.5, "text", [], {}, [[]], True, 10**30, {"a": 1}], ids=str)
def test_any_part_of_the_header_is_something_else(name, value):
    """Refused with ValueError, or what it was before, or harmless: never another error, in reading or in use."""
    header, arrays = take_apart(GOOD)
    if name == "arrays":
        text = json.dumps({**header, "arrays": value}).encode()
        bad = seal(text + b" " * (-len(text) % 8), b"".join(own.tobytes() + bytes(-own.nbytes % 8) for own in arrays))
    else:
        bad = put_together({**header, name: value}, arrays)
    try:
        state = fm.Accumulator.from_bytes(bad)
    except ValueError:
        return
    outcome(state)
    state.merge(state).to_bytes()


@pytest.mark.parametrize("missing", list(json.loads(GOOD[PREFIX.size : PREFIX.size + PREFIX.unpack_from(GOOD)[2]])))
def test_a_part_of_the_header_is_missing(missing):
    header, arrays = take_apart(GOOD)
    if missing == "arrays":
        text = json.dumps({name: own for name, own in header.items() if name != missing}).encode()
        refuse(seal(text + b" " * (-len(text) % 8), b""))
        return
    del header[missing]
    refuse(put_together(header, arrays))


@pytest.mark.parametrize(
    "text",
    [b"", b"null", b"3", b"[]", b"{}", b'"text"', b'{"library": ', b"\xff\xfe", b"[" * 100_000, b'{"library": null}'],
    ids=lambda text: repr(text[:20]),
)
def test_a_header_that_is_none(text):
    refuse(seal(text + b" " * (-len(text) % 8), b""), "damaged|written by fastmetrics None")


@pytest.mark.parametrize(
    ("kind", "shape"),
    [
        ("|O", [1]), ("<U4", [1]), ("|V8", [1]), ("<i8,<i8", [1]), ("(2,)<i8", [1]), ("no type", [1]), (None, [1]),
        (3, [1]), ([], [1]), ("<i8", [-1]), ("<i8", [1.0]), ("<i8", ["1"]), ("<i8", None), ("<i8", [10**20]),
        ("<i8", [2**62, 4]), ("<i8", [0, 2**70]), ("<i8", [2**32, 2**32]), ("<i8", [1] * 100), ("<c16", [1]),
        ("<M8[s]", [1]), ("|b1", [8]),
    ],
    ids=str,
)  # fmt: skip
def test_an_array_that_is_none(kind, shape):
    header, arrays = take_apart(GOOD)
    header["arrays"] = [[own.dtype.str, list(own.shape)] for own in arrays]
    header["arrays"][header["blocks"][0][1]] = [kind, shape]
    text = json.dumps(header).encode()
    body = b"".join(own.tobytes() + bytes(-own.nbytes % 8) for own in arrays)
    refuse(seal(text + b" " * (-len(text) % 8), body))


def test_arrays_that_do_not_begin_at_eight_bytes():
    header, arrays = take_apart(GOOD)
    header["arrays"] = [[own.dtype.str, list(own.shape)] for own in arrays]
    text = json.dumps(header).encode()
    body = b"".join(own.tobytes() + bytes(-own.nbytes % 8) for own in arrays)
    refuse(seal(text + b" " * (-len(text) % 8 + 3), body), "begin")
    refuse(put_together(header, [*arrays, np.zeros(3)])[:-8])
    text = text + b" " * (-len(text) % 8)
    refuse(seal(text, body + bytes(8)), "shorter than its bytes")


@given(st.sampled_from([name for name in STATES if name != "empty"]), st.data())
def test_any_number_in_any_array(name, data):
    """A state with other numbers is refused, or gives some report; no kernel reads or writes beyond its arrays."""
    header, arrays = take_apart(make(name).to_bytes())
    arrays = [own.copy() for own in arrays]
    filled = [number for number, own in enumerate(arrays) if own.size]
    for _ in range(data.draw(st.integers(1, 3))):
        array = arrays[data.draw(st.sampled_from(filled))].reshape(-1).view(np.uint8)
        start = data.draw(st.integers(0, len(array) - 1))
        array[start : start + 8] = np.frombuffer(data.draw(st.binary(min_size=8, max_size=8)), np.uint8)[
            : len(array) - start
        ]
    try:
        state = fm.Accumulator.from_bytes(put_together(header, arrays))
    except ValueError:
        return
    assert fm.Accumulator.from_bytes(state.to_bytes()).rows == state.rows
    outcome(state.merge(make(name)))
