"""What every test file shares: the real data's folder and the hypothesis profiles.

Hypothesis runs a quick, derandomised profile by default, so that CI is stable. A longer random hunt:
`FASTMETRICS_HYPOTHESIS=thorough pytest`.
"""

import os
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("FASTMETRICS_DATA", REPOSITORY.parent / "shared" / "data"))

settings.register_profile(
    "quick", max_examples=60, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=2000, derandomize=False)
settings.load_profile(os.environ.get("FASTMETRICS_HYPOTHESIS", "quick"))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """For `pytest -n 2 --dist loadgroup`: what is slow to start is started by one worker only.

    ranx compiles itself for most of a minute; a Spark session takes ten seconds and a gigabyte.
    """
    if not config.pluginmanager.hasplugin("xdist"):
        return
    for item in items:
        words = (item.name, item.path.name)
        for group in ("ranx", "spark"):
            if any(group in word for word in words):
                item.add_marker(pytest.mark.xdist_group(group))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data (see its README); the test is skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip(f"no real data at {DATA}: set FASTMETRICS_DATA to its folder")
    return DATA


@pytest.fixture(scope="session")
def visits_path(data_folder: Path) -> Path:
    """Anonymous Microsoft Web Data as a Parquet log: user_id item_id label score."""
    path = data_folder / "msweb" / "visits.parquet"
    if not path.is_file():
        pytest.skip(f"no {path}")
    return path


@pytest.fixture(scope="session")
def visits(visits_path: Path) -> dict[str, np.ndarray]:
    """The same log as NumPy arrays, one per column."""
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(visits_path)
    return {name: table[name].to_numpy() for name in table.column_names}


class Translations(NamedTuple):
    """WMT17 English-German: the reference and three systems, a segment each line."""

    reference: list[str]
    systems: dict[str, list[str]]
    folder: Path


@pytest.fixture(scope="session")
def wmt(data_folder: Path) -> Translations:
    """Real translations, 3,004 segments each."""
    folder = data_folder / "wmt17_ende"
    if not folder.is_dir():
        pytest.skip(f"no {folder}")

    def lines(path: Path) -> list[str]:
        return path.read_text(encoding="utf-8").removesuffix("\n").split("\n")

    systems = {path.name.split(".")[1]: lines(path) for path in sorted(folder.glob("newstest2017.*"))}
    return Translations(lines(folder / "ref0.txt"), systems, folder)
