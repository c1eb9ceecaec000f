"""`sample-log` and `demo`: synthetic logs, which depend on their seed alone."""

import hashlib
import math
import os
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from support.cases import assert_raises, each_case
from support.command_line import (
    ESCAPE,
    assert_is_a_message,
    environment,
    plain,
    run,
    run_in_terminal,
    run_python,
    run_subprocess,
)

pytest.importorskip("typer")
pytest.importorskip("rich")
pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def test_sample_log_schema(click_log):
    file = pq.ParquetFile(click_log)
    assert file.schema_arrow.names == ["user_id", "item_id", "channel", "ts", "p_true", "pctr", "click"]
    table = file.read()
    types = [str(field.type) for field in table.schema]
    dictionary = next(kind for kind in types if kind.startswith("dictionary"))
    assert types == ["int64", "int64", dictionary, "timestamp[ms]", "double", "double", "int8"]
    assert "string" in dictionary
    assert table.num_rows == 20_000
    assert all(column.null_count == 0 for column in table.columns)


def test_sample_log_looks_like_a_click_log(tmp_path):
    assert run("sample-log", "log.parquet", "--rows", 300_000, "--users", 20_000, folder=tmp_path).returncode == 0
    table = pq.read_table(tmp_path / "log.parquet")
    user, item, p_true, pctr, click = (
        table[name].to_numpy() for name in ("user_id", "item_id", "p_true", "pctr", "click")
    )
    assert set(np.unique(click)) == {0, 1}
    assert 0.03 < click.mean() < 0.08
    # Clicks are draws of p_true: their number is within five standard deviations of its sum.
    assert abs(click.sum() - p_true.sum()) < 5 * math.sqrt((p_true * (1 - p_true)).sum())
    for probability in (p_true, pctr):
        assert probability.min() > 0
        assert probability.max() < 1
    assert pctr.mean() > 1.05 * p_true.mean()
    ids, rows_of_user = np.unique(user, return_counts=True)
    assert 10_000 < len(ids) <= 20_000
    assert rows_of_user.max() > 20 * np.median(rows_of_user)
    assert abs(np.corrcoef(ids, rows_of_user)[0, 1]) < 0.05
    assert (np.diff(user) == 0).mean() < 0.01
    assert len(np.unique(item)) <= 3_000
    shares = sorted(np.unique(table["channel"].to_pylist(), return_counts=True)[1] / len(user))
    assert shares[-1] > 10 * shares[0]
    time_of_row = table["ts"].to_numpy().astype(np.int64)
    assert (time_of_row[10_000:] > time_of_row[:-10_000]).all()
    assert (np.diff(time_of_row) < 0).any()


