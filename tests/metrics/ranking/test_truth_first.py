"""Truth stands first, before what a system returned; where a swap shows, an error names the order."""

import inspect

import numpy as np
import pyarrow
import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

QRELS = {"q1": {"d1": 1, "d3": 2}, "q2": {"d4": 1}}
RUN = {"q1": {"d1": 0.9, "d2": 0.8}, "q2": {"d1": 0.5, "d4": 0.4}}
# The words of truth, and those of what is evaluated. Metrics of texts have sacrebleu's order.
TRUTH = ("qrels", "relevant", "ground_truth", "y_true", "labels_true")
EVALUATED = ("run", "runs", "recommended", "detections", "y_score", "y_pred", "y_prob", "y_proba", "labels_pred")


@pytest.mark.smoke
def test_truth_comes_first_in_all_functions():
    seen = set()
    for name in fm.__all__:
        function = getattr(fm, name)
        if not inspect.isroutine(function):
            continue
        names = list(inspect.signature(function).parameters)
        places = {word: names.index(word) for word in (*TRUTH, *EVALUATED) if word in names}
        truth = [places[word] for word in TRUTH if word in places]
        evaluated = [places[word] for word in EVALUATED if word in places]
        if truth and evaluated:
            assert (truth, min(evaluated)) == ([0], 1), name
            seen |= places.keys()
    assert seen >= {*TRUTH, *EVALUATED} - {"y_prob", "y_proba"}


def columns(rows, number):
    cells = [(query, item, value) for query, items in rows.items() for item, value in items.items()]
    return dict(zip(("query", "item", number), map(list, zip(*cells, strict=True)), strict=True))


@each_case("convert", [dict, lambda rows: pyarrow.table(rows)])
def test_swapped_tables_name_the_missing_column(convert):
    tables = convert(columns(QRELS, "relevance")), convert(columns(RUN, "score"))
    assert fm.evaluate_ranking(*tables, "mrr")["mrr"] == 0.75
    assert_raises(ValueError, "no column 'score' in run", fm.evaluate_ranking, *tables[::-1], "mrr")


def test_swapped_dicts_of_dicts_are_refused():
    message = "qrels has the relevance 0.9 while all scores of the run are whole numbers: .* the order is qrels, run"
    assert_raises(ValueError, message, fm.evaluate_ranking, RUN, QRELS, "mrr")
    # One column of numbers has both names.
    tables = [columns(rows, "number") for rows in (RUN, QRELS)]
    assert_raises(
        ValueError, "the order is qrels, run", fm.evaluate_ranking, *tables, "mrr", score="number", relevance="number"
    )
    # The item with a fraction may be one that the run does not have.
    assert_raises(ValueError, "relevance 0.25", fm.evaluate_ranking, {"q": {"a": 1, "b": 0.25}}, {"q": {"a": 3}}, "mrr")
    # Grades with fractions beside scores with fractions are no swap, nor are whole scores beside whole grades.
    graded = {"q1": {"d1": 0.5, "d3": 1.5}, "q2": {"d4": 1}}
    assert fm.evaluate_ranking(graded, RUN, "mrr", relevance_level=0.5)["mrr"] == 0.75
    whole = {query: {item: round(10 * score) for item, score in items.items()} for query, items in RUN.items()}
    assert fm.evaluate_ranking(QRELS, whole, "mrr")["mrr"] == 0.75
    assert fm.evaluate_ranking(graded, {"q1": {"d1": np.inf}}, "mrr", relevance_level=0.5)["mrr"] == 0.5


def test_swapped_files_say_what_they_are(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("q1 0 d1 1\nq1 0 d2 0\n")
    run.write_text("q1 Q0 d2 1 0.9 b\nq1 Q0 d1 2 0.4 b\n")
    for function in (fm.evaluate_ranking, fm.evaluate_trec):
        assert_raises(ValueError, "those of (qrels|a run)", function, run, qrels, "map")
        assert_raises(
            TypeError, "the order is qrels, run", function, fm.read_run(run), fm.read_qrels(qrels), "map"
        )
    assert_raises(ValueError, "those of a run", fm.compare_runs, run, [qrels, run], "map")


@each_case("relevant", [[{1}, {3}], [{1: 2}, {3: 1}]])
def test_swapped_recommendations_are_refused(relevant):
    lists = [[1, 2], [3]]
    assert fm.evaluate_recommendations(relevant, lists, "mrr")["mrr"] == 1
    assert_raises(TypeError, "the order is relevant, recommended", fm.evaluate_recommendations, lists, relevant, "mrr")
