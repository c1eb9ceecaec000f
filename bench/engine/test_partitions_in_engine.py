"""ARI and NMI of two partitions: `evaluate` of a Parquet log against data frames with scikit-learn's formulas.

polars counts the pairs of labels with all cores while it reads; pandas reads all columns first. Then the formulas are
applied to the counts. Labels are 100 classes and 100 clusters, as integers and as texts. The case with a million labels
on both sides is run with polars only: a dense table would have 10**12 cells.
"""

import subprocess
import sys

import numpy as np
import pytest

import fastmetrics as fm

METRICS = ["ari", "nmi"]
LABELS = 100
ROW_GROUP = 1 << 20
PEAK = """
import sys
import fastmetrics
from bench.memory import peak_of_this_process
fastmetrics.evaluate(sys.argv[1], "ari,nmi")
print(peak_of_this_process())
"""


@pytest.fixture(scope="module")
def paths(rows, tmp_path_factory):
    """Logs of the same partitions as integers and as texts, and of partitions with many labels."""
    import pyarrow
    import pyarrow.parquet

    random = np.random.default_rng(7)
    classes = random.integers(0, LABELS, rows)
    clusters = np.where(random.random(rows) < 0.5, classes, random.integers(0, LABELS, rows))
    names = pyarrow.array([f"category {number:03d}" for number in range(LABELS)])
    many = random.integers(0, rows // 10, rows)
    tables = {
        "integers": (classes, clusters),
        "texts": tuple(names.take(pyarrow.array(codes)) for codes in (classes, clusters)),
        "many": (many, np.where(random.random(rows) < 0.9, many * 7, random.integers(0, rows // 10, rows))),
    }
    folder = tmp_path_factory.mktemp("partitions")
    for name, columns in tables.items():
        table = pyarrow.table(dict(zip(("label", "cluster"), columns, strict=True)))
        pyarrow.parquet.write_table(table, folder / f"{name}.parquet", row_group_size=ROW_GROUP)
    return {name: str(folder / f"{name}.parquet") for name in tables}


def ours(log):
    return tuple(result.value for result in fm.evaluate(log, METRICS))


def formulas(counts, class_sums, cluster_sums):
    """ARI from the counts of pairs, and NMI from entropies, in float64."""
    total = float(counts.sum())
    tables = [table.astype(np.float64) for table in (counts, class_sums, cluster_sums)]
    squares = [float(np.square(table).sum()) for table in tables]
    both, apart, together = squares[0] - total, squares[2] - squares[0], squares[1] - squares[0]
    neither = total * total - both - apart - together - total
    expected = (both + together) * (together + neither) + (both + apart) * (apart + neither)
    ari = 2.0 * (both * neither - apart * together) / expected
    entropies = [-float((table / total * np.log(table / total)).sum()) for table in tables]
    nmi = (entropies[1] + entropies[2] - entropies[0]) / ((entropies[1] + entropies[2]) / 2)
    return ari, nmi


def by_polars(path):
    import polars

    cells = polars.scan_parquet(path).group_by("label", "cluster").len().collect()
    sums = [cells.group_by(name).agg(polars.col("len").sum())["len"].to_numpy() for name in ("label", "cluster")]
    return formulas(cells["len"].to_numpy(), *sums)


def by_pandas(path):
    import pandas

    frame = pandas.read_parquet(path)
    table = pandas.crosstab(frame["label"], frame["cluster"]).to_numpy()
    return formulas(table[table > 0], table.sum(axis=1), table.sum(axis=0))


@pytest.mark.parametrize("kind", ["integers", "texts"])
def test_beside_a_data_frame(timing, paths, kind):
    timing.compare(
        f"`evaluate`, ari and nmi of {{rows}} rows in Parquet, 100 x 100 labels, {kind}", lambda: ours(paths[kind]),
        "pandas.crosstab, formulas", lambda: by_pandas(paths[kind]), within=1e-9, rounds=2,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["integers", "texts", "many"])
def test_beside_polars(timing, paths, kind):
    labels = {"many": "a label a ten rows"}.get(kind, f"100 x 100 labels, {kind}")
    timing.compare(
        f"`evaluate`, ari and nmi of {{rows}} rows in Parquet, {labels}", lambda: ours(paths[kind]),
        "polars, formulas", lambda: by_polars(paths[kind]), within=1e-9, rounds=2,
    )  # fmt: skip


def test_memory(timing, paths):
    """With few labels, memory is little more than that of the batches."""

    def peak():
        run = subprocess.run(
            [sys.executable, "-c", PEAK, paths["integers"]], capture_output=True, text=True, check=True
        )
        return float(run.stdout) / 2**20

    timing.measure(
        "Peak memory of `evaluate`, ari and nmi of {rows} rows in Parquet", peak, unit="MiB",
        rounds=1, reported=True,
    )  # fmt: skip
