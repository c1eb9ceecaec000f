"""Options and fixtures of the benchmarks, and the content of their JSON: one record per pair, without raw times."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bench import workloads
from bench.machine import describe_machine, load_average, versions
from bench.timing import Timing

RECORD_FIELDS = ("work", "contestant", "ours", "peer", "unit", "note", "cores_of_others")
LOAD_BEFORE = pytest.StashKey[float | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rows", type=int, default=10_000_000, help="rows of the large workloads (default: 10 million)")
    parser.addoption("--log-rows", type=int, default=None, help="rows of the log under a memory limit (default: 10x)")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LOAD_BEFORE] = load_average()


@pytest.fixture(scope="session")
def rows(pytestconfig: pytest.Config) -> int:
    return pytestconfig.getoption("--rows")


@pytest.fixture(scope="session")
def log_rows(pytestconfig: pytest.Config, rows: int) -> int:
    return pytestconfig.getoption("--log-rows") or 10 * rows


@pytest.fixture
def timing(benchmark: Any, rows: int) -> Timing:
    """Measures one call of fastmetrics, alone or in turns with a peer."""
    return Timing(benchmark, rows)


@pytest.fixture(scope="module")
def clicks(rows: int) -> workloads.Clicks:
    """Columns of clicks, made again for every file: all files at once would need gigabytes."""
    return workloads.clicks(rows)


def pytest_benchmark_generate_machine_info(config: pytest.Config) -> dict[str, object]:
    return describe_machine()


def pytest_benchmark_update_json(config: pytest.Config, benchmarks: list[Any], output_json: dict[str, Any]) -> None:
    records = [
        {"file": entry["fullname"].partition("::")[0], "test": entry["name"]}
        | {key: entry["extra_info"].get(key) for key in RECORD_FIELDS}
        for entry in output_json["benchmarks"]
    ]
    commit = output_json["commit_info"]
    machine = output_json["machine_info"]
    output_json.clear()
    output_json |= {
        "schema": 2,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": {"id": commit.get("id"), "dirty": commit.get("dirty")},
        "rows": config.getoption("--rows"),
        "machine": machine,
        "load_average": {"before": config.stash[LOAD_BEFORE], "after": load_average()},
        "versions": versions(),
        "benchmarks": records,
    }
