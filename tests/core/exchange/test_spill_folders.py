"""Folders of spill files: the default one, and those that do not exist or cannot have files."""

import errno
import os
import tempfile
from pathlib import Path

import numpy as np
import pytest

from fastmetrics._core.exchange import spill
from fastmetrics._core.exchange.spill import SpillError, SpillFile
from support.cases import assert_raises, each_case
from support.subprocesses import linux_only, posix_only


def refusal(folder):
    """The error of check_folder, which is also that of the first append."""
    file = SpillFile(folder)
    with pytest.raises(SpillError) as checked:
        file.check_folder()
    with pytest.raises(SpillError) as appended:
        file.append([np.zeros(1)])
    assert str(checked.value) == str(appended.value)
    assert checked.value.filename == str(folder)
    return checked.value


@pytest.mark.usefixtures("making")
def test_missing_folders(tmp_path):
    (tmp_path / "file").touch()
    error = refusal(tmp_path / "nowhere")
    assert error.errno == errno.ENOENT
    assert str(error) == f"spilling to folder '{tmp_path / 'nowhere'}': there is no such folder ({spill.REMEDY})"
    if os.name == "posix":
        error = refusal(tmp_path / "file")
        assert error.errno == errno.ENOTDIR
        assert "': it is not a folder (give another folder with spill_dir=" in str(error)


@linux_only
@pytest.mark.usefixtures("making")
def test_a_folder_without_regular_files():
    # No user can make a file there. The kernel reports that the new file does not exist.
    assert "spilling to folder '/proc/self': there is no such folder" in str(refusal("/proc/self"))


@posix_only
@pytest.mark.usefixtures("making")
def test_a_folder_without_write_permission(tmp_path):
    tmp_path.chmod(0o500)
    try:
        if os.access(tmp_path, os.W_OK):
            pytest.skip("this user may write everywhere")
        error = refusal(tmp_path)
    finally:
        tmp_path.chmod(0o700)
    assert error.errno == errno.EACCES
    assert "no file may be made in it" in str(error)


@pytest.mark.parametrize("code", ["EACCES", "EPERM", "EROFS"])
def test_a_folder_with_a_permission_error(tmp_path, monkeypatch, code):
    def refuse(folder):
        raise OSError(getattr(errno, code), "in the system's words")

    monkeypatch.setattr(spill, "open_unnamed", refuse)
    error = refusal(tmp_path)
    assert error.errno == getattr(errno, code)
    assert f"'{tmp_path}': no file may be made in it (" in str(error)


def test_the_default_folder(tmp_path, monkeypatch):
    seen, open_unnamed = [], spill.open_unnamed
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(spill, "open_unnamed", lambda folder: seen.append(folder) or open_unnamed(folder))
    with SpillFile(None) as file:
        file.check_folder()
        file.append([np.zeros(1)])
    assert seen == [str(tmp_path)] * 2


def test_no_default_folder(monkeypatch):
    def fail():
        raise FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")

    monkeypatch.setattr(tempfile, "gettempdir", fail)
    with pytest.raises(SpillError, match=r"^spilling: No usable temporary directory .* give a folder with spill_dir="):
        SpillFile(None).check_folder()


def test_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    with SpillFile("~") as file:
        file.check_folder()
    assert_raises(SpillError, "nowhere", SpillFile(Path("~/nowhere")).check_folder)


@each_case("folder", [3, b"/tmp", ["/tmp"], object()])
def test_invalid_types_of_folder(folder):
    assert_raises(TypeError, r"^spill_dir must be the path of a folder; found .* of type \w+", SpillFile, folder)
