"""The option, the fixtures, and what the JSON holds: one small record per pair, not every raw timing."""

from datetime import UTC, datetime
from typing import Any

import pytest

from bench import workloads
from bench.machine import describe_machine, load_average, versions
from bench.race import Race

RECORD_FIELDS = ("work", "contestant", "ours", "peer", "target", "note", "cores_of_others")
FILES = (
    "test_auc", "test_auc_intervals", "test_delong", "test_curves", "test_classification", "test_probability",
    "test_regression", "test_gauc", "test_clustering",
    "test_mutual_information", "test_silhouette", "test_detection", "test_coco_files",
    "test_voc",
    "test_rankings", "test_label_ranking", "test_runs", "test_trec", "test_bleu", "test_chrf", "test_nist",
    "test_rouge", "test_meteor", "test_ter", "test_tokenizers", "test_text_files", "test_text_engine",
    "test_partitions_engine", "test_masks", "test_significance", "test_sign_flips", "test_run_comparison",
    "test_text_comparison", "test_intervals", "test_coverage", "test_small", "test_evaluate", "test_scale",
    "test_spark",
)  # fmt: skip
LOAD_BEFORE = pytest.StashKey[float | None]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--rows", type=int, default=10_000_000, help="rows of the large workloads (default: 10 million)")
    parser.addoption("--log-rows", type=int, default=None, help="rows of the log under a memory limit (default: 10x)")


def pytest_configure(config: pytest.Config) -> None:
    config.stash[LOAD_BEFORE] = load_average()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The table's rows stand in the order of the tests: functions first, the main job last."""
    items.sort(key=lambda item: FILES.index(item.path.stem) if item.path.stem in FILES else len(FILES))


@pytest.fixture(scope="session")
def rows(pytestconfig: pytest.Config) -> int:
    return pytestconfig.getoption("--rows")


@pytest.fixture(scope="session")
def log_rows(pytestconfig: pytest.Config, rows: int) -> int:
    return pytestconfig.getoption("--log-rows") or 10 * rows


@pytest.fixture
def race(benchmark: Any, rows: int) -> Race:
    return Race(benchmark, rows)


@pytest.fixture(scope="module")
def clicks(rows: int) -> workloads.Clicks:
    """Made again for every file: ten million rows of everything at once would be gigabytes."""
    return workloads.clicks(rows)


def pytest_benchmark_generate_machine_info(config: pytest.Config) -> dict[str, object]:
    return describe_machine()


def pytest_benchmark_update_json(config: pytest.Config, benchmarks: list[Any], output_json: dict[str, Any]) -> None:
    records = [
        {"test": entry["name"]} | {key: entry["extra_info"].get(key) for key in RECORD_FIELDS}
        for entry in output_json["benchmarks"]
    ]
    commit = output_json["commit_info"]
    machine = output_json["machine_info"]
    output_json.clear()
    output_json |= {
        "schema": 1,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": {"id": commit.get("id"), "dirty": commit.get("dirty")},
        "rows": config.getoption("--rows"),
        "machine": machine,
        "load_average": {"before": config.stash[LOAD_BEFORE], "after": load_average()},
        "versions": versions(),
        "benchmarks": records,
    }
