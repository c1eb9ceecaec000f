"""Names and aliases in metric strings: what they mean, and what a wrong one is answered with."""

import re
import subprocess
import sys

import numpy as np
import pytest
import sklearn.metrics

import fastmetrics as fm
from fastmetrics._core import registry
from fastmetrics._core.registry import parse
from support.cases import assert_raises, each_case
from support.registry_cases import own_metrics

SPECS = fm.describe_metrics()
ALIASES = [(alias, spec) for spec in SPECS for alias in spec.aliases]
NEAR_NAMES = [(near, advice, spec) for spec in SPECS for near, advice in spec.near_names.items() if "(" not in near]
SHARED_FUNCTIONS = {"rouge_score"}  # one function of several metrics
# Scorers of several classes, and of numbers that no metric string has.
NO_METRIC = {
    *(f"{name}_{average}" for name in ("f1", "precision", "recall", "jaccard")
      for average in ("macro", "micro", "samples", "weighted")),
    *(f"roc_auc_{how}" for how in ("ovo", "ovr", "ovo_weighted", "ovr_weighted")),
    "neg_median_absolute_error", "d2_absolute_error_score",
    "top_k_accuracy", "positive_likelihood_ratio", "neg_negative_likelihood_ratio", "d2_brier_score",
    "d2_log_loss_score",
}  # fmt: skip


def string_of(name: str) -> str:
    """A metric string with this name: "p@k" needs a cutoff."""
    return name.removesuffix("@k") + ("@10" if name.endswith("@k") else "")


@each_case(("alias", "spec"), ALIASES)
def test_an_alias_is_the_metric(alias, spec):
    for spelling in (alias, alias.upper().replace("@K", "@k"), alias.replace("_", "-")):
        assert parse(string_of(spelling)) == parse(spec.example), spelling
    assert repr(parse(string_of(alias))) == spec.example


def test_case_does_not_count():
    for text, canonical in [
        ("AUC", "auc"), ("nDCG@10", "ndcg@10"), ("ROUGE-L", "rougeL"), ("Precision", "precision"),
        ("MAP(normalize=hits)@3", "map(normalize=hits)@3"), ("Precision@5", "p@5"), ("P@5", "p@5"),
        ("r-precision", "rprec"),
    ]:  # fmt: skip
        assert repr(parse(text)) == canonical


def test_every_public_function_names_its_metric():
    for spec in SPECS:
        if spec.function is not None and spec.function.__name__ not in SHARED_FUNCTIONS:
            cutoff = "@3" if spec.cutoff == "required" else ""
            assert parse(spec.function.__name__ + cutoff).spec is spec


def test_scorers_of_scikit_learn_are_known():
    """A scorer's name is an alias, or the answer says what to type in its place: scorers of losses are negated."""
    for name in set(sklearn.metrics.get_scorer_names()) - NO_METRIC:
        if name.startswith("neg_"):
            assert_raises(ValueError, f"^unknown metric '{name}': write .*, which is not negated$", parse, name)
        else:
            assert parse(name)


@each_case(("near", "advice", "spec"), NEAR_NAMES)
def test_a_near_name_says_what_to_type(near, advice, spec):
    assert re.search(rf"\b{spec.base_name}\b", advice)
    unknown = f"^unknown metric '{near.removesuffix('@k')}': "
    assert_raises(ValueError, unknown + re.escape(advice), parse, string_of(near))


@each_case(
    ("text", "message"),
    [
        ("pr_auc", "^unknown metric 'pr_auc': .*trapezoids.*; 'ap' is the area by steps$"),
        ("average_precision@10", "^unknown metric 'average_precision': its mean over groups is 'map@10'"),
        ("hits@10", "^unknown metric 'hits': .* the share of groups with a hit is 'hr'$"),
        ("hit_rate", "^metric 'hit_rate' needs a cutoff: write hit_rate@10$"),
        ("roc_auc@5", "^metric 'roc_auc' takes no cutoff; found @5$"),
        ("roc_auc_scor", r"^unknown metric 'roc_auc_scor'; did you mean 'roc_auc_score'"),
        ("precison@5", r"^unknown metric 'precison'; did you mean 'precision' or 'precision@k'"),
        ("neg_log_loss", r"^unknown metric 'neg_log_loss': write logloss \(minimize\), which is not negated$"),
        ("xyzzy", "^unknown metric 'xyzzy'; known: accuracy, ami, "),
        ("precision_at_k(foo=1)@5", "^metric 'p@k' has no parameter 'foo'; known: short_list"),
        ("roc_auc_score(max_fp=0.1)", "^metric 'auc' has no parameter 'max_fp'; did you mean 'max_fpr'"),
        ("roc_auc_score(max_fpr=1.5)", r"^max_fpr must lie in \(0, 1\]; found 1.5$"),
        ("normalized_entropy(base=1)", "^metric 'ne' has no parameter 'base'; did you mean 'base_rate'"),
    ],
)
def test_a_wrong_name(text, message):
    assert_raises(ValueError, message, parse, text)


def finalise(parameters, state):
    """A metric."""


finalise.__module__ = "fastmetrics.metrics.ranking"


def register(name, **options):
    registry.metric(name, exchange="none", statistics=tuple, function=None, undefined="never", **options)(finalise)


