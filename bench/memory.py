"""Peak memory of `evaluate`, measured in a new process each time.

    python bench/memory.py LOG.parquet [METRICS MEMORY_LIMIT]      prints the peak in bytes

The baseline is a process that evaluates a tiny log: it imports the same modules and starts the same threads.
"""

import subprocess
import sys
from pathlib import Path

METRICS = ["auc", "gauc", "logloss", "ne", "copc"]


def peak_of_evaluate(path: Path, metrics: list[str] = METRICS, memory_limit: str | None = None) -> int:
    """Peak bytes of a new process that evaluates the log."""
    arguments = [str(path), ",".join(metrics), *([] if memory_limit is None else [memory_limit])]
    run = subprocess.run([sys.executable, __file__, *arguments], check=True, capture_output=True, text=True)
    return int(run.stdout)


def peak_of_this_process() -> int:
    """Largest resident set so far, in bytes.

    On Linux, the peak of getrusage survives exec: the child of a large process starts with the peak of its parent.
    VmHWM starts anew.
    """
    status = Path("/proc/self/status")
    if status.exists():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return 1024 * int(line.split()[1])
    import resource

    unit = 1 if sys.platform == "darwin" else 1024
    return unit * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


if __name__ == "__main__":
    import fastmetrics

    log, metrics, *limit = sys.argv[1:]
    fastmetrics.evaluate(
        log, metrics, label="click", score="pctr", group="user_id", memory_limit=limit[0] if limit else None
    )
    print(peak_of_this_process())
