"""TREC files: reading, joining and evaluating, beside reading them in Python and calling trec_eval's bindings."""

from functools import partial

import numpy as np
import pytest

import fastmetrics as fm
from bench.timing import format_count

MEASURES = {"map": "map", "ndcg_cut.10": "ndcg_cut_10", "recip_rank": "recip_rank"}
ITEMS_PER_QUERY = 1000
QRELS_HEAD = "{query} 0 DOC-{item:07d} {grade}\n"
RUN_HEAD = "{query}\tQ0\tDOC-{item:07d}\t{rank}\t{score:.4f}\tbench-run\n"


@pytest.fixture(scope="module")
def n_lines(rows):
    return max(ITEMS_PER_QUERY, rows // 10)


@pytest.fixture(scope="module")
def paths(tmp_path_factory, n_lines):
    """A thousand items for every query. One in ten is judged, and as many items that were not retrieved.

    Scores are distinct also as 32-bit floats, which the bindings compare.
    """
    random = np.random.default_rng(20260101)
    folder = tmp_path_factory.mktemp("trec")
    qrels, run = folder / "qrels.txt", folder / "bench.run"
    with qrels.open("w") as judgments, run.open("w") as lines:
        for query in range(301, 301 + n_lines // ITEMS_PER_QUERY):
            items = random.choice(9_000_000, ITEMS_PER_QUERY + ITEMS_PER_QUERY // 10, replace=False).tolist()
            scores = (30.0 - 0.02 * np.arange(ITEMS_PER_QUERY) + 0.01 * random.random(ITEMS_PER_QUERY)).tolist()
            for rank, score in enumerate(scores):
                lines.write(RUN_HEAD.format(query=query, item=items[rank], rank=rank + 1, score=score))
            grades = random.integers(0, 4, 2 * ITEMS_PER_QUERY // 10).tolist()
            judged = [*random.permutation(items[:ITEMS_PER_QUERY])[: ITEMS_PER_QUERY // 10], *items[ITEMS_PER_QUERY:]]
            for item, grade in zip(judged, grades, strict=True):
                judgments.write(QRELS_HEAD.format(query=query, item=item, grade=grade))
    return qrels, run


def ours(paths, n_threads=None):
    result = fm.evaluate_trec(*paths, list(MEASURES), n_threads=n_threads)
    return tuple(result[name] for name in MEASURES.values())


def means(theirs):
    return tuple(sum(values[name] for values in theirs.values()) / len(theirs) for name in MEASURES.values())


def with_dicts(paths):
    """Read the lines into dicts of dicts in plain Python, then call the bindings."""
    pytrec_eval = pytest.importorskip("pytrec_eval")

    def work():
        judgments, scores = {}, {}
        with open(paths[0]) as file:
            for line in file:
                query, _, item, grade = line.split()
                judgments.setdefault(query, {})[item] = int(grade)
        with open(paths[1]) as file:
            for line in file:
                query, _, item, _, score, _ = line.split()
                scores.setdefault(query, {})[item] = float(score)
        return means(pytrec_eval.RelevanceEvaluator(judgments, set(MEASURES)).evaluate(scores))

    return work


def with_their_readers(paths):
    pytrec_eval = pytest.importorskip("pytrec_eval")

    def work():
        with open(paths[0]) as file:
            judgments = pytrec_eval.parse_qrel(file)
        with open(paths[1]) as file:
            scores = pytrec_eval.parse_run(file)
        return means(pytrec_eval.RelevanceEvaluator(judgments, set(MEASURES)).evaluate(scores))

    return work


PEERS = {"dicts in Python, then pytrec_eval": with_dicts, "pytrec_eval, its readers too": with_their_readers}


@pytest.mark.parametrize("name", PEERS, ids=["dicts", "readers"])
def test_files_to_numbers(timing, paths, n_lines, name):
    work = f"TREC run file of {format_count(n_lines)} lines: map, ndcg_cut_10, recip_rank"
    timing.compare(work, partial(ours, paths), name, PEERS[name](paths), within=1e-12)


def test_one_thread(timing, paths, n_lines):
    work = f"TREC run file of {format_count(n_lines)} lines: map, ndcg_cut_10, recip_rank, one thread of ours"
    name = "dicts in Python, then pytrec_eval"
    timing.compare(work, partial(ours, paths, 1), name, with_dicts(paths), within=1e-12)


def test_reading_alone(timing, paths, n_lines):
    timing.measure(f"`read_run`, {format_count(n_lines)} lines", partial(fm.read_run, paths[1]))
