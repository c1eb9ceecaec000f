"""What the numbers were measured on and with."""

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

    found = {"fastmetrics": fastmetrics.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


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
    """How many cores other processes kept busy since this was made. The load average counts ours too."""

    def __init__(self) -> None:
        self.start = self.clocks()

    def cores(self) -> float | None:
        now = self.clocks()
        if now is None or self.start is None:
            return None
        wall, busy, own = (after - before for after, before in zip(now, self.start, strict=True))
        return round(max(0.0, (busy - own) / wall), 2) if wall > 0 else None

    @staticmethod
    def clocks() -> tuple[float, float, float] | None:
        """Seconds: of the wall, of all cores that were not idle (stolen ones too), of this process and its children."""
        status = Path("/proc/stat")
        if not status.exists():
            return None
        user, nice, system, _idle, _waiting, *interrupts = map(int, status.read_text().split("\n", 1)[0].split()[1:9])
        ticks = user + nice + system + sum(interrupts)
        times = os.times()
        return times.elapsed, ticks / os.sysconf("SC_CLK_TCK"), sum(times[:4])


def load_average() -> float | None:
    """Of the last minute. More than the cores used by the benchmark itself: somebody else was at work."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None
