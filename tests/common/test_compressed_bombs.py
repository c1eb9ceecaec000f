"""Small compressed files that expand to far more: an error that names the file, and memory that stays bounded."""

import gzip
import tracemalloc

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fastmetrics as fm
from fastmetrics.engine.input import batches
from fastmetrics.engine.input.files import compressed_pieces, text_blocks
from fastmetrics.metrics.ranking.runs import trec_files
from fastmetrics.metrics.text.inputs import random_access_bytes, segment_files
from support.cases import assert_raises

MIB = 1 << 20
LOG = {"label": "label", "score": "score"}


def write_gzip(path, *chunks):
    with gzip.open(path, "wb", compresslevel=1) as file:
        for chunk in chunks:
            file.write(chunk)
    assert path.stat().st_size < MIB
    return path


@pytest.mark.parametrize(
    ("chunks", "message"),
    [
        ([bytes(MIB)] * 4, "behind row #1 is longer than 256 KiB"),
        ([b"label,score\n1,0.5\n0,0.1\n1,", *[b"1" * MIB] * 4], "behind row #[0-9,]+ is longer than 256 KiB"),
        ([b'label,score\n1,0.5\n0,0.1\n1,"', *[b"1\n" * (MIB // 2)] * 4], "the quoted field .* is not closed"),
        ([b"label,score\n", b"1,0.5\n0,0.1\n" * 60_000, b"1," + b"1" * 2 * MIB], "behind row #[0-9,]{6,} is longer"),
    ],
)
def test_a_log_is_read_in_blocks(tmp_path, monkeypatch, chunks, message):
    monkeypatch.setattr(text_blocks, "BLOCK_BYTES", MIB // 4)
    path = write_gzip(tmp_path / "log.csv.gz", *chunks)
    assert_raises(ValueError, rf"log\.csv\.gz cannot be read as CSV.*{message}", fm.evaluate, path, ["auc"], **LOG)


def test_runs_and_qrels_take_half_of_the_memory_at_most(tmp_path, monkeypatch):
    path = write_gzip(tmp_path / "a.run", b"q Q0 d 1 0.5 t\n", *[b" " * MIB] * 64)
    monkeypatch.setattr(trec_files, "default_memory_limit", lambda: 5 * MIB)
    for read in (fm.read_run, fm.read_qrels):
        tracemalloc.start()
        assert_raises(ValueError, r"a\.run expands to more than 5 MiB, half of the memory that is left", read, path)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 32 * MIB


def test_segments_take_half_of_the_free_space_at_most(tmp_path, monkeypatch):
    path = write_gzip(tmp_path / "a.gz", *[b"a line\n" * 1000] * 1000)
    monkeypatch.setattr(random_access_bytes, "MAX_BYTES_IN_MEMORY", MIB)
    monkeypatch.setattr("shutil.disk_usage", lambda folder: type("Usage", (), {"free": 8 * MIB}))
    assert_raises(ValueError, r"a\.gz has more than 4 MiB, half of the space that is free in ", fm.read_segments, path)


def test_a_segment_has_a_longest_length(tmp_path, monkeypatch):
    monkeypatch.setattr(segment_files, "MAX_LINE_BYTES", 2 * MIB)
    path = write_gzip(tmp_path / "a.gz", b"one\ntwo\n", b"x" * 4 * MIB)
    assert_raises(ValueError, r"a\.gz, line 3: it is longer than 2 MiB", fm.read_segments, path)
    assert len(fm.read_segments(write_gzip(tmp_path / "b.gz", b"one\n", *[b"x" * MIB + b"\n"] * 4))) == 5


ROWS = 300_000
ZEROS = pa.table({"label": np.arange(ROWS) % 2, "score": np.zeros(ROWS), "text": pa.array(["a" * 40] * ROWS)})


def evaluate_in_a_mebibyte(path):
    return fm.evaluate(path, "auc", **LOG, memory_limit=MIB)["auc"]


@pytest.fixture
def small_limits(monkeypatch):
    monkeypatch.setattr(compressed_pieces, "SMALLEST_LIMIT", MIB)


@pytest.mark.parametrize("codec", ["zstd", "gzip", "snappy"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_parquet(tmp_path, small_limits, codec, version):
    path = tmp_path / "log.parquet"
    options = {"compression": codec, "data_page_version": version, "use_dictionary": False}
    pq.write_table(ZEROS, path, **options, data_page_size=1 << 30, write_batch_size=ROWS, max_rows_per_page=ROWS)
    message = r"log\.parquet has a page of each column in row group 0 that expands to 4\.\d MiB, more than .* of 1 MiB"
    assert_raises(ValueError, message, evaluate_in_a_mebibyte, path)
    assert fm.evaluate(path, "auc", **LOG)["auc"] == 0.5
    pq.write_table(ZEROS, path, **options, data_page_size=1 << 16, write_batch_size=1000, row_group_size=ROWS // 2)
    assert evaluate_in_a_mebibyte(path) == 0.5


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
@pytest.mark.parametrize("write", [pa.ipc.new_file, pa.ipc.new_stream])
def test_batches_of_arrow(tmp_path, small_limits, codec, write):
    path = tmp_path / "log.arrow"
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with write(path, ZEROS.schema, options=options) as file:
        file.write_table(ZEROS, max_chunksize=1000)
        file.write_table(ZEROS)
    message = r"log\.arrow has a batch \(message 30\d\) that expands to 4\.\d MiB, more than the memory limit of 1 MiB"
    assert_raises(ValueError, message, evaluate_in_a_mebibyte, path)
    assert fm.evaluate(path, "auc", **LOG)["auc"] == 0.5
    with write(path, ZEROS.schema, options=options) as file:
        file.write_table(ZEROS, max_chunksize=50_000)  # of 3 MB, without the texts 0.8 MB
    assert evaluate_in_a_mebibyte(path) == 0.5
    with write(path, ZEROS.schema) as file:  # not compressed: the file is as large as its batch
        file.write_table(ZEROS)
    assert evaluate_in_a_mebibyte(path) == 0.5


def test_buffers_of_all_types(tmp_path):
    """The buffers of the columns together are those of the batch."""
    words = pa.array(["a", "bc", None] * 50)
    columns = {
        "numbers": np.arange(150), "flags": np.arange(150) % 2 == 0, "words": words, "codes": words.dictionary_encode(),
        "lists": pa.array([[1, 2], [], None] * 50), "large": words.cast(pa.large_string()), "none": pa.nulls(150),
        "pairs": pa.array([{"a": 1, "b": "x"}] * 150), "fixed": pa.array([[1, 2]] * 150, pa.list_(pa.int8(), 2)),
        "maps": pa.array([[("k", 1)]] * 150, pa.map_(pa.string(), pa.int32())), "bytes": pa.array([b"abc"] * 150),
        "short": pa.array([b"abcd"] * 150, pa.binary(4)), "halves": np.zeros(150, np.float16),
        "days": pa.array(np.arange(150), pa.timestamp("us")), "money": pa.array([1] * 150).cast(pa.decimal128(30, 2)),
    }  # fmt: skip
    table = pa.table(columns)
    path = tmp_path / "types.arrows"
    with pa.ipc.new_stream(path, table.schema) as file:
        file.write_table(table)
    with pa.OSFile(str(path)) as file:
        *_, (message, _) = compressed_pieces.find_messages(file)
    in_batch = len(message.table(2).vector(2, compressed_pieces.BUFFER))
    chosen = [compressed_pieces.chosen_buffers(table.schema, [name]) for name in columns]
    assert np.concatenate(chosen).tolist() == list(range(in_batch))
    assert compressed_pieces.count_buffers(pa.string_view()) is None


def test_texts_of_a_dictionary_are_written_out_a_few_rows_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr(batches, "PLAIN_TEXT_BYTES", MIB)
    rng = np.random.default_rng(0)
    words = pa.array(["a" * 10_000, "b" * 10_000, "c"])
    codes = rng.integers(0, 3, 20_000)
    log = {"label": rng.integers(0, 2, 20_000), "score": rng.random(20_000)}
    users = pa.DictionaryArray.from_arrays(pa.array(codes), words)
    parts = list(batches.split_long_texts(pa.record_batch([users], ["user"])))
    assert max(part.num_rows for part in parts) == MIB // 10_000
    assert pa.Table.from_batches(parts)["user"].combine_chunks() == users
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({**log, "user": users}), path)
    found = fm.evaluate(path, "gauc", **LOG, group="user", n_threads=1)["gauc"]
    assert found == fm.gauc_score(log["label"], log["score"], codes)
