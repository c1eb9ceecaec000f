"""States in files: the same rows and bits, complete or not there, and errors that name the section."""

import functools
import io
import os
import pickle
import signal
import subprocess
import sys
import time
import zipfile

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.partial.files import containers, stored_rows
from support.cases import assert_raises, each_case
from support.states.accumulator_states import STATES, make, outcome
from support.states.state_bytes_parts import sections_of
from support.subprocesses import run

ROWS = 48_000
LIMIT = "1MiB"
METRICS = ["auc", "gauc", "ks", "ndcg@5", "logloss", "rmse"]
COLUMNS = {"label": "y", "score": "p", "group": "u"}
OPTIONS = [
    {}, {"by": "by"}, {"group": "t"}, {"group": ["u", "by"]}, {"group": ["t", "by"]}, {"group": ["u", "by", "v"]},
    {"weight": "w", "metrics": ["auc", "gauc", "logloss"]}, {"score": ["p", "q"]}, {"group": "v", "score": "q"},
    {"ci": 0.9, "replicates": 5, "group": "t"}, {"ci": 0.9, "replicates": 5, "unit": "t", "metrics": ["auc"]},
    {"ci": 0.9, "replicates": 5, "group": "u2", "unit": "u"},
    {"metrics": ["auc", "rmse"], "group": None}, {"metrics": ["auc"], "group": None, "score": "r", "weight": "w"},
    {"metrics": ["xauc", "median_ae"], "label": "p", "score": "r", "group": None},
]  # fmt: skip


@pytest.fixture(scope="module")
def log():
    chance = np.random.default_rng(12)
    users = np.array([f"user{'' if number % 2 else ' with a long name'} {number}" for number in range(4000)])
    u = chance.integers(-2000, 2000, ROWS)
    return pa.table({
        "y": chance.integers(0, 2, ROWS), "p": chance.random(ROWS), "q": chance.random(ROWS).astype(np.float32),
        "u": u, "u2": u * 7, "v": u.astype(np.uint64), "t": users[chance.integers(0, 4000, ROWS)],
        "by": chance.integers(0, 3, ROWS), "w": chance.integers(0, 3, ROWS).astype(float),
        "r": chance.normal(size=ROWS).astype(np.float32),
    })  # fmt: skip


def fill(log, metrics=METRICS, memory_limit=None, **options):
    options = {name: own for name, own in {**COLUMNS, **options}.items() if own is not None}
    state = fm.Accumulator(metrics, memory_limit=memory_limit, **options)
    state.update(log)
    return state


# ------------------------------------------------------------------------------------------------- there and back


@each_case("name", STATES)
def test_every_state_comes_back(name, tmp_path):
    path = tmp_path / "a.state"
    state = make(name)
    state.save(path)
    assert path.read_bytes() == state.to_bytes()
    assert outcome(fm.Accumulator.load(str(path))) == outcome(state)
    assert os.listdir(tmp_path) == ["a.state"]


@each_case("options", OPTIONS)
@each_case("limits", [(None, LIMIT), (LIMIT, None)])
def test_rows_of_every_kind_give_the_same_bits(log, tmp_path, options, limits):
    path = tmp_path / "a.state"
    state = fill(log, memory_limit=limits[0], **options)
    state.save(path)
    loaded = fm.Accumulator.load(path, memory_limit=limits[1], spill_dir=tmp_path)
    assert loaded.result() == state.result()
    loaded.update(log)
    state.update(log)
    loaded.save(path)
    assert fm.Accumulator.load(path).result() == state.result()


