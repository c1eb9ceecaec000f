"""compare_texts: p-values and intervals of sacrebleu's paired tests, exact sums of samples, and errors."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._kernels.resampling import segment_sums
from fastmetrics.metrics.text import resampled_sums
from fastmetrics.metrics.text.segment_statistics import segment_statistics
from support.cases import assert_raises, each_case

WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "with", "of", "red", "horse", "tree", "runs", "fast", "and"]


def make_systems(n=60, seed=0):
    """Three systems with random mistakes, and the references."""
    generator = np.random.default_rng(seed)
    references = [" ".join(generator.choice(WORDS, generator.integers(4, 14))) for _ in range(n)]

    def replace_words(text, share):
        return " ".join(w if generator.random() > share else generator.choice(WORDS) for w in text.split())

    shares = {"a": 0.3, "b": 0.25, "c": 0.3}
    return {name: [replace_words(text, share) for text in references] for name, share in shares.items()}, references


def sacrebleu_test(systems, references, metrics, **options):
    """Run sacrebleu's PairedTest; return metric -> the result of every system."""
    pytest.importorskip("sacrebleu")
    from sacrebleu.metrics import BLEU, CHRF, TER
    from sacrebleu.significance import PairedTest

    classes = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
    peers = {metric: classes[metric]() for metric in metrics}
    _, scores = PairedTest(list(systems.items()), peers, references, n_jobs=1, **options)()
    del scores["System"]
    return dict(zip(metrics, scores.values(), strict=True))


METRICS = ["bleu", "chrf", "ter"]


def test_randomization_is_sacrebleus():
    systems, references = make_systems()
    scores = sacrebleu_test(systems, [references], METRICS, test_type="ar", n_samples=200, n_ar_confidence=100)
    found = fm.compare_texts(
        systems, references, METRICS, test="randomization", replicates=200, interval_replicates=100
    )
    assert_same(found, systems, scores)


def assert_same(found, systems, scores):
    """Scores but for a last bit and p-values are equal; means and intervals to the precision of its float32."""
    pvalues = set()
    for metric, results in scores.items():
        for name, result in zip(systems, results, strict=True):
            score = found.systems[name][metric]
            assert math.isclose(score.score, result.score, rel_tol=1e-14)
            assert math.isclose(score.mean, result.mean, rel_tol=2e-6)
            assert math.isclose(score.half_width, result.ci, rel_tol=1e-4, abs_tol=1e-5)
            if result.p_value is not None:
                assert found.difference(metric, other=name).pvalue == result.p_value
                pvalues.add(result.p_value)
    assert len(pvalues) > 3


def test_bootstrap_is_sacrebleus():
    systems, references = make_systems(seed=1)
    scores = sacrebleu_test(systems, [references], METRICS, test_type="bs", n_samples=300)
    assert_same(fm.compare_texts(systems, references, METRICS, replicates=300), systems, scores)


def test_several_references():
    systems, references = make_systems(seed=2)
    streams = [references, [text.replace("cat", "dog") for text in references], systems["c"]]
    systems = {"a": systems["a"], "b": systems["b"]}
    scores = sacrebleu_test(systems, streams, METRICS, test_type="ar", n_samples=200)
    found = fm.compare_texts(systems, streams, METRICS, test="randomization", replicates=200)
    for metric, results in scores.items():
        assert found[metric].pvalue == results[1].p_value
        assert found.systems["b"][metric] == (pytest.approx(results[1].score, rel=1e-14), None, None)


OPTIONS = {"chrf(word_order=2, eps_smoothing=True)": {"word_order": 2, "eps_smoothing": True}}
OPTIONS |= {f"bleu(smooth={smooth!r})": {"smooth": smooth} for smooth in ("add-k", "floor", "none")}
OPTIONS["meteor(modules=('exact', 'stem'))"] = {"modules": ("exact", "stem")}
OPTIONS["bleu(max_order=7, effective_order=True)"] = {"max_order": 7, "effective_order": True}


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "nist", *OPTIONS])
def test_samples_are_the_scores_of_their_segments(metric):
    """Compare with the definition: every sample that the generator draws is scored by itself."""
    systems, references = make_systems(20, seed=3)
    systems = {name: systems[name] for name in "ab"}
    if metric == "ter":
        references = [references, [text + " and" for text in references], [text + " on" for text in references]]
    base_name, options = metric.partition("(")[0], OPTIONS.get(metric, {})
    statistics = {name: segment_statistics(base_name, own, references, **options) for name, own in systems.items()}
    rows = np.random.default_rng(9).choice(20, size=(40, 20), replace=True)
    samples = {name: np.array([own[row].score().score for row in rows]) for name, own in statistics.items()}
    differences = samples["b"] - samples["a"]
    comparison = fm.compare_texts(systems, references, metric, replicates=40, seed=9)
    tested = comparison[metric]
    assert tested.interval == tuple(np.quantile(differences, [(1 - 0.95) / 2, 1 - (1 - 0.95) / 2]))
    assert tested.standard_error == np.std(differences, ddof=1)
    if tested.verdict_interval is None:
        assert tested.reason == "interval and test disagree at 95%: the test decides"
    else:
        assert tested.verdict_interval == tested.interval
    assert comparison.systems["a"][metric].mean == np.sort(samples["a"]).mean()
    above = np.abs(differences) - np.abs(differences).mean() > abs(tested.difference)
    assert tested.pvalue == (above.sum() + 1) / 41
    masks = np.random.default_rng(9).integers(2, size=(40, 20), dtype=bool)
    sizes = []
    for mask in masks:
        mixed = [statistics["a"][mask] + statistics["b"][~mask], statistics["a"][~mask] + statistics["b"][mask]]
        sizes.append(abs(mixed[0].score().score - mixed[1].score().score))
    tested = fm.compare_texts(systems, references, metric, test="randomization", replicates=40, seed=9)[metric]
    assert tested.pvalue == (np.count_nonzero(np.array(sizes) > abs(tested.difference)) + 1) / 41


