"""Metrics of text by `evaluate` of a Parquet log, beside their functions on lists that are in memory already.

The log is a corpus of translations many times over, so texts come again and again: what is compared is the way to the
counters, which is the same for all texts.
"""

import subprocess
import sys

import pytest

import fastmetrics as fm
from bench.race import at_most, at_most_mebibytes
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
    own = translations(n_segments(rows))
    return tuple(TIMES * column for column in own)


@pytest.fixture(scope="module")
def path(texts, tmp_path_factory):
    return written(texts, tmp_path_factory.mktemp("texts") / "log.parquet")


@pytest.fixture(scope="module")
def short_path(texts, tmp_path_factory):
    return written(tuple(own[: len(own) // TIMES] for own in texts), tmp_path_factory.mktemp("texts") / "short.parquet")


def written(texts, path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table(dict(zip(("hypothesis", "reference"), texts, strict=True)))
    pyarrow.parquet.write_table(table, path, row_group_size=ROW_GROUP)
    return path


def named(work, texts):
    return f"{work} of {len(texts[0]):,} segments in Parquet"


@pytest.mark.parametrize("metrics", FUNCTIONS)
def test_beside_the_function(race, texts, path, metrics):
    race.against(
        named(f"`evaluate`, {metrics},", texts), lambda: tuple(own.value for own in fm.evaluate(path, metrics)),
        "the function, on lists", lambda: FUNCTIONS[metrics](*texts), within=0.0, target=at_most(1.5), rounds=2,
        ours_rounds=2,
    )  # fmt: skip


def test_many_slices_cost_little(race, texts, path):
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    table = table.append_column("domain", pyarrow.array([row % 50 for row in range(len(table))], pyarrow.int32()))
    race.against(
        f"`evaluate`, bleu, of {len(texts[0]):,} segments in 50 slices",
        lambda: fm.evaluate(table, "bleu", by="domain").value("bleu", slice={}), "without slices",
        lambda: fm.evaluate(table, "bleu")["bleu"], within=0.0, target=at_most(1.5), rounds=2, ours_rounds=2,
    )  # fmt: skip


def peak(path):
    run = subprocess.run([sys.executable, "-c", PEAK, str(path), "bleu"], check=True, capture_output=True, text=True)
    return int(run.stdout)


def test_memory(race, texts, path, short_path):
    race.alone(
        named("peak memory of `evaluate`, bleu,", texts) + f", above that of a log {TIMES} times shorter",
        lambda: (peak(path) - peak(short_path)) / 2**20, target=at_most_mebibytes(200), reported=True, rounds=2,
    )  # fmt: skip
