"""memory_limit bounds memory, and errors while spilling leave nothing behind."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics
import fastmetrics as fm
from fastmetrics._core.exchange.spill import SpillError
from support.cases import assert_raises, each_case
from support.files import log_files
from support.states.spilled_logs import EXCHANGED, counted, evaluate, log_of, small_batches
from support.subprocesses import PATIENCE, PRELUDE, linux_only, open_files, posix_only, run, start

MIB = 1 << 20

# ------------------------------------------------------------------------------------------------- memory is bounded

LONG_ROWS = 6_000_000
READING = 150 * MIB  # what reading Parquet in two threads takes, with a margin

MEASURED = """
path, tiny, limit = sys.argv[1:]

def peak():
    # Not ru_maxrss: that begins with what the parent had at its peak.
    (line,) = [line for line in open("/proc/self/status") if line.startswith("VmHWM:")]
    return int(line.split()[1]) << 10

options = COLUMNS | {"n_threads": 2} | ({"memory_limit": limit} if limit else {})
metrics = ["auc", "ks", "gauc"]
fm.evaluate(tiny, metrics, **options)
before = peak()
report = fm.evaluate(path, metrics, **options)
say(peak() - before)
say(*(result.value.hex() for result in report))
"""


def write_long_log(path, rows, kind):
    """Write it in batches: this process has to keep its memory small too."""
    generator = np.random.default_rng(0)
    schema = pa.schema({"label": pa.int8(), "prob": pa.float64(), "group": pa.int64()})
    with pa.parquet.ParquetWriter(path, schema, compression="none", use_dictionary=False) as writer:
        for start_row in range(0, rows, 500_000):
            n = min(500_000, rows - start_row)
            prob = np.full(n, 0.25) if kind == "constant" else generator.random(n)
            is_large = kind in ("one large user", "few relevant")
            group = np.zeros(n, np.int64) if is_large else generator.integers(0, rows // 10, n)
            label = (generator.random(n) < (0.05 if kind == "few relevant" else prob)).astype(np.int8)
            writer.write_table(pa.table([pa.array(label), pa.array(prob), pa.array(group)], schema=schema))
    return path


def measure(path, tiny, limit):
    peak, values = run(MEASURED, path, tiny, limit)
    return int(peak), values.split()


@linux_only
@pytest.mark.parametrize("kind", ["many users", "constant", "one large user"])
def test_memory_stays_below_the_limit(tmp_path, kind):
    tiny = write_long_log(tmp_path / "tiny.parquet", 1000, "many users")
    path = write_long_log(tmp_path / "long.parquet", LONG_ROWS, kind)
    limited, values = measure(path, tiny, "32MiB")
    assert limited < 32 * MIB + READING
    auc, _, gauc = values
    if kind == "many users":
        free, expected = measure(path, tiny, "")
        assert values == expected
        assert limited < 0.75 * free, (limited, free)
        # The measurement detects memory use: here a label, a score and a key of every row.
        assert free > 17 * LONG_ROWS
    else:
        assert gauc == auc
        assert (auc == (0.5).hex()) == (kind == "constant")


@linux_only
def test_memory_of_a_large_ranked_list(tmp_path):
    """Rows of grade zero are only counted, and the discounts of far ranks are not kept."""
    tiny = write_long_log(tmp_path / "tiny.parquet", 1000, "many users")
    path = write_long_log(tmp_path / "long.parquet", LONG_ROWS, "few relevant")
    peak, values = run(MEASURED.replace('["auc", "ks", "gauc"]', '["ndcg", "map@10", "mrr"]'), path, tiny, "32MiB")
    assert int(peak) < 32 * MIB + READING
    assert all(0 < float.fromhex(value) <= 1 for value in values.split())


# ---------------------------------------------------------------------------------------------------- a disk that fails

FULL = """
limit, folder = int(sys.argv[1]), sys.argv[2]
if limit:
    import resource
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
stages = ["scan"]
log = log_of(200_000)
expected = fm.evaluate(log, ["auc", "gauc"], **COLUMNS)
before = left_open(), running()
for n_threads in (1, 2):
    try:
        report = fm.evaluate(
            log, ["auc", "gauc"], memory_limit="1MiB", spill_dir=folder, n_threads=n_threads,
            progress=lambda stage, done, rows: stages.append(stage), **COLUMNS,
        )
        say("a report was made", report)
    except OSError as error:
        say(type(error).__name__, error.errno, error.filename, "|", error)
    say(stages[-1], os.listdir(folder), (left_open(), running()) == before)
