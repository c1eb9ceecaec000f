"""Write docs/report.png, the page of a report as the README shows it.

    python tools/report_picture.py ../shared/data/msweb/visits.parquet

The log is one week of visits to the pages of a site (Anonymous Microsoft Web Data, UCI). Its column `score` is a model
of co-visits; beside it stands a rule anybody would try first: how popular a page is, counted from visits of the other
half of the users, so that no user is judged by a count that has his own visits in it. Needs Debian's chromium.
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

PICTURE = Path(__file__).resolve().parents[1] / "docs" / "report.png"
METRICS = "auc,gauc,ndcg@10"
TIERS = ((10, "top 10"), (50, "11 to 50"))
WIDTH, HEIGHT = 1000, 1675


def popularity(users: np.ndarray, items: np.ndarray, visited: np.ndarray) -> np.ndarray:
    """For every row the share of the other half's users that visited its page."""
    half = users % 2
    shares = np.zeros((2, int(items.max()) + 1))
    for own in (0, 1):
        other = half != own
        seen = np.bincount(items[other], minlength=shares.shape[1])
        shares[own] = np.bincount(items[other], visited[other], shares.shape[1]) / np.maximum(seen, 1)
    return shares[half, items]


def prepared(path: Path) -> pa.Table:
    log = pq.read_table(path)
    users, items, visited = (log[name].to_numpy() for name in ("user_id", "item_id", "label"))
    order = np.argsort(-np.bincount(items, visited), kind="stable")
    ranks = np.argsort(order, kind="stable")[items]
    tiers = np.full(len(items), "others", dtype=object)
    for most, name in reversed(TIERS):
        tiers[ranks < most] = name
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
    parser.add_argument("--html", type=Path, help="keep the page here too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        log, page = Path(folder, "visits.parquet"), (given.html or Path(folder, "report.html")).absolute()
        pq.write_table(prepared(given.log), log)
        columns = ["--label", "visited", "--score", "co_visits", "--score", "popularity", "--group", "user_id"]
        asked = ["--by", "page", "--metrics", METRICS, "--ci", "95", "--html", str(page)]
        subprocess.run([sys.executable, "-m", "fastmetrics", "evaluate", str(log), *columns, *asked], check=True)
        browser = ["chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
        options = [f"--user-data-dir={folder}/profile", f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={PICTURE}"]
        subprocess.run([*browser, *options, "--blink-settings=preferredColorScheme=1", page.as_uri()], check=True)


if __name__ == "__main__":
    main()
