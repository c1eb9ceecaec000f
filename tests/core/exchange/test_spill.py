"""The spill file: bytes come back from any number of threads, and no file is left behind, however a process ends."""

import errno
import gc
import os
import pickle
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fastmetrics._core.exchange import spill
from fastmetrics._core.exchange.spill import SpillError, SpillFile
from support.cases import assert_raises
from support.subprocesses import PATIENCE, linux_only, posix_only


@pytest.fixture(params=["positioned", "seeking"])
def calls(request, monkeypatch):
    """Both kinds of system calls: calls with a position, and seek and write under a lock (Windows)."""
    if request.param == "positioned" and not spill.HAS_POSITIONED_CALLS:
        pytest.skip("no calls with a position here")
    monkeypatch.setattr(spill, "HAS_POSITIONED_CALLS", request.param == "positioned")


def numbers(n, seed=0):
    return np.random.default_rng(seed).integers(0, 1 << 63, n, dtype=np.uint64)


def read_back(file, position, like):
    out = np.empty_like(like)
    file.read(position, out)
    return out


# --------------------------------------------------------------------------------------------- bytes come back

TYPES = ["u1", "<i2", ">f4", "<f8", "?", "<f2", "<c16", "<U3", "S5", "<M8[us]", "V7", "<i4,<f8"]
ARRAYS = st.tuples(st.sampled_from(TYPES), st.sampled_from([0, 1, 2, 7, 63, 64, 65, 1000]), st.integers(0, 9))
APPENDS = st.lists(st.lists(ARRAYS, max_size=5), max_size=8)


def make_array(kind, n, seed):
    dtype = np.dtype(kind)
    # Any bytes are a value of every type here except bool, whose bytes are 0 and 1.
    found = np.random.default_rng(seed).integers(0, 2 if kind == "?" else 100, n * dtype.itemsize, dtype=np.uint8)
    return found.view(dtype) if n else np.empty(0, dtype)


@pytest.mark.usefixtures("calls")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(APPENDS, st.sampled_from([63, 64, 100, 1000, 1 << 20]), st.sampled_from([1, 2, 5, 1024]))
def test_any_arrays_come_back(tmp_path_factory, appends, piece_bytes, pieces_per_call):
    with pytest.MonkeyPatch.context() as patch, SpillFile(tmp_path_factory.getbasetemp()) as file:
        patch.setattr(spill, "PIECE_BYTES", piece_bytes)
        patch.setattr(spill, "PIECES_PER_CALL", pieces_per_call)
        places, expected_end = [], 0
        for described in appends:
            arrays = [make_array(*each) for each in described]
            position = file.append(arrays)
            assert position == expected_end
            for array in arrays:
                places.append((expected_end, array))
                expected_end += array.nbytes
        assert file.bytes_written == expected_end
        for position, array in reversed(places):
            assert read_back(file, position, array).tobytes() == array.tobytes()


@pytest.mark.usefixtures("making")
def test_shapes_and_parts(tmp_path):
    table, point = numbers(60).reshape(3, 4, 5), np.array(2.5)
    table.flags.writeable = False
    with SpillFile(tmp_path) as file:
        assert file.append([table, np.empty((4, 0, 2)), point]) == 0
        assert file.append([np.empty(3, "V0")]) == table.nbytes + 8
        assert np.array_equal(read_back(file, 0, table), table)
        assert read_back(file, table.nbytes, point) == 2.5
        middle = np.empty(7, np.uint64)
        file.read(8 * 11, middle)
        assert np.array_equal(middle, table.ravel()[11:18])