say(fm.evaluate(log, ["auc", "gauc"], memory_limit="20MiB", spill_dir=folder, **COLUMNS) == expected)
"""


def check_full(lines, code, folder, stage, words):
    for refusal, left in zip(lines[0:4:2], lines[1:4:2], strict=True):
        assert refusal.startswith(f"SpillError {code} {folder} | spilling to folder '{folder}': {words}")
        assert "more were needed" in refusal
        assert "spill_dir=" in refusal
        assert "memory_limit=" in refusal
        assert left == f"{stage} [] True"
    assert lines[4:] == ["True"]


@posix_only
def test_a_file_that_may_not_grow(tmp_path):
    check_full(run(FULL, 1_000_000, tmp_path), 27, tmp_path, "scan", "a file may not grow larger here after ")


@linux_only
@pytest.mark.parametrize(("size", "stage"), [("2500k", "scan"), ("4m", "resolve")])
def test_a_full_disk(tmp_path, size, stage):
    """The rows of the log need 3.4 MB, and their ordered scores 1.6 MB more while the exchanges are resolved."""
    alone = ["unshare", "--mount", "--map-root-user"]
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(tmp_path)]
    if not shutil.which("unshare") or subprocess.run([*alone, *mount], capture_output=True, check=False).returncode:
        pytest.skip("no file system may be mounted here")
    here = str(Path(fastmetrics.__file__).resolve().parents[1])
    shell = f'{" ".join(mount)} && exec "$0" -c "$1" 0 "$2"'
    command = [*alone, "sh", "-c", shell, sys.executable, PRELUDE + FULL, str(tmp_path)]
    found = subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=PATIENCE,
        env=os.environ | {"PYTHONPATH": here},
    )  # fmt: skip
    assert found.returncode == 0, found.stderr
    check_full(found.stdout.splitlines(), 28, tmp_path, stage, "no space is left after ")


class ReadOnce:
    """A stream that records whether it was read."""

    def __init__(self):
        self.table = pa.table(log_of(100))
        self.asked = False

    def __arrow_c_stream__(self, requested_schema=None):
        self.asked = True
        return self.table.__arrow_c_stream__(requested_schema)


def test_a_folder_that_cannot_be_used_is_refused_before_any_reading(tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"")
    for folder, words in ((tmp_path / "absent", "there is no such folder"), (file, "it is not a folder")):
        log = ReadOnce()
        for given in (folder, str(folder)):
            with pytest.raises(SpillError, match=words) as refusal:
                evaluate(log, spill_dir=given)
            assert str(folder) in str(refusal.value)
        assert not log.asked
    assert_raises(TypeError, "spill_dir", evaluate, ReadOnce(), spill_dir=7)
    for limit, kind in (("1 KiB", ValueError), ("a lot", ValueError), (0.5, TypeError)):
        log = ReadOnce()
        assert_raises(kind, "memory_limit", evaluate, log, memory_limit=limit)
        assert not log.asked


def test_the_folder_is_where_rows_go(tmp_path, monkeypatch):
    """By default the system's folder for temporary files, which is not used if nothing is spilled."""
    log = log_of(100_000)
    expected = evaluate(log)
    made = []
    make = fastmetrics._core.exchange.spill.open_unnamed
    monkeypatch.setattr(
        fastmetrics._core.exchange.spill, "open_unnamed", lambda folder: made.append(folder) or make(folder)
    )
    assert evaluate(log, memory_limit="1MiB", spill_dir=tmp_path) == expected
    assert set(made) == {str(tmp_path)}
    made.clear()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert evaluate(log, memory_limit="1MiB") == expected
    assert set(made) == {str(tmp_path)}
    made.clear()
    assert evaluate(log, memory_limit="1GiB") == expected
    assert made == []
    assert list(tmp_path.iterdir()) == []


