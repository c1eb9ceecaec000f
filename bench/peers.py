"""The same metrics with other libraries.

A peer is a function of columns. It prepares the library's own data (a data frame, a table) and returns the call that is
timed. A query that can be written in several ways is written in the fastest way we found. Libraries use their default
number of threads.
"""

from collections.abc import Callable
from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pyarrow.dataset
import pyarrow.parquet
from sklearn import metrics

from bench.workloads import LOG_COLUMNS

Call = Callable[[], object]

LOOP_USERS = 5000


def scikit_learn_auc(labels: np.ndarray, scores: np.ndarray) -> Call:
    return lambda: metrics.roc_auc_score(labels, scores)


def scikit_learn_log_loss(labels: np.ndarray, probabilities: np.ndarray) -> Call:
    return lambda: metrics.log_loss(labels, probabilities)


def scikit_learn_brier(labels: np.ndarray, probabilities: np.ndarray) -> Call:
    return lambda: metrics.brier_score_loss(labels, probabilities)


def polars_auc(labels: np.ndarray, scores: np.ndarray) -> Call:
    """AUC from the mean ranks of the positives (Mann and Whitney)."""
    frame = pl.DataFrame({"label": labels, "score": scores})
    positives, rows = pl.col("label").sum(), pl.len()
    rank_sum = pl.col("score").rank("average").filter(pl.col("label") == 1).sum()
    auc = (rank_sum - positives * (positives + 1) / 2) / (positives * (rows - positives))
    return lambda: frame.select(auc).item()


def polars_gauc(labels: np.ndarray, scores: np.ndarray, users: object) -> Call:
    """GAUC from the mean ranks within each user."""
    log = pl.DataFrame({"user": users, "label": labels, "score": scores}).lazy()
    return polars_mean_over_users(log.with_columns(rank=pl.col("score").rank("average").over("user")), pl.col("rank"))


def polars_gauc_of_clicked(labels: np.ndarray, scores: np.ndarray, users: object) -> Call:
    """The same, without users that have no positive row. Most users have none, and then no AUC."""
    log = pl.DataFrame({"user": users, "label": labels, "score": scores}).lazy()
    clicked = log.filter(pl.col("label") == 1).select("user").unique()
    return polars_mean_over_users(log.join(clicked, on="user", how="semi"), pl.col("score").rank("average"))


def polars_mean_over_users(log: pl.LazyFrame, rank: pl.Expr) -> Call:
    positives, rows = pl.col("positives"), pl.col("rows")
    auc = (pl.col("rank_sum") - positives * (positives + 1) / 2) / (positives * (rows - positives))
    by_user = log.group_by("user").agg(
        positives=pl.col("label").sum(), rows=pl.len(), rank_sum=rank.filter(pl.col("label") == 1).sum()
    )
    both = by_user.filter((positives > 0) & (positives < rows))
    gauc = both.select((auc * rows).sum() / rows.sum())
    return lambda: gauc.collect().item()


def polars_ndcg_by_ranks(labels: np.ndarray, scores: np.ndarray, lists: np.ndarray) -> Call:
    """NDCG@10 from the ranks of scores and of labels within each list. No two scores are equal."""
    label, score_rank = pl.col("label"), pl.col("score_rank")
    log = pl.DataFrame({"list": lists, "label": labels, "score": scores}).lazy()
    ranked = log.with_columns(
        score_rank=pl.col("score").rank("ordinal", descending=True).over("list"),
        ideal_rank=label.rank("ordinal", descending=True).over("list"),
    )
    dcg, ideal = (
        (label / (rank + 1).log(2)).filter(rank <= 10).sum() for rank in (score_rank, pl.col("ideal_rank"))
    )
    by_list = ranked.group_by("list").agg(dcg=dcg, ideal=ideal)
    mean = by_list.select((pl.col("dcg") / pl.col("ideal")).fill_nan(0.0).mean())
    return lambda: mean.collect().item()


def polars_ndcg_by_sorting(labels: np.ndarray, scores: np.ndarray, lists: np.ndarray) -> Call:
    """NDCG@10 from the labels of each list, sorted by score and by label."""
    label = pl.col("label")
    log = pl.DataFrame({"list": lists, "label": labels, "score": scores}).lazy()
    weights = 1.0 / (pl.int_range(2, pl.min_horizontal(pl.len(), 10) + 2)).log(2)
    dcg = (label.sort_by("score", descending=True).head(10) * weights).sum()
    ideal = (label.sort(descending=True).head(10) * weights).sum()
    by_list = log.group_by("list").agg(dcg=dcg, ideal=ideal)
    mean = by_list.select((pl.col("dcg") / pl.col("ideal")).fill_nan(0.0).mean())
    return lambda: mean.collect().item()


POLARS_NDCG = {"polars, by ranks": polars_ndcg_by_ranks, "polars, by sorting": polars_ndcg_by_sorting}