def test_a_large_array_and_many_small_ones(tmp_path):
    large, small = numbers(400_001), [numbers(n % 5, seed=n) for n in range(3000)]
    with SpillFile(tmp_path) as file:
        file.append([large])
        position = file.append(small)
        assert np.array_equal(read_back(file, 0, large), large)
        together = np.concatenate(small)
        assert np.array_equal(read_back(file, position, together), together)


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
def test_system_calls_stay_below_the_limits(tmp_path, monkeypatch):
    assert spill.PIECE_BYTES * spill.PIECES_PER_CALL < (1 << 31) - 1
    assert os.sysconf("SC_IOV_MAX") >= spill.PIECES_PER_CALL
    monkeypatch.setattr(spill, "PIECE_BYTES", 1000)
    sizes, write, read = [], os.pwritev, os.preadv

    def record(call, descriptor, pieces, position):
        sizes.append((len(pieces), max(piece.nbytes for piece in pieces)))
        return call(descriptor, pieces, position)

    monkeypatch.setattr(os, "pwritev", lambda *arguments: record(write, *arguments))
    monkeypatch.setattr(os, "preadv", lambda *arguments: record(read, *arguments))
    array = numbers(300_000)
    with SpillFile(tmp_path) as file:
        file.append([array])
        assert np.array_equal(read_back(file, 0, array), array)
    assert max(sizes) == (1024, 1000)
    assert len(sizes) == 6


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
@pytest.mark.parametrize("at_most", [1, 7, 4096])
def test_system_calls_that_process_only_some_bytes(tmp_path, monkeypatch, at_most):
    write, read = os.pwritev, os.preadv

    def part(pieces):
        """The first bytes, across the border of two pieces."""
        left, parts = at_most, []
        for piece in pieces:
            parts.append(piece[:left])
            left -= len(parts[-1])
        return [piece for piece in parts if len(piece)]

    monkeypatch.setattr(os, "pwritev", lambda descriptor, pieces, position: write(descriptor, part(pieces), position))
    monkeypatch.setattr(os, "preadv", lambda descriptor, pieces, position: read(descriptor, part(pieces), position))
    arrays = [numbers(3), np.arange(5, dtype=np.uint8), numbers(0), numbers(600)]
    with SpillFile(tmp_path) as file:
        file.append(arrays)
        together = np.concatenate([array.view(np.uint8) for array in arrays])
        assert np.array_equal(read_back(file, 0, together), together)


# -------------------------------------------------------------------------------------------------------- threads