def test_draws_of_several_calls_are_those_of_one_call(monkeypatch):
    systems, references = make_systems(37, seed=4)
    methods = [
        {"test": "bootstrap", "replicates": 75},
        {"test": "randomization", "replicates": 75, "interval_replicates": 50},
    ]
    expected = [fm.compare_texts(systems, references, METRICS, **options) for options in methods]
    monkeypatch.setattr(resampled_sums, "MAX_DRAWS_PER_CALL", 37 * 20)
    for n_threads in (1, 3):
        found = [fm.compare_texts(systems, references, METRICS, n_threads=n_threads, **options) for options in methods]
        assert found == expected


def test_attributes_of_a_comparison():
    systems, references = make_systems(seed=5)
    found = fm.compare_texts(systems, references, "chrf", replicates=50, baseline="b", correction="holm")
    assert [(one.baseline, one.other) for one in found] == [("b", "a"), ("b", "c")]
    assert [one.adjusted_pvalue for one in found] == fm.holm([one.pvalue for one in found]).tolist()
    one = found.difference("chrf", other="a")
    assert (one.n_units, one.method) == (60, "paired bootstrap (50 samples)")
    assert "|seed:12345|bs:50|" in one.signature
    assert one.other_value == fm.corpus_chrf(systems["a"], [references]).score
    assert found.to_dict()["systems"]["a"]["chrf"]["score"] == one.other_value
    assert "paired by segment" in str(found)
    assert found == fm.compare_texts(systems, references, "chrf", replicates=50, baseline="b", correction="holm")
    assert found != fm.compare_texts(systems, references, "chrf", replicates=50, baseline="b", correction=None)
    assert fm.compare_texts(systems, references, "chrf", replicates=50, ci=None).differences[0].interval is None


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_equal_systems(test):
    systems, references = make_systems(8)
    systems = {"a": systems["a"], "b": list(systems["a"])}
    one = fm.compare_texts(systems, references, "bleu", test=test, replicates=20)["bleu"]
    assert (one.difference, one.pvalue) == (0.0, 1.0)
    assert one.reason == "the systems score the same in every sample"


@each_case(
    ("change", "error", "message"),
    [
        ({"systems": {"a": ["x"]}}, ValueError, "systems must hold at least two to compare; found 1"),
        ({"systems": [["x"], ["y"]]}, TypeError, "systems must map names to hypotheses; found list"),
        ({"systems": {"a": ["x", "y"], "b": ["x"]}}, ValueError, r"^systems\['a'\]: .* but hypotheses has 2"),
        ({"systems": {"a": [], "b": []}, "references": []}, ValueError, "hypotheses is empty"),
        ({"metrics": "auc"}, ValueError, "is not supported by compare_texts"),
        ({"metrics": "rougeL"}, ValueError, "is not supported by compare_texts"),
        ({"metrics": []}, ValueError, "metrics is empty"),
        ({"test": "z"}, ValueError, "test must be one of"),
        ({"baseline": "z"}, ValueError, "baseline must be one of .*; found 'z'"),
        ({"replicates": 0}, ValueError, "replicates must be"),
        ({"interval_replicates": 5}, ValueError, "interval_replicates needs test='randomization'"),
        ({"correction": "z"}, ValueError, "correction must be one of"),
        ({"ci": 2}, ValueError, "ci must be"),
        ({"seed": "z"}, TypeError, "seed must be"),
    ],
)
def test_bad_arguments(change, error, message):
    systems, references = make_systems(4)
    arguments = {"systems": systems, "references": references, "metrics": "bleu"} | change
    assert_raises(error, message, fm.compare_texts, **arguments)


def test_kernels_reject_arrays_of_wrong_shapes():
    panel, out, table = np.zeros((9, 8), np.int64), np.zeros((2, 8), np.int64), np.zeros((256, 8), np.int64)
    assert_raises(
        ValueError, "eight columns", segment_sums.sum_sampled_rows, panel[:0], np.zeros((2, 3), np.int64), out
    )
    assert_raises(
        ValueError, "eight columns", segment_sums.sum_masked_rows, panel[:0], np.zeros((2, 2), np.uint8), table, out
    )
    assert_raises(
        ValueError, "a bit for every row", segment_sums.sum_masked_rows, panel, np.zeros((2, 1), np.uint8), table, out
    )