# ------------------------------------------------------------------------------------------------ files that are broken


def watch():
    """Open descriptors and threads, which a failed evaluation must not leave behind."""
    return len(os.listdir("/proc/self/fd")), threading.enumerate()


@pytest.fixture
def files_of_log(tmp_path):
    """A data set of four files with several row groups each."""
    table = pa.table(log_of(200_000))
    for number in range(4):
        part = table.slice(50_000 * number, 50_000)
        log_files.write_parquet(part, tmp_path / "log" / f"part-{number}.parquet", row_group_size=10_000)
    return tmp_path / "log"


@linux_only
@each_case("n_threads", [1, 2, 3])
@each_case("damage", ["truncated", "column", "late row group", "null", "label"])
def test_a_late_fault(files_of_log, tmp_path, damage, n_threads):
    folder = tmp_path / "spilled"
    folder.mkdir()
    log = shutil.copytree(files_of_log, tmp_path / "damaged")
    options = {"memory_limit": "1MiB", "spill_dir": folder, "n_threads": n_threads}
    metrics = ["auc", "gauc", "ndcg@10", "logloss"]
    evaluate(log, metrics, **options)
    bad = log / "part-3.parquet"
    words = "part-3.parquet"
    if damage == "truncated":
        log_files.truncate(bad, 200_000)
    elif damage == "column":
        log_files.corrupt_column(bad, 2)
    elif damage == "late row group":
        meta = pa.parquet.read_metadata(bad).row_group(4).column(2)
        first = meta.dictionary_page_offset or meta.data_page_offset
        content = bytearray(bad.read_bytes())
        content[first : first + meta.total_compressed_size] = b"\xff" * meta.total_compressed_size
        bad.write_bytes(content)
    else:
        table = pa.parquet.read_table(bad)
        column, value, words = {"null": ("prob", None, "null"), "label": ("label", 7, "7")}[damage]
        values = table[column].to_pylist()
        values[49_990] = value
        place = table.column_names.index(column)
        table = table.set_column(place, column, pa.array(values, table[column].type))
        log_files.write_parquet(table, bad, row_group_size=10_000)
        words = rf"column '{column}'.*{words}.* row 199990\b"
    before = watch()
    with pytest.raises(ValueError, match=words), counted() as calls:
        evaluate(log, metrics, **options)
    assert watch() == before
    if damage != "truncated":  # a missing footer is found before anything is read
        assert calls["spilled"] > 0
    assert list(folder.iterdir()) == []


@linux_only
def test_a_late_fault_of_a_stream():
    table = pa.table(log_of(150_000))

    def batches():
        yield from table.to_batches(max_chunksize=20_000)
        raise OSError("the other end hung up")

    for n_threads in (1, 3):
        reader = pa.RecordBatchReader.from_batches(table.schema, batches())
        before = watch()
        with pytest.raises(OSError, match="the other end hung up"), counted() as calls:
            evaluate(reader, EXCHANGED, memory_limit="1MiB", n_threads=n_threads)
        assert calls["spilled"] > 0
        assert watch() == before


@linux_only
@pytest.mark.parametrize("name", ["preadv", "pwritev"])
@each_case("n_threads", [1, 2])
def test_a_disk_that_fails_at_any_time(name, n_threads, monkeypatch):
    """A large user and a large tie need further spill files, all of which are released."""
    small_batches(monkeypatch, 5000)
    log = log_of(60_000)
    log["group"] = np.where(log["group"] < 5, 0, log["group"])
    log["prob"] = np.where(log["hour"] < 2, 0.5, log["prob"])
    metrics = ["auc", "gauc"]
    expected = evaluate(log, metrics)
    before = watch()
    call, calls, failing = getattr(os, name), [0], [0]

    def fail(*arguments):
        calls[0] += 1
        if calls[0] == failing[0]:
            raise OSError(5, "Input/output error")
        return call(*arguments)

    monkeypatch.setattr(os, name, fail)
    assert evaluate(log, metrics, memory_limit="1MiB", n_threads=n_threads) == expected
    n_calls = calls[0]
    assert n_calls > 20
    for failing[0] in np.unique(np.geomspace(1, 0.8 * n_calls, 8).astype(int)).tolist():
        calls[0] = 0
        assert_raises(
            SpillError, "Input/output error", evaluate, log, metrics, memory_limit="1MiB", n_threads=n_threads
        )
        assert watch() == before
    failing[0] = 0
    assert evaluate(log, metrics, memory_limit="1MiB", n_threads=n_threads) == expected


