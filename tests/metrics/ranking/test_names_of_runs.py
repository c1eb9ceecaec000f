"""Runs are asked in one language: metric strings, trec_eval's names, texts with commas, iterators, functions."""

import pytest

import fastmetrics as fm
from support.cases import assert_raises, each_case

QRELS = {"q1": {"a": 2, "b": 1, "c": 0, "x": 1}, "q2": {"a": 1, "d": 0}}
RUN = {"q1": {"a": 0.9, "c": 0.8, "b": 0.7, "e": 0.1}, "q2": {"d": 0.6, "a": 0.5}}
OTHER = {"q1": {"c": 0.9, "a": 0.8, "b": 0.7}, "q2": {"a": 0.6, "d": 0.5}}
UTILITY = "utility_1,-1,0,0"
WANTED = ["ndcg@3", "map", "mrr", "p@2"]
SPELLINGS = {
    "text": lambda: "ndcg@3, map,mrr,p@2",
    "generator": lambda: (name for name in WANTED),
    "trec_eval": lambda: ["ndcg_cut_3,map", "recip_rank", "P_2"],
    "functions": lambda: iter(["ndcg_cut.3", fm.mean_average_precision, fm.mean_reciprocal_rank, fm.Metric.p(k=2)]),
}


def by_evaluate_ranking(metrics):
    return dict(fm.evaluate_ranking(run=RUN, qrels=QRELS, metrics=metrics))


def by_compare_runs(metrics):
    compared = fm.compare_runs(QRELS, {"first": RUN, "second": OTHER}, metrics)
    return {one.metric: one.baseline_value for one in compared}


def by_recommendations(metrics):
    recommended = [sorted(own, key=own.get, reverse=True) for own in RUN.values()]
    relevant = [[item for item, grade in own.items() if grade] for own in QRELS.values()]
    return dict(fm.evaluate_recommendations(relevant, recommended, metrics))


def by_group(metrics):
    table = fm.ranking_by_group([2, 0, 1, 0, 1, 0], [9, 8, 7, 1, 5, 6], [1, 1, 1, 1, 2, 2], metrics)
    return {name: table[name].mean() for name in list(table.columns)[4:]}


@each_case("spelling", SPELLINGS)
@each_case("entry_point", [by_evaluate_ranking, by_compare_runs, by_recommendations, by_group])
def test_every_spelling_has_the_same_values(spelling, entry_point):
    assert list(entry_point(SPELLINGS[spelling]()).values()) == list(entry_point(WANTED).values())


def test_no_metrics_are_the_default_ones():
    expected = ["ndcg@10", "map", "mrr", "p@10", "recall@10"]
    for entry_point in (by_evaluate_ranking, by_compare_runs, by_recommendations, by_group):
        assert list(entry_point(None)) == expected


@each_case(
    ("typed", "names"),
    [
        ("ndcg@10", ["ndcg_cut_10"]),
        ("mrr", ["recip_rank"]),
        ("P@10", ["P_10"]),
        ("ndcg_cut_10,map", ["map", "ndcg_cut_10"]),
        ("ndcg_cut.5,10,map", ["map", "ndcg_cut_5", "ndcg_cut_10"]),
        ("map(normalize=relevant)@3", ["map_cut_3"]),
        ("map_cut_3", ["map_cut_3"]),
        ("ndcg(empty=zero)@3,hr@5", ["ndcg_cut_3", "success_5"]),
        (["RPREC", fm.bpref, fm.Metric.recall(k=5)], ["Rprec", "bpref", "recall_5"]),
        ("utility.1,-1,0,0,iprec_at_recall.0.1,0.2", ["iprec_at_recall_0.10", "iprec_at_recall_0.20", UTILITY]),
        ((name for name in ["idcg", "ndcg", "dcg"]), ["dcg", "ideal_dcg", "ndcg"]),
    ],
)  # fmt: skip
def test_measures_of_trec_eval_by_metric_strings(typed, names):
    assert list(fm.trec_metric_names(typed)) == names


@each_case(
    ("typed", "message"),
    [
        ("map@10", "no metric of the number of map@10, which fm.evaluate_ranking computes; write 'map_cut_10'"),
        ("ndcg(gain=exp2)@10", "which fm.evaluate_ranking computes; write 'ndcg_cut_10', which is trec_eval's"),
        ("ndcg(ties=average)@10", "which fm.evaluate_ranking computes"),
        ("mrr@10", "which fm.evaluate_ranking computes"),
        ("auc", "which fm.evaluate computes"),
        ("ndcg(gian=exp2)@3", "no parameter 'gian'; did you mean 'gain'"),
        ("mapp", "unknown metric 'mapp'; nearest: map, gm_map"),
        ([], "metrics is empty"),
        ([3], "found 3, of type int, at place 0"),
    ],
)
def test_what_trec_eval_has_not(typed, message):
    assert_raises((ValueError, TypeError), message, fm.trec_metric_names, typed)


@pytest.fixture
def files(tmp_path):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{q} 0 {d} {grade}\n" for q, own in QRELS.items() for d, grade in own.items()))
    run.write_text("".join(f"{q} Q0 {d} 1 {score} tag\n" for q, own in RUN.items() for d, score in own.items()))
    return qrels, run


def test_values_by_any_of_their_names(files):
    result = fm.evaluate_trec(*files, "ndcg@3,mrr,P@2")
    assert dict(result) == dict(fm.evaluate_trec(*files, ["ndcg_cut.3", "recip_rank", "P.2"]))
    assert result["ndcg@3"] == result["ndcg_cut_3"] == pytest.approx(by_evaluate_ranking("ndcg@3")["ndcg@3"])
    assert result["mrr"] == result["recip_rank"]
    assert_raises(KeyError, "no 'map' in this TrecResult", lambda: result["map"])
    assert_raises(KeyError, "no 'mapp' in this TrecResult", lambda: result["mapp"])


@each_case(
    ("name", "line"), [("precision", "p@10"), ("recall", "recall@10"), ("f1", "f1@10"), ("precision_score", "p@10")]
)
def test_a_metric_of_all_rows_is_answered_with_that_of_lists(name, line):
    assert_raises(ValueError, f"not one of ranked lists, without a cutoff; write '{line}'", by_evaluate_ranking, name)


def test_options_that_a_name_means_are_those_of_its_string():
    metrics = ["p@2", "p(relevance_level=1)@2", "p.relevance_level_1_at_2"]
    values = dict(fm.evaluate_ranking(run=RUN, qrels=QRELS, metrics=metrics, relevance_level=2))
    assert values["p@2"] != values["p(relevance_level=1)@2"] == values["p.relevance_level_1_at_2"]


def test_texts_are_compared_by_any_list():
    texts = ["the cat sat on a mat", "a dog ran", "no one came"]
    systems = {"a": texts, "b": ["the cat sat on the mat", "a dog is here", "no one came"]}
    wanted = fm.compare_texts(systems, texts, ["nist", "chrf", "bleu(smooth=floor)"])
    for metrics in (
        "nist,chrf, bleu(smooth=floor)",
        (name for name in [fm.corpus_nist, fm.corpus_chrf, "bleu(smooth=floor)"]),
        [fm.corpus_nist, fm.Metric.chrf(), fm.Metric.bleu(smooth="floor")],
    ):
        assert [one.metric for one in fm.compare_texts(systems, texts, metrics)] == [one.metric for one in wanted]
    assert [one.metric for one in fm.compare_texts(systems, texts, fm.corpus_chrf)] == ["chrf"]
