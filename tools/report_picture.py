"""Write docs/report.png, the HTML report that the README shows.

    python tools/report_picture.py ../shared/data/msweb/visits.parquet

The log is one week of visits to the pages of a site (Anonymous Microsoft Web Data, UCI). Its column `score` is a model
of co-visits. The second model is a simple baseline: the popularity of a page, counted in the other half of the users,
so that no count includes the user's own visits. Needs Debian's chromium.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

SCREENSHOT = Path(__file__).resolve().parents[1] / "docs" / "report.png"
METRICS = "auc,gauc,ndcg@10"
TIERS = ((10, "top 10"), (50, "11 to 50"))
WIDTH, HEIGHT = 620, 1180


def popularity(users: np.ndarray, items: np.ndarray, visited: np.ndarray) -> np.ndarray:
    """For each row, the share of users in the other half that visited its page."""
    half = users % 2
    shares = np.zeros((2, int(items.max()) + 1))
    for target_half in (0, 1):
        other = half != target_half
        rows_of_item = np.bincount(items[other], minlength=shares.shape[1])
        visits_of_item = np.bincount(items[other], visited[other], shares.shape[1])
        shares[target_half] = visits_of_item / np.maximum(rows_of_item, 1)
    return shares[half, items]


def prepare_log(path: Path) -> pa.Table:
    """The log with both models and a column of popularity tiers."""
    log = pq.read_table(path)
    users, items, visited = (log[name].to_numpy() for name in ("user_id", "item_id", "label"))
    order = np.argsort(-np.bincount(items, visited), kind="stable")
    ranks = np.argsort(order, kind="stable")[items]
    tiers = np.full(len(items), "others", dtype=object)
    for last_rank, name in reversed(TIERS):
        tiers[ranks < last_rank] = name
    return pa.table(
        {
            "user_id": users,
            "visited": visited,
            "co_visits": log["score"],
            "popularity": popularity(users, items, visited),
            "page": tiers,
        }
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("log", type=Path)
    parser.add_argument("--html", type=Path, help="write the page here too")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, page = Path(folder, "visits.parquet"), (arguments.html or Path(folder, "report.html")).absolute()
        pq.write_table(prepare_log(arguments.log), log)
        columns = ["--label", "visited", "--score", "co_visits", "--score", "popularity", "--group", "user_id"]
        options = ["--by", "page", "--metrics", METRICS, "--ci", "95", "-o", str(page)]
        subprocess.run([sys.executable, "-m", "fastmetrics", "evaluate", str(log), *columns, *options], check=True)
        browser = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        window = [f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={SCREENSHOT}"]
        subprocess.run([*browser, *window, "--blink-settings=preferredColorScheme=1", page.as_uri()], check=True)


if __name__ == "__main__":
    main()
