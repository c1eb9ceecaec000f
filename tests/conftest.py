"""Fixtures of all tests: the folder of real data, and the hypothesis profiles.

Hypothesis runs a quick, derandomized profile by default: a test draws the same in each run. A longer random search:
`FASTMETRICS_HYPOTHESIS=thorough pytest`.
"""

import functools
import gc
import os
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.configuration import set_hypothesis_home_dir
from hypothesis.internal.conjecture import providers

REPOSITORY = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("FASTMETRICS_DATA", REPOSITORY.parent / "shared" / "data"))

# ranx as plain Python: to compile it takes most of a minute. numba reads this when it is imported, by whoever is first.
os.environ["NUMBA_DISABLE_JIT"] = "1"

if not os.access(Path(__file__).parents[1], os.W_OK):
    # Where the folder is read-only, hypothesis would warn that it has no place for what it finds.
    HYPOTHESIS_HOME = tempfile.TemporaryDirectory(prefix="fastmetrics-hypothesis-")
    set_hypothesis_home_dir(HYPOTHESIS_HOME.name)
settings.register_profile(
    "quick", max_examples=20, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("thorough", parent=settings.get_profile("quick"), max_examples=2000, derandomize=False)
PROFILE = os.environ.get("FASTMETRICS_HYPOTHESIS", "quick")
settings.load_profile(PROFILE)
if PROFILE == "quick":
    # Hypothesis draws constants that it finds in the modules loaded so far: draws would depend on the tests before.
    providers._get_local_constants = lambda: providers._local_constants

# Workers and subprocesses keep what they compile: a command starts in half the time.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

MARKERS = ("smoke", "spark", "wordnet", "browser", "release", "real_data", "peers", "slow")
ONLY_NAMED = ("fuzz", "site", "conformance")  # tests with these markers run only where -m names them
# A marker that follows from a fixture, or from what the test's module imports from here.
OF_FIXTURES = {"spark": "spark", "data_folder": "real_data"}
OF_PEERS = {"support.peers", "support.parity.cases", "support.parity.differences"}
# These files share the cache of mypy.
OF_TYPES = {"tests/tools/test_new_metric.py", "tests/common/test_typing.py"}


def pytest_configure(config: pytest.Config) -> None:
    """Under pytest-xdist, groups of tests start in the order of `pytest_collection_modifyitems`."""
    config.option.loadscopereorder = False


@pytest.hookimpl(tryfirst=True)  # pytest-xdist reads the groups in its own hook
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the markers that can be seen from outside. What takes long comes first, so that no worker ends with it."""
    not_named = [marker for marker in ONLY_NAMED if marker not in config.option.markexpr]
    left_out = [item for item in items if any(item.get_closest_marker(marker) for marker in not_named)]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)
    for item in items:
        found = {marker for fixture, marker in OF_FIXTURES.items() if fixture in item.fixturenames}
        if compares_with_peers(item.module):
            found.add("peers")
        for name in sorted(found):
            item.add_marker(name)
        item.user_properties.append(("markers", [name for name in MARKERS if item.get_closest_marker(name)]))
    if hasattr(config, "workerinput"):  # in a worker of pytest-xdist
        items.sort(key=lambda item: not {"slow", "spark"}.intersection(dict(item.user_properties)["markers"]))
        for item in items:
            item.add_marker(pytest.mark.xdist_group(group_of(item)))


def pytest_collection_finish() -> None:
    """What exists now lives as long as the run: the garbage collector need not search it again and again."""
    gc.freeze()


@functools.cache
def compares_with_peers(module: ModuleType) -> bool:
    """Does it import from one of `OF_PEERS`?"""
    return not OF_PEERS.isdisjoint(getattr(own, "__module__", None) or "" for own in vars(module).values())


def group_of(item: pytest.Item) -> str:
    """For `pytest -n 2 --dist loadgroup`: one worker has a file's tests, and so makes its fixtures once.

    One worker has all tests of Spark, whose session takes ten seconds and a gigabyte, one those of the store, and one
    those that run mypy. Slow tests are spread, if the test has the marker and not its file.
    """
    if "store" in item.fixturenames:
        return "store"
    if item.get_closest_marker("spark"):
        return "spark"
    if any(own.name == "slow" for own in item.own_markers):
        return item.nodeid
    # pytest-xdist adds the group to the test's id, from which hypothesis draws: the same in each folder.
    path = item.path.relative_to(item.config.rootpath).as_posix()
    return "types" if path in OF_TYPES else path


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Tests and seconds of each marker, summed over all workers. A test with several markers counts for each."""
    reports = [own for kind in terminalreporter.stats.values() for own in kind if isinstance(own, pytest.TestReport)]
    terminalreporter.section("tests and seconds of each marker")
    for marker in (*MARKERS, "none", "all"):
        chosen = [own for own in reports if marker in (*(dict(own.user_properties).get("markers") or ["none"]), "all")]
        tests, seconds = len({own.nodeid for own in chosen}), sum(own.duration for own in chosen)
        terminalreporter.write_line(f"{marker:<10}{tests:>7,}{seconds:>9,.1f} s")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """For `pytest -m smoke`: do not import files without a smoke test. Importing all files takes half a minute."""
    if config.option.markexpr != "smoke" or not collection_path.name.startswith("test_"):
        return None
    return None if "mark.smoke" in collection_path.read_text(encoding="utf-8") else True


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local session with two worker threads; the test is skipped if Spark cannot run."""
    from support import spark_sessions

    spark_sessions.require_spark()
    with spark_sessions.spark_session(tmp_path_factory.mktemp("spark")) as session:
        yield session


@pytest.fixture(scope="session")
def store() -> Iterator[Any]:
    """A running store with the protocol of S3, on loopback."""
    from support.files.stores import run_store

    with run_store() as running:
        yield running


@pytest.fixture(scope="session")
def types_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What mypy found about the package, for all tests of types. A run without it takes half a minute."""
    known = os.environ.get("MYPY_CACHE_DIR")
    return Path(known) if known else tmp_path_factory.mktemp("types")


@pytest.fixture
def scaled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small logs take the paths of large ones: see `scale_down`."""
    from support.states.spilled_logs import scale_down

    scale_down(monkeypatch)


@pytest.fixture
def change_table_seeds() -> Iterator[Callable[[int], None]]:
    """A function that changes the words on which the hashes of tables depend. No table may live meanwhile."""
    from fastmetrics._kernels.numeric.table_seeds import SEEDS

    words = list(SEEDS)

    def change(seed: int) -> None:
        generator = random.Random(seed)
        for number in range(len(words)):
            SEEDS[number] = generator.getrandbits(64)

    yield change
    for number, word in enumerate(words):
        SEEDS[number] = word


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data (see its README); the test is skipped if it is absent."""
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