@pytest.mark.usefixtures("calls")
def test_appends_of_many_threads(tmp_path):
    n_threads, n_appends = 8, 60
    started = threading.Barrier(n_threads)

    def work(thread):
        started.wait(PATIENCE)
        places = []
        for turn in range(n_appends):
            array = numbers(1 + (turn * 37 + thread) % 500, seed=thread * n_appends + turn)
            places.append((file.append([array[:3], array[3:]]), array))
            # Other threads write at the same time.
            position, earlier = places[turn // 2]
            assert np.array_equal(read_back(file, position, earlier), earlier)
        return places

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with SpillFile(tmp_path) as file, ThreadPoolExecutor(n_threads) as pool:
            places = [place for found in pool.map(work, range(n_threads)) for place in found]
            for position, array in places:
                assert np.array_equal(read_back(file, position, array), array)
            assert file.bytes_written == sum(array.nbytes for _, array in places)
    finally:
        sys.setswitchinterval(interval)
    # No byte between two appends is unused.
    ends = sorted((position, position + array.nbytes) for position, array in places)
    assert [start for start, _ in ends] == [0, *(end for _, end in ends[:-1])]


@pytest.mark.usefixtures("calls")
def test_shared_attributes_are_used_under_the_lock(tmp_path, monkeypatch):
    class Watched(SpillFile):
        """A spill file that checks its lock whenever a shared attribute is used."""

        def __setattr__(self, name, value):
            assert name not in {"_end", "_users", "_bytes_written"} or not self.__dict__.get("begun") or self.locked()
            super().__setattr__(name, value)

        def __getattribute__(self, name):
            assert name not in {"_end", "_users"} or self.locked()
            return super().__getattribute__(name)

        def locked(self):
            return self._lock.locked()

    file, seek, seeks = Watched(tmp_path), os.lseek, []
    file.begun = True

    def seek_locked(*arguments):
        assert file.locked()
        seeks.append(arguments)
        return seek(*arguments)

    monkeypatch.setattr(os, "lseek", seek_locked)
    array = numbers(10)
    with file:
        assert file.append([array]) == 0
        assert np.array_equal(read_back(file, 0, array), array)
    assert not file.locked()
    assert len(seeks) == (0 if spill.HAS_POSITIONED_CALLS else 2)


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
@pytest.mark.parametrize("name", ["pwritev", "preadv"])
def test_threads_write_and_read_at_once(tmp_path, monkeypatch, name):
    call, meeting = getattr(os, name), threading.Barrier(2)

    def meet(*arguments):
        # The barrier breaks if the other thread waits for a lock.
        meeting.wait(5)
        return call(*arguments)

    array = numbers(100)
    with SpillFile(tmp_path) as file, ThreadPoolExecutor(2) as pool:
        if name == "preadv":
            file.append([array, array])
        monkeypatch.setattr(os, name, meet)
        if name == "pwritev":
            assert sorted(pool.map(file.append, [[array]] * 2)) == [0, array.nbytes]
        else:
            assert all(np.array_equal(found, array) for found in pool.map(read_back, [file] * 2, [0, 800], [array] * 2))


@pytest.mark.skipif(not spill.HAS_POSITIONED_CALLS, reason="no calls with a position here")
def test_close_waits_for_a_running_write(tmp_path, monkeypatch):
    write, running, closed, descriptors = os.pwritev, threading.Event(), threading.Event(), []

    def slow(descriptor, *arguments):
        descriptors.append(descriptor)
        running.set()
        assert closed.wait(PATIENCE)
        os.fstat(descriptor)
        return write(descriptor, *arguments)

    monkeypatch.setattr(os, "pwritev", slow)
    file = SpillFile(tmp_path)
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(file.append, [numbers(10)])
        assert running.wait(PATIENCE)
        file.close()
        assert_raises(ValueError, "closed", file.append, [numbers(1)])
        closed.set()
        assert future.result() == 0
    assert_raises(OSError, "Bad file descriptor", os.fstat, descriptors[0])


# -------------------------------------------------------------------------------------------- no file is left


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))


@pytest.mark.usefixtures("making")
def test_nothing_happens_before_the_first_append(tmp_path, monkeypatch):
    made = []
    monkeypatch.setattr(spill, "open_unnamed", lambda folder: made.append(folder))
    with SpillFile(tmp_path / "nowhere") as file:
        assert file.append([]) == file.append([np.empty(0)]) == 0
        file.read(0, np.empty(0))
        assert file.bytes_written == 0
    assert not made
    assert not list(tmp_path.iterdir())


@posix_only
@pytest.mark.usefixtures("making")
def test_the_file_has_no_name(tmp_path):
    with SpillFile(tmp_path) as file:
        file.check_folder()
        assert not list(tmp_path.iterdir())
        file.append([numbers(1000)])
        assert not list(tmp_path.iterdir())
        status = os.fstat(file._descriptor)
        assert (status.st_nlink, status.st_size) == (0, 8000)
        assert status.st_mode & 0o777 == 0o600
        assert not os.get_inheritable(file._descriptor)


@linux_only
@pytest.mark.usefixtures("making")
def test_no_descriptor_stays_open(tmp_path):
    gc.collect()
    before = open_descriptors()
    for turn in range(5):
        file = SpillFile(tmp_path)
        file.check_folder()
        assert open_descriptors() == before
        file.append([numbers(10)])
        file.append([numbers(10)])
        assert open_descriptors() == before + 1
        if turn % 2:
            file.close()
            file.close()
        else:
            # Deleted without close.
            del file
            gc.collect()
        assert open_descriptors() == before
        with pytest.raises(SpillError), SpillFile(tmp_path / "nowhere") as file:
            file.append([numbers(10)])
        with pytest.raises(ValueError, match="C-contiguous"), SpillFile(tmp_path) as file:
            file.append([numbers(10)]) or file.append([numbers(10)[::2]])
        assert open_descriptors() == before