# ----------------------------------------------------------------------------------------------------------------- kill

KILLED = """
folder, wanted = sys.argv[1:]

def progress(stage, done, rows):
    if stage == wanted and (done or stage == "resolve"):
        say(stage, len(os.listdir(folder)))
        sys.stdin.read()  # until this process is killed

fm.evaluate(log_of(400_000), ["auc", "gauc"], memory_limit="1MiB", spill_dir=folder, progress=progress, **COLUMNS)
say("done")
"""


@linux_only
@pytest.mark.parametrize("stage", ["scan", "resolve"])
def test_a_killed_process_leaves_nothing(tmp_path, stage):
    with start(KILLED, tmp_path, stage) as child:
        try:
            assert child.stdout.readline() == f"{stage} 0\n"
            assert len(open_files(child, tmp_path)) == 1
        finally:
            child.send_signal(signal.SIGKILL)
        assert child.wait(timeout=PATIENCE) == -signal.SIGKILL
        assert child.stdout.read() == ""
    assert list(tmp_path.iterdir()) == []


def test_reports_are_equal_whatever_the_limit_is_called():
    log = log_of(1000)
    for limit in (1 << 20, "1MiB", "1 GB", np.int64(1 << 30)):
        assert fm.evaluate(log, ["auc"], label="label", score="prob", memory_limit=limit) == evaluate(
            log, ["auc"], group=None
        )


# ------------------------------------------------------------------------------------------------- disk space

FEW_BYTES = 1 << 10


@pytest.fixture
def full_disk(monkeypatch):
    """A disk on which one kibibyte is free."""
    asked = []

    def disk_usage(folder):
        asked.append(os.fspath(folder))
        return shutil._ntuple_diskusage(1 << 40, (1 << 40) - FEW_BYTES, FEW_BYTES)

    monkeypatch.setattr(shutil, "disk_usage", disk_usage)
    return asked


@each_case("metrics", ["auc", "gauc", ["auc", "gauc"]])
def test_disk_space_is_checked_before_the_first_row(full_disk, tmp_path, metrics):
    rows = 400_000
    random = np.random.default_rng(1)
    log = {"label": np.arange(rows) % 2, "score": random.random(rows), "group": np.arange(rows) % 999}
    read = []
    options = {"label": "label", "score": "score", "group": "group", "progress": lambda *state: read.append(state)}
    assert_raises(
        SpillError, rf"{tmp_path}.*needed there, and 1 KiB are free.*spill_dir=",
        fm.evaluate, log, metrics, **options, memory_limit="1MiB", spill_dir=str(tmp_path),
    )  # fmt: skip
    assert not read
    assert full_disk.pop() == str(tmp_path)
    assert fm.evaluate(log, metrics, **options, memory_limit="1GiB") is not None
    assert not full_disk


def test_rows_that_are_dropped_need_no_disk(full_disk):
    score = np.full(400_000, np.nan)
    score[:1000] = np.random.default_rng(1).random(1000)
    log = {"label": np.arange(400_000) % 2, "score": score}
    report = fm.evaluate(log, "auc", label="label", score="score", memory_limit="1MiB", on_invalid="drop")
    assert 0 < report["auc"] < 1
    assert not full_disk


def test_metrics_that_store_no_rows_need_no_disk(full_disk):
    log = {"label": np.arange(400_000) % 2, "score": np.random.default_rng(1).random(400_000)}
    assert fm.evaluate(log, "logloss", label="label", score="score", memory_limit="1MiB")["logloss"] > 0
    assert not full_disk