# Tied rows share their mean rank: the mean of the first and the last rank of the tie.
GAUC_SQL = """
ranked AS (
    SELECT user_id, click,
           rank() OVER (PARTITION BY user_id ORDER BY pctr) AS first_rank,
           count(*) OVER (PARTITION BY user_id ORDER BY pctr RANGE UNBOUNDED PRECEDING) AS last_rank
    FROM log
),
by_user AS (
    SELECT sum(click)::DOUBLE AS p, count(*) AS n, sum((first_rank + last_rank) / 2.0) FILTER (click = 1) AS rank_sum
    FROM ranked GROUP BY user_id
),
grouped AS (
    SELECT sum(n * (rank_sum - p * (p + 1) / 2) / (p * (n - p))) / sum(n) AS gauc
    FROM by_user WHERE p > 0 AND p < n
)
"""

# Users without a positive row are dropped before rows are ranked.
CLICKED_GAUC_SQL = GAUC_SQL.replace("FROM log", "FROM log WHERE user_id IN (SELECT user_id FROM log WHERE click = 1)")

FIVE_SQL = f"""
WITH log AS (SELECT user_id, pctr, click::BIGINT AS click FROM read_parquet(?)),
ordered AS (
    SELECT click,
           rank() OVER (ORDER BY pctr) AS first_rank,
           count(*) OVER () + 1 - rank() OVER (ORDER BY pctr DESC) AS last_rank
    FROM log
),
overall AS (
    SELECT (sum((first_rank + last_rank) / 2.0) FILTER (click = 1) - sum(click) * (sum(click) + 1) / 2.0)
           / (sum(click) * (count(*) - sum(click))) AS auc
    FROM ordered
),
sums AS (
    SELECT avg(CASE WHEN click = 1 THEN -ln(pctr) ELSE -ln(1 - pctr) END) AS logloss,
           avg(click) AS ctr, sum(click) / sum(pctr) AS copc
    FROM log
),
{CLICKED_GAUC_SQL}
SELECT auc, gauc, logloss, logloss / -(ctr * ln(ctr) + (1 - ctr) * ln(1 - ctr)) AS ne, copc
FROM overall, grouped, sums
"""


def duckdb_gauc(labels: np.ndarray, scores: np.ndarray, users: object, sql: str = GAUC_SQL) -> Call:
    """GAUC in SQL, from a table inside DuckDB."""
    connection = duckdb.connect()
    columns = pl.DataFrame({"user_id": users, "click": labels, "pctr": scores}).to_arrow()
    connection.register("columns", columns)
    connection.execute("CREATE TABLE log AS SELECT * FROM columns")
    connection.unregister("columns")
    query = f"WITH {sql} SELECT gauc FROM grouped"
    return lambda: connection.execute(query).fetchone()[0]


def duckdb_gauc_of_clicked(labels: np.ndarray, scores: np.ndarray, users: object) -> Call:
    return duckdb_gauc(labels, scores, users, CLICKED_GAUC_SQL)


def duckdb_five(path: Path) -> Call:
    """auc, gauc, logloss, ne and copc of a Parquet log in one statement."""
    connection = duckdb.connect()
    return lambda: connection.execute(FIVE_SQL, [str(path)]).fetchone()


class UserLoop:
    """GAUC as a loop over users that calls scikit-learn, as it is often written.

    All users would take minutes. The loop runs over a random sample of users, and its time is multiplied by `scale`.
    Rows are grouped by user beforehand; this is not timed.
    """

    def __init__(self, labels: np.ndarray, scores: np.ndarray, users: np.ndarray) -> None:
        order = np.argsort(users, kind="stable")
        starts = np.flatnonzero(np.diff(users[order], prepend=users[order[0]] - 1))
        rows_of_user = np.split(order, starts[1:])
        sample = np.random.default_rng(0).permutation(len(rows_of_user))[:LOOP_USERS]
        self.scale = len(rows_of_user) / len(sample)
        self.rows = np.concatenate([rows_of_user[user] for user in sample])
        self.users = [(labels[rows_of_user[user]], scores[rows_of_user[user]]) for user in sample]

    def __call__(self) -> float:
        total = weight = 0.0
        for labels, scores in self.users:
            if labels.min() == labels.max():
                continue
            total += len(labels) * metrics.roc_auc_score(labels, scores)
            weight += len(labels)
        return total / weight


def arrow_dataset_scan(path: Path) -> Call:
    """Read the same columns batch by batch and discard them."""
    dataset = pyarrow.dataset.dataset(path)
    return lambda: sum(batch.num_rows for batch in dataset.to_batches(columns=LOG_COLUMNS))


def arrow_read_table(path: Path) -> Call:
    """Read the same columns as one table."""
    return lambda: pyarrow.parquet.read_table(path, columns=LOG_COLUMNS).num_rows
