"""The bytes of an accumulator: exact there and back, and ValueError for whatever happened to them on the way."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from states import PREFIX, STATES, log_of, make, outcome

import fastmetrics as fm
from fastmetrics import _version

DAMAGED = r"no state of an Accumulator|damaged|has format"


@pytest.fixture(scope="module")
def data():
    return {name: make(name).to_bytes() for name in STATES}


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
