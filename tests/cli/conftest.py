"""A log for the tests of commands."""

from pathlib import Path

import pytest

from support.command_line import run


@pytest.fixture(scope="session")
def click_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twenty thousand rows of the synthetic log."""
    path = tmp_path_factory.mktemp("logs") / "clicks.parquet"
    done = run("sample-log", path, "--rows", 20_000, "--users", 900, folder=path.parent)
    assert done.returncode == 0, done.stderr
    return path
