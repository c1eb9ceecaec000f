"""Small compressed files that expand to far more: an error that names the file, and memory that stays bounded."""

import gzip
import tracemalloc

import pytest

import fastmetrics as fm
from fastmetrics.engine.input import formats
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
        ([bytes(MIB)] * 4, "CSV"),
        ([b"label,score\n1,0.5\n0,0.1\n1,", *[b"1" * MIB] * 4], "behind row #[0-9,]+ is longer than 256 KiB"),
        ([b'label,score\n1,0.5\n0,0.1\n1,"', *[b"1\n" * (MIB // 2)] * 4], "behind row #[0-9,]+ is longer than 256 KiB"),
        ([b"label,score\n", b"1,0.5\n0,0.1\n" * 60_000, b"1," + b"1" * 2 * MIB], "behind row #[0-9,]{6,} is longer"),
    ],
)
def test_a_log_is_read_in_blocks(tmp_path, monkeypatch, chunks, message):
    monkeypatch.setattr(formats, "CSV_BLOCK_BYTES", MIB // 4)
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