@each_case("rows", [1, 27, 1_000, 65_536, 65_537, 300_000])
def test_sample_log_has_four_weeks(rows):
    from fastmetrics.cli.synthetic.synthetic_log import ClickLog

    log = pa.Table.from_batches(ClickLog(rows, users=max(1, rows // 10), items=100).stream())
    assert log.num_rows == rows
    times = log["ts"].to_numpy()
    first, end = np.datetime64("2026-09-07T00:00"), np.datetime64("2026-10-05T00:00")
    assert first <= times.min() <= times.max() < end
    days = (times - first).astype("timedelta64[D]").astype(int)
    if rows >= 1_000:
        assert len(np.unique(days)) == 28
        weekend = days % 7 > 4
        # Two days of seven have more than two sevenths of the rows.
        assert 0.32 < weekend.mean() < 0.38
        counts = np.bincount(days)
        assert len({*counts[:28:7]}) > 1


def test_sample_log_has_something_to_show_by_day_and_by_week():
    """Clicks are more frequent at weekends, which the model does not know, and the model gets worse."""
    import fastmetrics as fm
    from fastmetrics.cli.synthetic.synthetic_log import ClickLog

    log = pa.Table.from_batches(ClickLog(300_000, users=30_000, items=3_000).stream())
    weekend = fm.evaluate(
        log, ["ctr", "copc"], label="click", score=["pctr", "p_true"], by="extract(isodow from ts) > 5"
    )
    by_week = fm.evaluate(log, "auc", label="click", score="pctr", by="date_trunc('week', ts)")

    def values(metric, score):
        return [row.value for row in weekend if row.metric == metric and row.score == score and row.slice]

    (usual, often), (before, after) = values("ctr", "pctr"), values("copc", "pctr")
    assert often > 1.1 * usual
    assert after > 1.1 * before
    assert abs(values("copc", "p_true")[0] - values("copc", "p_true")[1]) < 0.05
    weeks = [row.value for row in by_week if row.slice]
    assert len(weeks) == 4
    assert weeks[0] > weeks[-1] + 0.01


def test_names_that_are_not_utf_8(tmp_path):
    folder = tmp_path / os.fsdecode(b"d\xe9mo")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system has names of UTF-8 alone")
    log = folder / os.fsdecode(b"caf\xe9.parquet")
    done = run("sample-log", log, "--rows", 100, folder=tmp_path)
    assert (done.returncode, log.exists()) == (0, True), done.stderr
    assert run("demo", "--rows", 1000, "--keep", folder, folder=tmp_path).returncode == 0


def test_sample_log_checks_the_disk_first(tmp_path):
    done = run("sample-log", "log.parquet", "--rows", 10**15, folder=tmp_path)
    assert done.returncode == 1
    assert "1,000,000,000,000,000 rows take at least 18189.9 TiB, and" in plain(done.stderr).replace("\n", " ")
    assert not list(tmp_path.iterdir())


def test_sample_log_depends_on_its_seed_alone(tmp_path):
    def written(name: str, *options: object) -> pa.Table:
        arguments = ["sample-log", name, "--users", 5_000, "--items", 300, *options]
        assert run(*arguments, folder=tmp_path).returncode == 0
        return pq.read_table(tmp_path / name)

    reference = written("a.parquet", "--rows", 150_000)
    assert written("b.parquet", "--rows", 150_000).equals(reference)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert written("c.parquet", "--rows", 150_000, "--row-group-rows", 10_007).equals(reference)
    assert pq.ParquetFile(tmp_path / "c.parquet").metadata.num_row_groups == 15
    whole = ["user_id", "item_id", "channel"]  # times, and what depends on them, depend on the number of rows
    assert written("d.parquet", "--rows", 70_001).select(whole).equals(reference.select(whole).slice(0, 70_001))
    assert not written("e.parquet", "--rows", 150_000, "--seed", 1)["click"].equals(reference["click"])


def test_synthetic_rows_are_frozen():
    """The documentation has numbers of these rows, so they must never change, on any machine."""
    from fastmetrics.cli.synthetic.synthetic_log import ClickLog

    digest = hashlib.sha256()
    for block in ClickLog(rows=70_000, users=1_000, items=50, seed=7).stream():
        for column in block.columns:
            values = column.indices if pa.types.is_dictionary(column.type) else column
            array = values.to_numpy(zero_copy_only=False)
            digest.update(array.astype(array.dtype.newbyteorder("<")).tobytes())
    assert digest.hexdigest() == "0ca2a82e2ea450c685455644b6393221bf762334e6d94f1edff0dd9b6a8d67fd"


@pytest.mark.parametrize("bits", [32, 48])
def test_scattered_ids_are_distinct(bits):
    from fastmetrics.cli.synthetic.synthetic_log import scattered

    edge = np.uint64((1 << bits) - 50_000)
    ranks = np.concatenate([np.arange(50_000, dtype=np.uint64), np.arange(49_999, dtype=np.uint64) + edge])
    ids = scattered(ranks, bits)
    assert len(np.unique(ids)) == len(ranks)
    assert int(ids.max()) < 1 << bits


@each_case(
    ("field", "value"),
    [("rows", 0), ("users", 0), ("users", 2**48 + 1), ("items", 2**32 + 1), ("seed", -1), ("seed", 2**64)],
)
def test_impossible_log_is_an_error(field, value):
    from fastmetrics.cli.synthetic.synthetic_log import ClickLog

    assert_raises(ValueError, field, ClickLog, **{"rows": 10, "users": 10, "items": 10, "seed": 0, field: value})


def test_sample_log_needs_little_memory(tmp_path):
    if not Path("/proc/self/status").exists():
        pytest.skip("no /proc to read the peak from")
    # Not ru_maxrss: that begins with what the parent had at its peak.
    code = (
        "from pathlib import Path; from fastmetrics.cli import main\n"
        "assert main(['sample-log', 'log.parquet', '--rows', '4000000']) == 0\n"
        "status = Path('/proc/self/status').read_text()\n"
        "print('peak', next(line.split()[1] for line in status.splitlines() if line.startswith('VmHWM:')))"
    )
    done = run_python(code, tmp_path)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[-1]) * 1024 < 300e6


def test_sample_log_does_not_overwrite(click_log):
    before = click_log.read_bytes()
    refused = run("sample-log", click_log, "--rows", 10, folder=click_log.parent)
    assert_is_a_message(refused, "clicks.parquet", "--force")
    assert click_log.read_bytes() == before


def test_sample_log_replaces_by_force(tmp_path):
    (tmp_path / "log.parquet").write_bytes(b"old")
    assert run("sample-log", "log.parquet", "--rows", 10, "--force", folder=tmp_path).returncode == 0
    assert pq.read_table(tmp_path / "log.parquet").num_rows == 10
    assert [path.name for path in tmp_path.iterdir()] == ["log.parquet"]


def test_sample_log_in_a_missing_folder(tmp_path):
    assert_is_a_message(run("sample-log", "logs/clicks.parquet", folder=tmp_path), "logs")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="sends SIGINT")
def test_interrupted_sample_log_leaves_nothing(tmp_path):
    command = [sys.executable, "-m", "fastmetrics", "sample-log", "log.parquet", "--rows", str(10**8)]
    # The signal may come while Python reads a module, whose file it then leaves to the garbage collector.
    quiet = environment(PYTHONWARNINGS="error::RuntimeWarning")
    process = subprocess.Popen(command, cwd=tmp_path, env=quiet, stderr=subprocess.PIPE, text=True)
    try:
        deadline = time.monotonic() + 60
        while not any(path.stat().st_size > 0 for path in tmp_path.iterdir()) and time.monotonic() < deadline:
            time.sleep(0.02)
        assert [path.suffix for path in tmp_path.iterdir()] == [".incomplete"]
        process.send_signal(signal.SIGINT)
        _, message = process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    assert "Traceback" not in message
    assert "log.parquet was not written" in message
    assert list(tmp_path.iterdir()) == []


def test_interrupt_in_code_compiled_from_text(tmp_path):
    (tmp_path / "interrupted.py").write_text(
        "import sys, fastmetrics.cli, fastmetrics.cli.app as app\n"
        "app.run = lambda arguments: exec('raise KeyboardInterrupt')\n"
        "sys.exit(fastmetrics.cli.main(['list']))\n"
    )
    command = [sys.executable, "-m", "interrupted"]
    done = subprocess.run(command, cwd=tmp_path, env=environment(), capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (130, "")


def test_sample_log_shows_a_bar_in_a_terminal(tmp_path):
    code, screen = run_in_terminal("sample-log", "log.parquet", "--rows", 300_000, folder=tmp_path)
    assert code == 0
    assert "of 300,000 rows" in plain(screen)
    assert "wrote log.parquet" in plain(screen)


def suggested_commands(text: str) -> list[list[str]]:
    """The commands after "Next", without the name of the program."""
    lines = text.partition("Next")[2].splitlines()
    commands = [shlex.split(line) for line in lines if line.strip() and not line.strip().startswith("#")]
    return [words[words.index("fastmetrics") + 1 :] for words in commands]


def test_demo_from_nothing_to_the_next_command(tmp_path):
    done = run_subprocess("demo", "--rows", 100_000, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert ESCAPE not in done.stdout
    assert "p_true" in done.stdout
    assert "pctr" in done.stdout
    assert list(tmp_path.iterdir()) == []
    write, evaluate, listing, own = suggested_commands(done.stdout)
    assert (write[0], evaluate[0], listing, own[0]) == ("sample-log", "evaluate", ["list"], "evaluate")
    # As they stand, but for a smaller log.
    assert write[2:] == ["--rows", "10000000"]
    assert run(*write[:2], "--rows", 1_000, folder=tmp_path).returncode == 0
    followed = run(*evaluate, folder=tmp_path)
    assert followed.returncode == 0, followed.stderr
    assert run(*listing, folder=tmp_path).returncode == 0


def test_demo_is_deterministic_but_for_the_clock(tmp_path):
    first, second = (run("demo", "--rows", 30_000, "--seed", 3, folder=tmp_path).stdout for _ in range(2))
    without_time = [line for line in first.splitlines() if "rows/s" not in line]
    assert without_time == [line for line in second.splitlines() if "rows/s" not in line]


def test_demo_keeps_its_log(tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["fastmetrics/__main__.py"])  # how the program was called
    done = run("demo", "--rows", 30_000, "--users", 500, "--keep", "kept.parquet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert pq.read_table(tmp_path / "kept.parquet").num_rows == 30_000
    (evaluate, *_) = suggested_commands(done.stdout)
    assert run(*evaluate, folder=tmp_path).returncode == 0
    assert_is_a_message(run("demo", "--keep", "kept.parquet", folder=tmp_path), "kept.parquet")
    for path in ("", "kept.csv"):
        done = run("demo", "--keep", path, folder=tmp_path)
        assert done.returncode == 2
        assert f"'{path}' is not a folder" in done.stderr


def test_demo_of_one_row_is_undefined_not_wrong(tmp_path):
    done = run("demo", "--rows", 1, folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "undefined" in done.stdout


def test_demo_in_a_terminal(tmp_path):
    code, screen = run_in_terminal("demo", "--rows", 50_000, folder=tmp_path, columns=80)
    assert code == 0
    text = plain(screen)
    assert "p_true, the perfect model" in text
    assert "of 50,000 rows" in text
    assert list(tmp_path.iterdir()) == []
