"""The bytes of an accumulator: an exact round trip, one format, ValueError for any damage."""

import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics import _version
from fastmetrics.engine.partial.files.containers import FORMAT
from support.cases import assert_raises, each_case
from support.states.accumulator_states import STATES, log_of, make, outcome
from support.states.accumulators import with_other_source
from support.states.state_bytes_parts import put_together, take_apart

DAMAGED = r"no state of an Accumulator|damaged|in format"


@pytest.fixture(scope="module")
def data():
    return {name: make(name).to_bytes() for name in STATES}


# ------------------------------------------------------------------------------------------------- there and back


@each_case("name", STATES)
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
        odd = bytearray(b"x" + data[name] + b"y")
        for buffer in (
            bytearray(data[name]),
            memoryview(data[name]),
            memoryview(odd)[1:-1],
            memoryview(bytes(odd))[1:-1],
            memoryview(np.frombuffer(data[name], np.uint8)),
        ):
            assert fm.Accumulator.from_bytes(buffer).to_bytes() == data[name]

    def test_the_buffer_may_be_used_again(self, name, data):
        buffer = bytearray(data[name])
        state = fm.Accumulator.from_bytes(buffer)
        buffer[:] = bytes(len(buffer))
        assert state.to_bytes() == data[name]

    def test_a_state_that_was_read_takes_more_rows(self, name, data):
        state, again = make(name), fm.Accumulator.from_bytes(data[name])
        rows, keys, options = STATES[name]
        log = log_of(30, keys, seed=9)
        log["prob"] = log["prob"].astype(options.get("dtype", "float64"))
        log["other"] = log["label"]
        for own in (state, again):
            own.update(log)
            own.merge(with_other_source(own))
        assert again.rows == 2 * (rows + 30)
        assert outcome(again) == outcome(state)

    def test_a_flipped_byte(self, name, data):
        """Every part of the archive. What archives record beside names, places and checksums has no meaning."""
        good = data[name]
        refused = 0
        for place in sorted({*range(0, len(good), 97), *range(200), *range(len(good) - 200, len(good))}):
            bad = bytearray(good)
            bad[place] ^= 0x80 if place % 2 else 0x01
            refused += refuse_or_equal(bad, good)
        assert refused > 100

    def test_missing_and_additional_bytes(self, name, data):
        good = data[name]
        for length in {*range(60), len(good) // 2, len(good) - 23, len(good) - 8, len(good) - 1}:
            assert_raises(ValueError, DAMAGED, fm.Accumulator.from_bytes, good[:length])
        for more in (b"\0", b"        ", bytes(30)):
            assert_raises(ValueError, "damaged: its end is missing", fm.Accumulator.from_bytes, good + more)
        assert_raises(ValueError, "not where they should be", fm.Accumulator.from_bytes, good + good)
        assert_raises(ValueError, "no state of an Accumulator", fm.Accumulator.from_bytes, good[1:])

    def test_a_missing_section(self, name, data):
        parts = take_apart(data[name])
        for missing in parts.sections:
            left = {own: content for own, content in parts.sections.items() if own != missing}
            bad = put_together(parts.header, parts.arrays, left)
            assert_raises(ValueError, "damaged|no values", fm.Accumulator.from_bytes, bad)

    def test_a_section_more(self, name, data):
        parts = take_apart(data[name])
        bad = put_together(parts.header, parts.arrays, parts.sections | {"tasks/0/parts/9/rows/0.parquet": b""})
        assert_raises(ValueError, "sections that no metric needs: tasks/0/parts/9", fm.Accumulator.from_bytes, bad)


def refuse_or_equal(bad, good):
    """Is it refused? Otherwise it is the same state."""
    try:
        state = fm.Accumulator.from_bytes(bytes(bad))
    except ValueError as error:
        message = str(error)
    else:
        assert state.to_bytes() == good
        return False
    assert re.search(DAMAGED, message)
    return True


@given(st.data())
def test_any_damage(data):
    good = GOOD
    bad = bytearray(good)
    for _ in range(data.draw(st.integers(1, 4))):
        start = data.draw(st.integers(0, len(bad)))
        stop = min(len(bad), start + data.draw(st.integers(0, 20)))
        bad[start:stop] = data.draw(st.binary(max_size=20))
    refuse_or_equal(bad, good)


GOOD = make("long text").to_bytes()


def test_objects_that_are_not_states():
    for data in (None, "text", 3, [1, 2], np.zeros(3), make("empty")):
        assert_raises(TypeError, "a state is bytes", fm.Accumulator.from_bytes, data)
    for data in (b"", b"PAR1", b"\x80\x04", b"FMSTATE\n", b"PK\3\4", bytes(1000)):
        assert_raises(ValueError, "no state of an Accumulator", fm.Accumulator.from_bytes, data)


def test_the_reader_chooses_the_threads():
    assert fm.Accumulator.from_bytes(GOOD).n_threads is None
    assert fm.Accumulator.from_bytes(GOOD, n_threads=3).n_threads == 3
    assert pickle.loads(pickle.dumps(fm.Accumulator.from_bytes(GOOD, n_threads=3))).n_threads == 3
    assert_raises(ValueError, "n_threads must be", fm.Accumulator.from_bytes, GOOD, n_threads=0)


@pytest.mark.parametrize("number", [0, FORMAT - 1, FORMAT + 1, 2**32 - 1])
def test_another_format_is_refused_with_both_numbers_and_the_version_that_wrote_it(number):
    parts = take_apart(GOOD)
    bad = put_together({**parts.header, "format": number}, parts.arrays, parts.sections)
    version = re.escape(fm.__version__)
    message = rf"fastmetrics {version} wrote the state in format {number}, and {version} reads format {FORMAT}: read it"
    assert_raises(ValueError, message, fm.Accumulator.from_bytes, bad)


def test_the_version_of_the_library_decides_nothing(monkeypatch):
    """The format number decides what can be read. The header only records the version that wrote it."""
    expected = outcome(make("long text"))
    monkeypatch.setattr(_version, "__version__", "9.9.9")
    by_later_version = fm.Accumulator.from_bytes(GOOD)
    assert outcome(by_later_version) == expected
    written_later = by_later_version.to_bytes()
    assert take_apart(written_later).header["library"] == "9.9.9"
    monkeypatch.undo()
    assert take_apart(GOOD).header["library"] == fm.__version__
    assert outcome(fm.Accumulator.from_bytes(written_later)) == expected


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
        (tmp_path / f"{number}.state").write_bytes(with_other_source(fm.Accumulator.from_bytes(GOOD)).to_bytes())
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", READER, str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    here = make("long text")
    here.merge(with_other_source(here)).merge(with_other_source(make("long text")))
    assert (tmp_path / "report.json").read_text(encoding="utf-8") == here.result().to_json()
    assert fm.Accumulator.from_bytes((tmp_path / "whole.state").read_bytes()).result() == here.result()