@each_case("options", [{}, {"group": "t"}, {"metrics": ["auc"], "group": None}])
def test_many_files_under_a_limit(log, tmp_path, options):
    whole = fm.evaluate(log, **{"metrics": METRICS, **COLUMNS, **options})
    days = 6
    for day in range(days):
        part = log.slice(day * ROWS // days, ROWS // days)
        fill(part, memory_limit=LIMIT, **options).save(tmp_path / f"{day}.state")
    merged = fm.Accumulator.load(tmp_path / "0.state", memory_limit=LIMIT)
    for day in range(1, days):
        merged.merge(fm.Accumulator.load(tmp_path / f"{day}.state", memory_limit=LIMIT))
    assert merged.result() == whole


def test_large_partitions_and_many_row_groups(monkeypatch, tmp_path):
    monkeypatch.setattr(stored_rows, "ROW_GROUP_ROWS", 1000)
    monkeypatch.setattr(stored_rows, "FILE_ROWS", 3000)
    chance = np.random.default_rng(1)
    for users in (np.zeros(20_000, np.int64), chance.integers(0, 2, 20_000), np.array(["a long name"] * 20_000)):
        data = {"y": chance.integers(0, 2, 20_000), "p": np.round(chance.random(20_000), 1), "u": users}
        state = fm.Accumulator(METRICS, **COLUMNS)
        for first in range(0, 20_000, 3000):
            state.update({name: own[first : first + 3000] for name, own in data.items()})
            state.flush()
        state.save(tmp_path / "a.state")
        groups = row_groups(tmp_path / "a.state")
        assert len(groups) > 1
        assert all(0 < own <= 1000 for of_file in groups for own in of_file)
        assert fm.Accumulator.load(tmp_path / "a.state").result() == fm.evaluate(data, METRICS, **COLUMNS)


def row_groups(path):
    sections = sections_of(path.read_bytes())
    found = [pq.ParquetFile(io.BytesIO(sections[name])).metadata for name in sections if name.endswith("parquet")]
    return [[own.row_group(number).num_rows for number in range(own.num_row_groups)] for own in found]


def test_every_bit_of_a_float_is_kept():
    chance = np.random.default_rng(2)
    for dtype, integer in ((np.float32, np.int32), (np.float64, np.int64)):
        bounds = np.iinfo(integer)
        floats = chance.integers(bounds.min, bounds.max, 1000, integer).view(dtype)
        floats = np.concatenate((floats, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324], dtype)))
        codes = stored_rows.ordered_bits(floats)
        assert (stored_rows.ordered_bits(codes) == floats.view(integer)).all()
        ordered = np.sort(floats[floats != 0])
        ordered = stored_rows.ordered_bits(ordered[np.isfinite(ordered)])
        assert (ordered[1:] >= ordered[:-1]).all()


@each_case("group", ["u", "t"])
def test_any_tool_reads_the_rows(log, tmp_path, group):
    """The layout of docs/internals/state-files.md, read with pyarrow and NumPy alone."""
    fill(log, group=group).save(tmp_path / "a.state")
    with zipfile.ZipFile(tmp_path / "a.state") as archive:
        archive.extractall(tmp_path)
    table = pq.read_table(tmp_path / "tasks/0/parts/0/rows")
    codes = table["score 0"].to_numpy()
    scores = (codes ^ ((codes >> 63) & np.iinfo(np.int64).max)).view(np.float64)
    keys = table["key"].combine_chunks()
    groups = np.cumsum(keys.is_valid().to_numpy(zero_copy_only=False)) - 1
    keys = np.array([own.decode() if group == "t" else own for own in keys.drop_null().to_pylist()])[groups]
    found = zip(keys.tolist(), table["label 0"].to_pylist(), scores.tolist(), strict=True)
    own = zip(log[group].to_pylist(), log["y"].to_pylist(), log["p"].to_pylist(), strict=True)
    assert sorted(found) == sorted((key, bool(label), score) for key, label, score in own)


def test_scores_are_in_the_order_of_20_bits(tmp_path):
    for scores in (np.random.default_rng(1).random(9000), np.ones(9000), np.arange(9000.0)[::-1]):
        state = fill({"y": np.arange(9000) % 2, "p": scores}, metrics=["auc"], group=None)
        state.save(tmp_path / "a.state")
        sections = sections_of((tmp_path / "a.state").read_bytes())
        codes = pq.read_table(io.BytesIO(sections["tasks/0/parts/0/rows/0.parquet"]))["score 0"].to_numpy()
        assert (np.sort(codes) == np.sort(stored_rows.ordered_bits(scores))).all()
        cell_bits = max(0, int(codes.max() - codes.min()).bit_length() - 20)
        cells = (codes - codes.min()) >> cell_bits
        assert (cells[1:] >= cells[:-1]).all()