@posix_only
def test_a_file_that_cannot_be_unlinked(tmp_path, monkeypatch):
    unlink, refused = os.unlink, []

    def refuse_once(path):
        if not refused:
            refused.append(path)
            raise OSError(errno.ETXTBSY, "Text file busy")
        unlink(path)

    monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    monkeypatch.setattr(os, "unlink", refuse_once)
    with pytest.raises(SpillError, match=r"^spilling to folder '.*': Text file busy \(give another folder"):
        SpillFile(tmp_path).check_folder()
    assert refused
    assert not list(tmp_path.iterdir())


def test_a_closed_file(tmp_path):
    file = SpillFile(tmp_path)
    file.append([numbers(3)])
    file.close()
    file.close()
    assert file.bytes_written == 24
    assert_raises(ValueError, "the spill file is closed", file.append, [numbers(3)])
    assert_raises(ValueError, "the spill file is closed", file.read, 0, numbers(3))


@pytest.mark.usefixtures("calls")
def test_a_file_can_be_used_after_an_error(tmp_path, monkeypatch):
    write_some, failing = SpillFile._write_some, [errno.ENOSPC, errno.EDQUOT, errno.EIO]

    def fail(*arguments):
        if failing:
            raise OSError(failing[0], os.strerror(failing.pop(0)))
        return write_some(*arguments)

    monkeypatch.setattr(SpillFile, "_write_some", fail)
    array = numbers(1000)
    with SpillFile(tmp_path) as file:
        for reason in ("no space is left", "the disk quota is used up", os.strerror(errno.EIO)):
            assert_raises(SpillError, rf"{reason} after 0 bytes; 8,000 more were needed", file.append, [array])
        assert file.bytes_written == 0
        position = file.append([array])
        assert file.bytes_written == array.nbytes
        assert np.array_equal(read_back(file, position, array), array)


def test_a_system_that_writes_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(SpillFile, "_write_some", lambda *_: 0)
    with pytest.raises(SpillError, match="wrote nothing and reported no error after 0 bytes; 16 more"):
        SpillFile(tmp_path).append([numbers(2)])


# ------------------------------------------------------------------------------------------------------- misuse


def test_reading_beyond_the_end(tmp_path):
    with SpillFile(tmp_path) as file:
        assert_raises(SpillError, "reading back: the file ends at byte 0, 8 bytes too soon", file.read, 0, np.empty(1))
        file.append([np.ones(10)])
        with pytest.raises(SpillError, match="reading back: the file ends at byte 80, 16 bytes too soon") as caught:
            file.read(40, np.empty(7))
    assert caught.value.errno == errno.EIO


@posix_only
def test_a_read_error(tmp_path, monkeypatch):
    def fail(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(SpillFile, "_read_some", fail)
    with SpillFile(tmp_path) as file:
        file.append([np.ones(10)])
        assert_raises(SpillError, "': reading back at byte 16: Input/output error", file.read, 16, np.empty(7))


def test_arrays_that_are_not_allowed(tmp_path):
    grid, frozen = np.ones((4, 6)), np.ones(3)
    frozen.flags.writeable = False
    with SpillFile(tmp_path) as file:
        for array in (grid[:, ::2], grid.T, np.array([object()])):
            assert_raises(
                ValueError, "C-contiguous arrays without Python objects; found dtype", file.append, [grid, array]
            )
            assert_raises(ValueError, "C-contiguous", file.read, 0, array)
        assert file.append([frozen]) == 0
        assert_raises(ValueError, "must be writeable", file.read, 0, frozen)


def test_errors_can_be_pickled():
    error = pickle.loads(pickle.dumps(SpillError(errno.ENOSPC, "no space", "/x")))
    assert (type(error), error.errno, error.filename, str(error)) == (SpillError, errno.ENOSPC, "/x", "no space")
    assert isinstance(error, OSError)
    assert str(SpillError("without a number")) == "without a number"
