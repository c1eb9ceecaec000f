"""Spark repeats the tasks of workers that are killed, and values stay, to the last bit."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics.spark import passes, tasks

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("few_ranges")]

ROWS = 4000


def killing(step, marker):
    """The step, of which the first worker is killed when it has given its first output."""

    def run(*arguments):
        for number, found in enumerate(step(*arguments)):
            yield found
            if number == 0 and not os.path.exists(marker):
                with open(marker, "x"):
                    os._exit(1)

    return run


@pytest.mark.parametrize("ci", [None, 0.9])
def test_workers_are_killed_in_every_step(spark, tmp_path, monkeypatch, ci):
    random = np.random.default_rng(2)
    log = pa.table({
        "click": random.integers(0, 2, ROWS),
        "pctr": np.round(random.random(ROWS), 3),
        "user": random.integers(0, 90, ROWS),
    })
    pa.parquet.write_table(log, tmp_path / "log.parquet")
    columns = {"label": "click", "score": "pctr", "group": "user", "by": "user % 2"}
    question = fm.Evaluation(["auc", "gauc", "ks", "logloss"], **columns, ci=ci)
    steps = ("summarize_rows", "cut_rows", "summarize_targets")
    for name in steps:
        monkeypatch.setattr(passes, name, killing(getattr(tasks, name), str(tmp_path / name)))
    df = spark.read.parquet(str(tmp_path / "log.parquet")).repartition(3)
    assert fm.spark.evaluate(df, question) == question.run(log)
    assert all((tmp_path / name).exists() for name in steps)
