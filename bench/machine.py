"""The machine and the versions of packages that a run was measured with."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = (
    "numpy", "pyarrow", "scikit-learn", "polars", "duckdb", "pytrec_eval-terrier", "ranx", "sacrebleu", "rouge-score",
    "nltk", "scipy", "statsmodels", "pycocotools", "faster-coco-eval", "pyspark",
    "pytest-benchmark",
)  # fmt: skip


def describe_machine() -> dict[str, object]:
    return {
        "cpu": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "memory_gb": memory_gigabytes(),
        "system": f"{platform.system()} {platform.machine()}",
    }


def versions() -> dict[str, str]:
    import fastmetrics

    by_package = {"fastmetrics": fastmetrics.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            by_package[package] = version(package)
        except PackageNotFoundError:
            by_package[package] = "not installed"
    return by_package


def processor() -> str:
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def memory_gigabytes() -> float | None:
    try:
        return round(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9, 1)
    except (AttributeError, ValueError, OSError):
        return None


class OtherWork:
    """Counts the cores that other processes keep busy. The load average would count this process too."""

    def __init__(self) -> None:
        self.start = self.clocks()

    def cores(self) -> float | None:
        """Mean number of busy cores since this object was made."""
        now = self.clocks()
        if now is None or self.start is None:
            return None
        wall, busy, own = (after - before for after, before in zip(now, self.start, strict=True))
        return round(max(0.0, (busy - own) / wall), 2) if wall > 0 else None

    @staticmethod
    def clocks() -> tuple[float, float, float] | None:
        """Seconds of wall time, of all busy cores (with stolen time), and of this process and its children."""
        status = Path("/proc/stat")
        if not status.exists():
            return None
        user, nice, system, _idle, _waiting, *interrupts = map(int, status.read_text().split("\n", 1)[0].split()[1:9])
        ticks = user + nice + system + sum(interrupts)
        times = os.times()
        return times.elapsed, ticks / os.sysconf("SC_CLK_TCK"), sum(times[:4])


def load_average() -> float | None:
    """The load average of the last minute. If it exceeds the benchmark's own cores, other processes were running."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
