"""BLEU of files: a million segments at the full size, and memory relative to the files; and perplexity of a column.

The files repeat a corpus of translations; every repetition of a line has another number at its end.
"""

import math
import subprocess
import sys
import time

import numpy as np
import pytest

import fastmetrics as fm
from bench.texts import clear_line_cache, n_segments, translations
from bench.timing import format_count

TIMES = 50  # a million segments at the full size of the benches
SHORTER = 10
PEAK = """
import sys
import fastmetrics as fm
from bench.memory import peak_of_this_process
fm.corpus_bleu(*map(fm.read_segments, sys.argv[1:]))
print(peak_of_this_process())
"""


@pytest.fixture(scope="module")
def pairs(rows):
    return translations(n_segments(rows))


@pytest.fixture(scope="module")
def long_files(pairs, tmp_path_factory):
    return write_files(pairs, TIMES, tmp_path_factory.mktemp("long"))


@pytest.fixture(scope="module")
def short_files(pairs, tmp_path_factory):
    return write_files(pairs, TIMES // SHORTER, tmp_path_factory.mktemp("short"))


def write_files(pairs, times, folder):
    paths = []
    for name, lines in zip(("hypotheses.txt", "references.txt"), pairs, strict=True):
        paths.append(folder / name)
        with open(paths[-1], "w", encoding="utf-8") as file:
            for number in range(times):
                file.writelines(f"{line} {number}\n" for line in lines)
    return paths


def score_files(paths):
    return fm.corpus_bleu(*map(fm.read_segments, paths)).score


def seconds_a_segment(paths, n_lines):
    start = time.perf_counter()
    score_files(paths)
    return (time.perf_counter() - start) / n_lines


def test_beside_lists(timing, pairs, short_files):
    lists = [path.read_text(encoding="utf-8").removesuffix("\n").split("\n") for path in short_files]
    timing.compare(
        f"`corpus_bleu` of two files, {format_count(len(lists[0]))} segments", lambda: score_files(short_files),
        "the function, on lists", lambda: fm.corpus_bleu(*lists).score, within=0.0,
    )  # fmt: skip


def test_beside_sacrebleu(timing, pairs, tmp_path_factory):
    """Both read the files; sacrebleu reads them as its command line does."""
    sacrebleu = pytest.importorskip("sacrebleu")
    paths = write_files(pairs, 1, tmp_path_factory.mktemp("once"))

    def theirs():
        lists = []
        for path in paths:
            with open(path, encoding="utf-8", newline="\n") as file:
                lists.append([line.rstrip() for line in file])
        metric = sacrebleu.BLEU(force=True)
        clear_line_cache(metric)
        return metric.corpus_score(lists[0], [lists[1]]).score

    work = f"`corpus_bleu` of two files, {format_count(len(pairs[0]))} segments"
    timing.compare(work, lambda: score_files(paths), "sacrebleu", theirs, within=0)


def test_cost_of_a_segment(timing, pairs, long_files, short_files):
    n_long, n_short = TIMES * len(pairs[0]), TIMES // SHORTER * len(pairs[0])
    timing.compare(
        f"`corpus_bleu`: time for a segment of two files of {format_count(n_long)}",
        lambda: seconds_a_segment(long_files, n_long), f"files of {format_count(n_short)}",
        lambda: seconds_a_segment(short_files, n_short), within=None, rounds=3, ours_rounds=3,
        reported=True,
    )  # fmt: skip


def test_memory(timing, pairs, long_files):
    size = sum(path.stat().st_size for path in long_files) / 2**20

    def peak():
        run = subprocess.run(
            [sys.executable, "-c", PEAK, *map(str, long_files)], check=True, capture_output=True, text=True
        )
        return int(run.stdout) / 2**20

    segments = format_count(TIMES * len(pairs[0]))
    work = f"peak resident memory of that process, {segments} segments in {size:,.0f} MiB of files"
    timing.measure(work, peak, unit="MiB", reported=True, rounds=2)


def test_perplexity(timing, rows):
    log_probs = -np.random.default_rng(1).exponential(3.0, rows).astype(np.float32)
    timing.compare(
        "`perplexity` of {rows} float32 log-probabilities", lambda: fm.perplexity(log_probs), "NumPy, in float64",
        lambda: math.exp(-log_probs.sum(dtype=np.float64) / rows), within=1e-12,
    )  # fmt: skip