def test_sizes(tmp_path):
    chance = np.random.default_rng(3)
    n = 400_000
    scores = chance.uniform(0.01, 0.3, n)
    users = chance.integers(0, n // 10, n)
    for dtype, most in ((np.float32, (1.6, 4.6)), (np.float64, (5.3, 8.1))):
        data = {"y": chance.integers(0, 2, n), "p": scores.astype(dtype), "u": users}
        for metrics, group, bytes_a_row in ((["auc"], None, most[0]), (["auc", "gauc"], "u", most[1])):
            fill(data, metrics=metrics, group=group).save(tmp_path / "a.state")
            assert (tmp_path / "a.state").stat().st_size < bytes_a_row * n


def test_pickles_are_the_same_states(log):
    state = fill(log, memory_limit=LIMIT)
    again = pickle.loads(pickle.dumps(state))
    assert again.memory_limit == LIMIT
    assert again.result() == state.result()


# ------------------------------------------------------------------------------------------- complete or not there


def test_names_that_are_no_files(tmp_path):
    state = make("integers")
    assert_raises(IsADirectoryError, "is a folder; name a file in it", state.save, tmp_path)
    assert_raises(FileNotFoundError, "there is no folder", state.save, tmp_path / "no" / "a.state")
    assert_raises(FileNotFoundError, "no.state", fm.Accumulator.load, tmp_path / "no.state")
    (tmp_path / "text").write_text("text")
    assert_raises(ValueError, "text: this is no state of an Accumulator", fm.Accumulator.load, tmp_path / "text")
    for method in (state.save, fm.Accumulator.load):
        assert_raises(TypeError, "path must be that of a file; found 3 of type int", method, 3)
    assert sorted(os.listdir(tmp_path)) == ["text"]


class FailingFile:
    """A file that fails after some bytes."""

    def __init__(self, file, left, error):
        self.file, self.left, self.error = file, left, error

    def write(self, data):
        self.left -= memoryview(data).nbytes
        if self.left < 0:
            raise self.error
        return self.file.write(data)

    def __getattr__(self, name):
        return getattr(self.file, name)


@each_case("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=repr)
@each_case("share", [0.0, 0.1, 0.5, 0.9, 0.999])
def test_a_failed_write_leaves_the_old_file(log, tmp_path, monkeypatch, error, share):
    path = tmp_path / "a.state"
    make("integers").save(path)
    before = path.read_bytes()
    state = fill(log)
    left = int(share * len(state.to_bytes()))
    archive = zipfile.ZipFile
    with monkeypatch.context() as patch:
        patch.setattr(containers.zipfile, "ZipFile", lambda file, mode: archive(FailingFile(file, left, error), mode))
        with pytest.raises(type(error)) as found:
            state.save(path)
    if isinstance(error, OSError):
        assert str(found.value) == f"[Errno 28] No space left on device: '{path}'"
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.state"]
    state.save(path)
    assert fm.Accumulator.load(path).result() == state.result()


WRITER = """
import sys
import numpy as np
import fastmetrics as fm
chance = np.random.default_rng(0)
n = 2_000_000
state = fm.Accumulator(["auc", "gauc"], label="y", score="p", group="u")
state.update({"y": chance.integers(0, 2, n), "p": chance.random(n), "u": chance.integers(0, n, n)})
print("ready", flush=True)
while True:
    state.save(sys.argv[1])
    print("saved", flush=True)
"""


def test_a_killed_process_leaves_a_whole_file(tmp_path):
    path = tmp_path / "a.state"
    make("integers").save(path)
    rows = {40, 2_000_000}
    with subprocess.Popen([sys.executable, "-c", WRITER, path], stdout=subprocess.PIPE, text=True) as process:
        process.stdout.readline()
        deadline = time.monotonic() + 60
        while not any(own.endswith(".incomplete") for own in os.listdir(tmp_path)) and time.monotonic() < deadline:
            pass
        process.send_signal(signal.SIGKILL)
    assert fm.Accumulator.load(path).rows in rows


# -------------------------------------------------------------------------------------------------- damaged files


@each_case("name", ["long text", "unsigned", "approximate", "several parts"])
def test_a_damaged_section_is_named(name, tmp_path):
    path = tmp_path / "a.state"
    make(name).save(path)
    good = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        sections = archive.infolist()
        for section in sections:
            bad = bytearray(good)
            bad[section.header_offset + 30 + len(section.filename) + section.file_size // 2] ^= 1
            path.write_bytes(bad)
            assert_raises(ValueError, f"a.state: the state is damaged: {section.filename}", fm.Accumulator.load, path)
    for length in range(0, len(good), max(1, len(good) // 60)):
        path.write_bytes(good[:length])
        assert_raises(ValueError, "damaged: its end is missing|no state", fm.Accumulator.load, path)


def test_states_of_other_questions_show_both(tmp_path):
    make("integers").save(tmp_path / "a.state")
    make("single scores").save(tmp_path / "b.state")
    one, other = (fm.Accumulator.load(tmp_path / f"{own}.state") for own in "ab")
    assert_raises(ValueError, "different questions.*on_invalid is 'raise' here, 'drop' there", one.merge, other)


def test_labels_that_do_not_fit_the_limit(tmp_path):
    labels = [f"label {number}" for number in range(40_000)]
    state = fm.Accumulator("ari")
    state.update({"label": labels, "cluster": labels})
    state.save(tmp_path / "a.state")
    message = "^the different labels take more than half of memory_limit=1 MiB"
    assert_raises(ValueError, message, fm.Accumulator.load, tmp_path / "a.state", memory_limit=LIMIT)
    assert fm.Accumulator.load(tmp_path / "a.state").result() == state.result()


def test_wrong_arguments_are_no_damage(tmp_path):
    make("integers").save(tmp_path / "a.state")
    for limit in (2.5, True, float("nan")):
        load = functools.partial(fm.Accumulator.load, tmp_path / "a.state", memory_limit=limit)
        assert_raises((TypeError, ValueError), "^memory_limit", load)
    assert_raises(TypeError, "^spill_dir", fm.Accumulator.from_bytes, make("integers").to_bytes(), spill_dir=3)


def test_a_header_of_numbers_that_cannot_be_parsed(tmp_path):
    path = tmp_path / "a.state"
    make("integers").save(path)
    with zipfile.ZipFile(path) as archive:
        sections = {section.filename: archive.read(section) for section in archive.infolist()}
    name = next(name for name in sections if name.endswith(".npy"))
    for bad in (b"'shape': (((((", b"'shape': (3L\\", b"'shape': '''"):
        good = sections[name]
        place = good.index(b"'shape'")
        changed = sections | {name: good[:place] + bad + good[place + len(bad) :]}
        with zipfile.ZipFile(path, "w") as archive:
            for own, data in changed.items():
                archive.writestr(zipfile.ZipInfo(own), data)
        assert_raises(ValueError, f"a.state: the state is damaged: {name}", fm.Accumulator.load, path)


def test_columns_of_rows_keep_their_order(log):
    """A group, another unit and slices: a state that was read writes the bytes that it was read from."""
    state = fill(log.slice(0, 500), ["auc", "gauc", "logloss"], group="u2", unit="u", by="by", ci=0.9, replicates=5)
    data = state.to_bytes()
    assert fm.Accumulator.from_bytes(data).to_bytes() == data


def test_states_are_read_and_written_without_pandas(tmp_path, log):
    """Where it is installed, its import takes longer than a small state."""
    path = tmp_path / "state"
    state = fm.Accumulator(METRICS, **COLUMNS)
    state.update(log)
    state.save(path)
    code = """
state = fm.Accumulator.load(sys.argv[1])
state.save(sys.argv[1])
print("pandas" in sys.modules)
"""
    assert run(code, path) == ["False"]
