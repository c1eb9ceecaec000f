"""A small log for `evaluate`, and for every metric the function that must return the same bits."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet

import fastmetrics as fm
from support import strategies

COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}

# Keys are canonical metric strings.
EXPECTED = {
    "auc": lambda log: fm.roc_auc_score(log["click"], log["pctr"]),
    "ks": lambda log: fm.ks_statistic(log["click"], log["pctr"]),
    "logloss": lambda log: fm.log_loss(log["click"], log["pctr"]),
    "ne": lambda log: fm.normalized_entropy(log["click"], log["pctr"]),
    "brier": lambda log: fm.brier_score_loss(log["click"], log["pctr"]),
    "copc": lambda log: fm.copc(log["click"], log["pctr"]),
    "pcoc": lambda log: fm.pcoc(log["click"], log["pctr"]),
    "ece": lambda log: fm.expected_calibration_error(log["click"], log["pctr"]),
    "ece(n_bins=10)": lambda log: fm.expected_calibration_error(log["click"], log["pctr"], n_bins=10),
    "ece(norm=l2)": lambda log: fm.expected_calibration_error(log["click"], log["pctr"], norm="l2"),
    "ece(n_bins=7, norm=max)": lambda log: fm.expected_calibration_error(
        log["click"], log["pctr"], n_bins=7, norm="max"
    ),
    "ctr": lambda log: float(np.count_nonzero(log["click"] == 1)) / len(log["click"]),
    "f1(threshold=0.2)": lambda log: fm.f1_score(log["click"], log["pctr"].astype(np.float64) >= 0.2),
    "specificity": lambda log: fm.specificity_score(log["click"], log["pctr"] >= 0.5),
    "gauc": lambda log: fm.gauc_score(log["click"], log["pctr"], log["user_id"]),
    "gauc(weight=pairs)": lambda log: fm.gauc_score(log["click"], log["pctr"], log["user_id"], weight="pairs"),
    "gauc(weight=uniform)": lambda log: fm.gauc_score(log["click"], log["pctr"], log["user_id"], weight="uniform"),
    "gauc(weight=positives, single_class=half)": lambda log: fm.gauc_score(
        log["click"], log["pctr"], log["user_id"], weight="positives", single_class="half"
    ),
}
METRICS = list(EXPECTED)
GLOBAL_METRICS = [metric for metric in METRICS if not metric.startswith("gauc")]


def log_of(rows, **options):
    log = strategies.click_log(rows, seed=rows, **options)
    return {"click": log["label"], "pctr": log["prob"], "user_id": log["group"]}


def expected_of(log, metrics=METRICS):
    return {metric: EXPECTED[metric](log) for metric in metrics}


def values_of(report, metrics=METRICS):
    return {metric: report[metric] for metric in metrics}


def evaluate(data, metrics=METRICS, **options):
    return fm.evaluate(data, metrics, **{**COLUMNS, **options})


def comparable(report):
    """The content of a report without run time."""
    return {key: value for key, value in report.to_dict().items() if key != "seconds"}


def table_of(log):
    return pa.table(log)


def parquet_of(log, folder, **options):
    path = folder / "clicks.parquet"
    pyarrow.parquet.write_table(table_of(log), path, **options)
    return path


def parquet_files(log, folder):
    table = table_of(log)
    third = len(table) // 3
    slices = [table.slice(0, third), table.slice(third, 1), table.slice(third + 1)]
    for number, table_slice in enumerate(slices):
        pyarrow.parquet.write_table(table_slice, folder / f"part-{number}.parquet")
    return sorted(folder.glob("part-*.parquet"))