@each_case(
    ("name", "options", "message"),
    [
        ("auc", {}, "metric 'auc' is registered twice"),
        ("AUC", {}, "metric 'AUC' cannot be called 'AUC': that is metric 'auc'"),
        ("roc_auc", {}, "metric 'roc_auc' cannot be called 'roc_auc': that is metric 'auc'"),
        ("mine", {"aliases": ("Roc-AUC",)}, "metric 'mine' cannot be called 'Roc-AUC': that is metric 'auc'"),
        ("prec", {"cutoff": "required"}, "metric 'prec@k' cannot be called 'prec': that is metric 'p@k'"),
        ("mine", {"aliases": ("hr",), "cutoff": True}, "metric 'mine' cannot be called 'hr': that is metric 'hr@k'"),
    ],
)
def test_a_name_that_is_taken(name, options, message):
    with own_metrics():
        assert_raises(ValueError, f"^{message}$", register, name, **options)
        assert fm.list_metrics() == [spec.name for spec in SPECS]
        register("mine", aliases=("own",))  # nothing of the refused metric is left
        assert repr(parse("own")) == "mine"


def test_a_name_may_have_another_meaning_with_a_cutoff():
    with own_metrics():
        register("own_list", cutoff="required", aliases=("accuracy",))
        assert repr(parse("accuracy@3")) == "own_list@3"
        assert repr(parse("accuracy")) == "accuracy"


def click_log():
    generator = np.random.default_rng(0)
    return {
        "click": generator.integers(0, 2, 500), "one": generator.random(500), "two": generator.random(500),
        "user": generator.integers(0, 40, 500),
    }  # fmt: skip


ASKED = ["roc_auc_score", "Precision@5", "hit_rate(average=micro)@3", "normalized_entropy", "Average-Precision"]
CANONICAL = ["auc", "p@5", "hr(average=micro)@3", "ne", "ap"]
COLUMNS = {"label": "click", "group": "user"}


def test_a_report_answers_to_the_name_and_to_the_alias():
    report = fm.evaluate(click_log(), ASKED, score="one", **COLUMNS)
    assert [result.metric for result in report] == CANONICAL
    for asked, canonical in zip(ASKED, CANONICAL, strict=True):
        assert asked in report
        alone = fm.evaluate(click_log(), canonical, score="one", **COLUMNS)
        assert report[asked] == report[canonical] == alone[canonical]
        assert report.result(asked).metric == canonical
    assert "accuracy_score" not in report
    with pytest.raises(KeyError, match=r"no 'precision@7' in this report; did you mean 'p@5'\?"):
        report["precision@7"]


def test_a_metric_named_twice_is_computed_once():
    report = fm.evaluate(click_log(), "auc,roc_auc_score,AUC", score="one", **COLUMNS)
    assert [result.metric for result in report] == ["auc"]


def test_a_comparison_answers_to_the_name_and_to_the_alias():
    comparison = fm.compare(click_log(), ASKED, scores=["one", "two"], replicates=20, **COLUMNS)
    assert [one.metric for one in comparison] == CANONICAL
    for asked, canonical in zip(ASKED, CANONICAL, strict=True):
        assert comparison[asked] == comparison[canonical]


def test_an_accumulator_takes_aliases():
    accumulator = fm.Accumulator(ASKED, score="one", **COLUMNS)
    accumulator.update(click_log())
    again = fm.Accumulator.from_bytes(accumulator.to_bytes())
    report = again.merge(fm.Accumulator(CANONICAL, score="one", **COLUMNS)).result()
    expected = fm.evaluate(click_log(), CANONICAL, score="one", **COLUMNS)
    assert report.results == expected.results
    assert report["Hit-Rate(average=micro)@3"] == expected["hr(average=micro)@3"]


def test_comparisons_of_texts_take_aliases():
    references = ["a b c d e", "f g h i j"]
    systems = {"one": ["a b c d e", "f g h i k"], "two": ["a b c d f", "f g h i k"]}
    comparison = fm.compare_texts(systems, references, ["corpus_bleu", "translation_edit_rate"], replicates=20)
    assert comparison["corpus_bleu"] == comparison["bleu"]
    assert comparison["translation_edit_rate"] == comparison["ter"]


def test_results_of_ranked_lists_take_aliases():
    run = {"q": {"a": 0.9, "b": 0.5, "c": 0.1}}
    result = fm.evaluate_ranking(run, {"q": {"a": 0, "b": 1}}, ["precision@2", "ndcg_score"])
    assert list(result) == ["precision@2", "ndcg_score"]
    assert result["p@2"] == result["precision@2"] == 0.5
    assert result["nDCG"] == result["ndcg_score"]


def test_parsing_an_alias_imports_nothing_new():
    code = """
import sys, fastmetrics as fm
from fastmetrics._core.registry import parse
parse("auc")
before = set(sys.modules)
parse("roc_auc_score"), parse("Hit-Rate(average=micro)@3")
assert set(sys.modules) == before, set(sys.modules) - before
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_new_parameter_is_signed_only_where_it_is_given():
    """`auc` keeps the signature of version 0.1."""
    assert parse("auc").signature({}) == parse("auc(max_fpr=None)").signature({})
    assert "max_fpr" not in parse("auc").signature({})
    assert "|max_fpr:0.1|" in parse("roc_auc_score(max_fpr=0.1)").signature({})
