"""Rows that stay in the files of states: ranges of them are read when needed, with the same bits and checks."""

import io
import os
import pickle

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics._core.exchange.blocks import StoredBlock
from fastmetrics._core.exchange.spill import SpillFile
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics.engine.partial.files import stored_rows, writing
from support.cases import assert_raises, each_case
from support.states.state_bytes_parts import put_together, take_apart

ROWS = 24_000
DAYS = 3
LIMIT = "1MiB"
METRICS = ["auc", "gauc", "ks", "ndcg@5", "logloss"]
OPTIONS = [
    {"group": "u"}, {"group": "t"}, {"group": ["u", "v"]}, {"group": ["t", "v"]}, {"group": "u", "score": ["p", "q"]},
    {"group": "v", "weight": "w", "metrics": ["auc", "gauc", "logloss"]}, {"metrics": ["auc", "ks"], "score": "q"},
    {"group": "t", "ci": 0.9, "replicates": 5}, {"unit": "t", "ci": 0.9, "replicates": 5, "metrics": ["auc"]},
    {"group": "v", "unit": "u", "ci": 0.9, "replicates": 5},
    {"metrics": ["xauc", "median_ae"], "label": "p", "score": "q"},
]  # fmt: skip
pytestmark = pytest.mark.skipif(not hasattr(os, "pread"), reason="files that are open cannot be replaced here")


@pytest.fixture(autouse=True)
def small_row_groups(monkeypatch):
    """Files of few rows have several sections and row groups, and their rows stay in them."""
    monkeypatch.setattr(stored_rows, "ROW_GROUP_ROWS", 2000)
    monkeypatch.setattr(stored_rows, "FILE_ROWS", 5000)
    monkeypatch.setattr(writing, "ROW_GROUP_ROWS", 2000)


@pytest.fixture(scope="module")
def log():
    chance = np.random.default_rng(5)
    u = chance.integers(-900, 900, ROWS)
    return pa.table({
        "y": chance.integers(0, 2, ROWS), "p": chance.random(ROWS).round(3),
        "q": chance.random(ROWS).astype(np.float32), "u": u,
        "v": (u + 900).astype(np.uint64) * 3, "w": chance.integers(0, 3, ROWS).astype(float),
        "t": [f"user{'' if own % 2 else ' with a long name'} {own}" for own in u.tolist()],
    })  # fmt: skip


def columns(metrics=METRICS, **options):
    return {"metrics": metrics, "label": "y", "score": "p", **options}


