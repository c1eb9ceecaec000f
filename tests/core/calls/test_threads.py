"""`n_threads`: -1 and None are all CPUs, as n_jobs of scikit-learn; 0 and less are errors that name what is allowed."""

import os

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.parallel import count_threads
from fastmetrics.distributed import processes
from support.cases import each_case
from support.function_cases import FUNCTIONS
from support.types.public_calls import PUBLIC, parameters_of

LOG = {"y": [0, 1, 1, 0], "s": [0.2, 0.8, 0.4, 0.6], "t": [0.1, 0.9, 0.8, 0.3]}
COLUMNS = {"label": "y", "score": "s"}
WRONG = [0, -2, -100, 1.5, True, "2", np.float64(2)]
QRELS, RUN = {"q": {"a": 1, "b": 0}}, {"q": {"a": 0.5, "b": 0.6}}


def accumulated(kind=fm.Accumulator, **options):
    state = kind("auc", **COLUMNS, **options)
    state.update(LOG)
    return state


def trained(**options):
    metrics = fm.TrainingMetrics("auc", **options)
    metrics.update(label=LOG["y"], score=LOG["s"])
    return metrics


# Calls that `FUNCTIONS` does not have, with the number of threads alone.
CALLS = {
    "evaluate": lambda **own: fm.evaluate(LOG, "auc", **COLUMNS, **own)["auc"],
    "compare": lambda **own: fm.compare(LOG, "auc", label="y", score=["s", "t"], **own)["auc"].difference,
    "Evaluation.run": lambda **own: fm.Evaluation("auc", **COLUMNS).run(LOG, **own)["auc"],
    "Accumulator": lambda **own: accumulated(**own).result()["auc"],
    "Accumulator.from_bytes": lambda **own: fm.Accumulator.from_bytes(accumulated().to_bytes(), **own).result()["auc"],
    "TrainingMetrics": lambda **own: trained(**own).result()["auc"],
    "evaluate_ranking": lambda **own: fm.evaluate_ranking(QRELS, RUN, "mrr", **own)["mrr"],
    "evaluate_recommendations": lambda **own: fm.evaluate_recommendations([["a"]], [["b", "a"]], "mrr", **own)["mrr"],
    "compare_runs": lambda **own: fm.compare_runs(QRELS, {"a": RUN, "b": RUN}, "mrr", **own)["mrr"].difference,
    "corpus_bleu": lambda **own: float(fm.corpus_bleu(["a b c d e"], ["a b c d f"], **own)),
    "corpus_ter": lambda **own: float(fm.corpus_ter(["a b c"], ["a b d"], **own)),
    "rouge_score": lambda **own: fm.rouge_score(["a b"], ["a c"], "rouge1", **own)["rouge1"].fmeasure,
    "perplexity": lambda **own: fm.perplexity([-1.0, -2.0], **own),
    "segment_statistics": lambda **own: fm.segment_statistics("bleu", ["a b"], ["a b"], **own).counts.tolist(),
    "box_iou": lambda **own: fm.box_iou([[0, 0, 2, 2]], [[0, 0, 1, 2]], **own).tolist(),
    "rand_score": lambda **own: fm.rand_score([0, 0, 1], [1, 1, 1], **own),
    "mutual_info_score": lambda **own: fm.mutual_info_score([0, 0, 1], [1, 1, 1], **own),
    "silhouette_score": lambda **own: fm.silhouette_score([[1], [2], [4]], [0, 0, 1], **own),
    "delong_test": lambda **own: fm.delong_test(LOG["y"], LOG["s"], LOG["t"], **own).pvalue,
}  # fmt: skip


def test_numbers_of_threads():
    assert count_threads(None) == count_threads(-1) == count_threads(np.int64(-1)) == len(os.sched_getaffinity(0))
    assert [count_threads(number) for number in (1, 3, np.int8(7))] == [1, 3, 7]


def error_of(call, number, name="n_threads"):
    with pytest.raises(ValueError, match=name) as caught:
        call(**{name: number})
    return str(caught.value)


@each_case("number", WRONG)
def test_other_numbers_are_errors_that_name_what_is_allowed(number):
    said = f"must be an integer of at least 1, or -1 or None for all CPUs; found {number!r}"
    for name, call in CALLS.items():
        assert error_of(call, number) == f"n_threads {said}", name
    question = fm.Evaluation("auc", **COLUMNS)
    of_processes = error_of(lambda **own: processes.evaluate([LOG], question, **own), number, "n_processes")
    assert of_processes == f"n_processes {said}"


@each_case("name", CALLS)
def test_minus_one_is_all_cpus(name):
    assert CALLS[name](n_threads=-1) == CALLS[name](n_threads=None) == CALLS[name](n_threads=1)


def test_every_option_is_documented_so():
    """Those of functions on columns are called by `fastmetrics.testing`."""
    have = {name for name, call in PUBLIC.items() if "n_threads" in parameters_of(call)}
    assert {name for name in FUNCTIONS if name in have} > {"roc_auc_score", "gauc_score", "ndcg_score"}
    for name in have:
        text = " ".join((PUBLIC[name].__doc__ or "").split())
        if "n_threads :" in text:
            assert "with -1" in text.partition("n_threads :")[2][:250], name


def test_the_command_line_reads_minus_one(tmp_path):
    pytest.importorskip("typer")
    from support.command_line import run

    pq = pytest.importorskip("pyarrow.parquet")
    pa = pytest.importorskip("pyarrow")
    pq.write_table(pa.table(LOG), tmp_path / "log.parquet")
    words = ["evaluate", "log.parquet", "--label", "y", "--score", "s", "-m", "auc", "--json", "--threads"]
    done = run(*words, "-1", folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == run(*words, "1", folder=tmp_path).stdout
    for number in ("0", "-2"):
        done = run(*words, number, folder=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert "--threads" in done.stderr
        assert f"must be an integer of at least 1, or -1 for all CPUs; found {number}" in done.stderr


def test_a_saved_state_takes_it_too(tmp_path):
    accumulated().save(tmp_path / "state")
    assert fm.Accumulator.load(tmp_path / "state", n_threads=-1).result()["auc"] == 0.75
    assert "n_threads must be" in error_of(lambda **own: fm.Accumulator.load(tmp_path / "state", **own), 0)
    (tmp_path / "run").write_text("q Q0 a 1 0.5 x\n", encoding="utf-8")
    assert len(fm.read_run(tmp_path / "run", n_threads=-1)) == 1
    assert "n_threads must be" in error_of(lambda **own: fm.read_run(tmp_path / "run", **own), 0)
