"""Metrics of text: `evaluate` of a Parquet log against the functions on lists in memory.

The log repeats a corpus of translations many times. Both sides count n-grams with the same kernels: the ratio shows the
cost of reading and batching.
"""

import subprocess
import sys

import pytest

import fastmetrics as fm
from bench.texts import n_segments, translations

TIMES = 50  # a million segments at the full size of the benches
ROW_GROUP = 50_000
ROUGE = ("rouge1", "rouge2", "rougeL")
FUNCTIONS = {
    "bleu": lambda *texts: (fm.corpus_bleu(*texts).score,),
    "chrf": lambda *texts: (fm.corpus_chrf(*texts).score,),
    ",".join(ROUGE): lambda *texts: tuple(fm.rouge_score(*texts, ROUGE)[kind].fmeasure for kind in ROUGE),
}
PEAK = """
import sys
import fastmetrics
from bench.memory import peak_of_this_process
fastmetrics.evaluate(sys.argv[1], sys.argv[2])
print(peak_of_this_process())
"""


@pytest.fixture(scope="module")
def texts(rows):
    columns = translations(n_segments(rows))
    return tuple(TIMES * column for column in columns)


@pytest.fixture(scope="module")
def path(texts, tmp_path_factory):
    return write_log(texts, tmp_path_factory.mktemp("texts") / "log.parquet")


@pytest.fixture(scope="module")
def short_path(texts, tmp_path_factory):
    short = tuple(column[: len(column) // TIMES] for column in texts)
    return write_log(short, tmp_path_factory.mktemp("texts") / "short.parquet")


def write_log(texts, path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(dict(zip(("hypothesis", "reference"), texts, strict=True)))
    pyarrow.parquet.write_table(table, path, row_group_size=ROW_GROUP)
    return path


def with_size(work, texts):
    return f"{work} of {len(texts[0]):,} segments in Parquet"


@pytest.mark.parametrize("metrics", FUNCTIONS)
def test_beside_the_function(timing, texts, path, metrics):
    timing.compare(
        with_size(f"`evaluate`, {metrics},", texts),
        lambda: tuple(result.value for result in fm.evaluate(path, metrics)),
        "the function, on lists", lambda: FUNCTIONS[metrics](*texts), within=0.0, rounds=2,
        ours_rounds=2,
    )  # fmt: skip


def test_many_slices_cost_little(timing, texts, path):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    table = table.append_column("domain", pyarrow.array([row % 50 for row in range(len(table))], pyarrow.int32()))
    timing.compare(
        f"`evaluate`, bleu, of {len(texts[0]):,} segments in 50 slices",
        lambda: fm.evaluate(table, "bleu", by="domain").value("bleu", slice={}), "without slices",
        lambda: fm.evaluate(table, "bleu")["bleu"], within=0.0, rounds=2, ours_rounds=2,
    )  # fmt: skip


def peak(path):
    run = subprocess.run([sys.executable, "-c", PEAK, str(path), "bleu"], check=True, capture_output=True, text=True)
    return int(run.stdout)


def test_memory(timing, texts, path, short_path):
    timing.measure(
        with_size("peak memory of `evaluate`, bleu,", texts) + f", above that of a log {TIMES} times shorter",
        lambda: (peak(path) - peak(short_path)) / 2**20, unit="MiB", reported=True, rounds=2,
    )  # fmt: skip
