"""Copies of streams in temporary files: a full disk is an error with numbers, and nothing is left behind."""

import errno
import os
import shutil
import sys

import pytest

from fastmetrics._core.exchange.spill import SpillError
from fastmetrics.engine.input import temporary_copy
from fastmetrics.engine.input.temporary_copy import TemporaryCopy
from support.cases import assert_raises, each_case

MIB = 1 << 20


@pytest.fixture
def copy(tmp_path, monkeypatch):
    """A copy to a disk on which 5 MiB are free."""
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: shutil._ntuple_diskusage(9 * MIB, 4 * MIB, 5 * MIB))
    return TemporaryCopy("copying a stream to", str(tmp_path), "give a file")


def test_space_is_checked_before_bytes_are_written(copy, tmp_path):
    copy.check_space(5 * MIB)
    message = f"^copying a stream to folder '{tmp_path}': not enough space; 6 MiB are needed there, and 5 MiB are free "
    assert_raises(SpillError, message + r"\(give a file\)$", copy.check_space, 6 * MIB)
    with copy.writing(2 * MIB):
        pass
    with pytest.raises(SpillError, match="not enough space after 2 MiB; 8 MiB more are needed there") as caught:
        copy.writing(8 * MIB).__enter__()
    assert (caught.value.errno, caught.value.filename) == (errno.ENOSPC, str(tmp_path))


@each_case(("code", "reason"), [
    (errno.ENOSPC, "no space is left"), (errno.EDQUOT, "the disk quota is used up"),
    (errno.EIO, os.strerror(errno.EIO)),
])  # fmt: skip
def test_a_write_that_fails(copy, code, reason):
    message = f"': {reason}; 1 MiB are needed there, and 5 MiB are free"
    with pytest.raises(SpillError, match=message) as caught, copy.writing(MIB):
        raise OSError(code, os.strerror(code))
    assert caught.value.errno == code


@pytest.mark.parametrize("has_links", [sys.platform == "linux", False])
def test_the_file_is_gone_after_the_block(copy, tmp_path, monkeypatch, has_links):
    if not has_links:
        exists = os.path.exists
        monkeypatch.setattr(
            temporary_copy.os.path, "exists", lambda path: not path.startswith("/proc/") and exists(path)
        )
    with copy.path() as path:
        with open(path, "wb") as opened:
            opened.write(b"rows")
        with open(path, "rb") as opened:
            assert opened.read() == b"rows"
        # Without a name nothing is left of a process that is killed here.
        assert len(os.listdir(tmp_path)) == (not has_links)
    assert os.listdir(tmp_path) == []
    with pytest.raises(ValueError, match="not made"), copy.path():
        raise ValueError("not made")
    assert os.listdir(tmp_path) == []


def test_a_folder_that_is_missing(tmp_path):
    copy = TemporaryCopy("copying a stream to", str(tmp_path / "nowhere"), "give a file")
    with pytest.raises(SpillError, match=r"nowhere': there is no such folder \(give a file\)"):
        copy.path().__enter__()
