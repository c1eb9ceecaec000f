"""Both ways to make a spill file, for the tests of spill files."""

import os

import pytest


@pytest.fixture(params=["O_TMPFILE", "unlinked"])
def making(request, monkeypatch):
    """Both ways to make a file without a name: O_TMPFILE, and unlink after opening."""
    if request.param == "unlinked":
        monkeypatch.delattr(os, "O_TMPFILE", raising=False)
    elif not hasattr(os, "O_TMPFILE"):
        pytest.skip("no O_TMPFILE here")