def save_days(log, folder, **options):
    """The paths of the files of DAYS parts of a log."""
    paths = [folder / f"{day}.state" for day in range(DAYS)]
    for day, path in enumerate(paths):
        state = fm.Accumulator(**columns(**options))
        state.update(log.slice(day * ROWS // DAYS, ROWS // DAYS))
        state.save(path)
    return paths


def load(path):
    return fm.Accumulator.load(path, memory_limit=LIMIT)


def load_days(paths):
    merged = load(paths[0])
    for path in paths[1:]:
        merged.merge(load(path))
    return merged


def blocks_of(state):
    (part,) = state._state.parts
    return [block for store in part.stores() for block in store.written_blocks]


@each_case("options", OPTIONS)
def test_days_that_stay_in_their_files_give_the_bits_of_one_evaluate(log, tmp_path, monkeypatch, options):
    whole = fm.evaluate(log, **columns(**options))
    paths = save_days(log, tmp_path, **options)
    with monkeypatch.context() as patch:
        patch.setattr(SpillFile, "append", None)
        merged = load_days(paths)
        assert all(isinstance(block, StoredBlock) for block in blocks_of(merged))
    assert merged.result() == whole == merged.result()
    assert pickle.loads(pickle.dumps(merged)).result() == whole
    merged.save(paths[0])
    assert merged.result() == merged.copy().result() == load(paths[0]).result() == whole


def test_rows_that_come_later_join_them(log, tmp_path):
    paths = save_days(log, tmp_path, group="t")
    state = load(paths[0])
    state.update(log)
    batches = pa.concat_tables([log.slice(0, ROWS // DAYS), log])
    assert state.result() == fm.evaluate(batches, **columns(group="t"))
    bad = log.slice(0, 10).set_column(0, "y", pa.array([2] * 10))
    assert_raises(ValueError, "label column 'y'", state.update, bad)
    assert state.result() == fm.evaluate(batches, **columns(group="t"))


@each_case("most_ordered", [1 << 21, 3500])
def test_large_groups_and_partitions(tmp_path, monkeypatch, most_ordered):
    monkeypatch.setattr(stored_rows, "MOST_ORDERED", most_ordered)
    chance = np.random.default_rng(1)
    for users in (np.zeros(20_000, np.int64), chance.integers(0, 2, 20_000), np.array(["a long name indeed"] * 20_000)):
        data = {"y": chance.integers(0, 2, 20_000), "p": np.round(chance.random(20_000), 1), "u": users}
        state = fm.Accumulator(**columns(group="u"))
        for first in range(0, 20_000, 3000):
            state.update({name: own[first : first + 3000] for name, own in data.items()})
            state.flush()
        state.save(tmp_path / "a.state")
        loaded = load(tmp_path / "a.state")
        assert blocks_of(loaded)
        assert loaded.result() == fm.evaluate(data, **columns(group="u"))


def test_a_key_stands_at_few_rows(tmp_path):
    """Rows of a key are neighbors, wherever its hash is: of many partitions in a row group, and of one."""
    chance = np.random.default_rng(3)
    for n_users in (1, 3, 40, 1500):
        users = chance.integers(0, n_users, ROWS)
        state = fm.Accumulator(**columns(group="u"))
        for rows in np.array_split(np.arange(ROWS), 7):
            state.update({"y": rows % 2, "p": chance.random(len(rows)), "u": users[rows]})
            state.flush()
        state.save(tmp_path / "a.state")
        _, _, sections = take_apart((tmp_path / "a.state").read_bytes())
        files = [pq.ParquetFile(io.BytesIO(own)) for name, own in sections.items() if name.endswith("parquet")]
        keys = pa.concat_tables([file.read(["key"]) for file in files])["key"]
        n_row_groups = sum(file.metadata.num_row_groups for file in files)
        assert len(np.unique(keys.drop_null())) == len(np.unique(users))
        assert len(keys) - keys.null_count <= n_users + n_row_groups + n_users // 50


def test_rows_of_segments_are_ordered_by_the_bits_of_a_range():
    chance = np.random.default_rng(4)
    for partitions, bits in ((1, 0), (1, 9), (3, 9), (512, 9)):
        first, shift = (5 << (64 - bits)) if partitions < 512 and bits else 0, bits - (partitions - 1).bit_length()
        size = 1 << (64 - bits)
        blocks = [chance.integers(0, partitions * size - 1, 3000, np.uint64) + np.uint64(first) for _ in range(3)]
        starts, stops = np.array([0, 700, 3000]), np.array([3000, 2500, 3000])
        hashes = np.concatenate([own[start:stop] for own, start, stop in zip(blocks, starts, stops, strict=True)])
        words, places = np.empty((2, len(hashes)), np.uint32)
        hash_partition.order_segments(ColumnBlocks(blocks), starts, stops - starts, first, shift, words, places)
        keys = ((hashes - np.uint64(first)) << np.uint64(shift)) >> np.uint64(44)
        assert (np.argsort(places) == np.argsort(keys, kind="stable")).all()
        assert len(np.unique(keys)) > 0.98 * len(keys)


def test_only_row_groups_of_a_range_are_read(log, tmp_path, monkeypatch):
    state = load(save_days(log, tmp_path, group="u")[0])
    (part,) = state._state.parts
    store, read = part.group_exchange.store, []
    loading = stored_rows.StoredRows.load

    def count_groups(rows, start, stop, names):
        read.append(stop - start)
        return loading(rows, start, stop, names)

    monkeypatch.setattr(stored_rows.StoredRows, "load", count_groups)
    loaded = store.load_partitions(["hash", "label 0"], 100, 110)
    assert 0 < loaded.bounds[-1] < ROWS
    assert sum(read) <= 2


# ------------------------------------------------------------------------------- files that are not what they were


def test_files_may_lose_their_names(log, tmp_path):
    paths = save_days(log, tmp_path, group="u")
    whole = fm.evaluate(log, **columns(group="u"))
    merged = load_days(paths)
    paths[0].unlink()
    fm.Accumulator("rmse", label="y", score="p").save(paths[1])
    assert merged.result() == whole
    merged.save(paths[2])
    assert load(paths[2]).result() == whole


def test_files_that_were_written_to_are_errors(log, tmp_path):
    paths = save_days(log, tmp_path, group="u")
    merged = load_days(paths)
    with paths[1].open("ab") as file:
        file.write(b"more")
    message = r"1\.state: section .*rows/\d\.parquet: somebody wrote to the file after it was loaded"
    for use in (merged.result, merged.to_bytes):
        assert_raises(ValueError, message, use)
    with paths[2].open("rb+") as file:
        file.truncate(100)
    assert_raises(ValueError, r"2\.state: .*somebody wrote to the file", load_one_that_was_cut, paths[0])


def load_one_that_was_cut(path):
    path = path.with_name("2.state")
    path.write_bytes(path.with_name("0.state").read_bytes())
    state = load(path)
    with path.open("rb+") as file:
        file.truncate(1000)
    state.result()


def test_pages_are_checked_when_they_are_read(log, tmp_path):
    """Even a change that leaves size and time as they were."""
    path = save_days(log, tmp_path, group="u")[0]
    state, before = load(path), path.stat()
    (section, *_), place = {block.source.data for block in blocks_of(state)}, 200
    with path.open("rb+") as file:
        file.seek(section.position + place)
        (byte,) = file.read(1)
        file.seek(section.position + place)
        file.write(bytes([byte ^ 1]))
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert_raises(ValueError, rf"0\.state: section {section.name}: the state is damaged: its rows: ", state.result)
    assert_raises(ValueError, rf"0\.state: the state is damaged: {section.name}: ", load, path)


def test_partitions_that_do_not_fit_the_rows(log, tmp_path):
    path = save_days(log, tmp_path, group="u")[0]
    header, arrays, sections = take_apart(path.read_bytes())
    number, _ = header["partitions"]["rows"]
    (first, *_), (last, *_) = np.flatnonzero(arrays[number]), np.flatnonzero(arrays[number])[::-1]
    arrays[number][first] -= 1
    path.write_bytes(put_together(header, arrays, sections))
    assert_raises(ValueError, "its partitions have not the rows it counts", load, path)
    arrays[number][last] += 1
    path.write_bytes(put_together(header, arrays, sections))
    message = r"0\.state: section .*rows/\d\.parquet: .*a row is not in its partition"
    assert_raises(ValueError, message, load(path).result)
