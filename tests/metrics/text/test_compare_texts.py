"""compare_texts: sacrebleu's paired tests, samples added exactly, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._kernels import segmentsums
from fastmetrics.metrics.text import resampled
from fastmetrics.metrics.text.named_statistics import segment_statistics

WORDS = ["the", "a", "cat", "dog", "sat", "on", "mat", "with", "of", "red", "house", "tree", "runs", "fast", "and"]


def made(n=60, seed=0):
    """References, and three systems that make more and fewer mistakes."""
    generator = np.random.default_rng(seed)
    references = [" ".join(generator.choice(WORDS, generator.integers(4, 14))) for _ in range(n)]

    def worse(text, share):
        return " ".join(w if generator.random() > share else generator.choice(WORDS) for w in text.split())

    shares = {"a": 0.3, "b": 0.25, "c": 0.3}
    return {name: [worse(text, share) for text in references] for name, share in shares.items()}, references


def theirs(systems, references, metrics, **options):
    """sacrebleu's PairedTest: metric -> a result of every system."""
    pytest.importorskip("sacrebleu")
    from sacrebleu.metrics import BLEU, CHRF, TER
    from sacrebleu.significance import PairedTest

    kinds = {"bleu": BLEU, "chrf": CHRF, "ter": TER}
    made = {metric: kinds[metric]() for metric in metrics}
    _, scores = PairedTest(list(systems.items()), made, references, n_jobs=1, **options)()
    del scores["System"]
    return dict(zip(metrics, scores.values(), strict=True))


METRICS = ["bleu", "chrf", "ter"]


def test_randomisation_is_sacrebleus():
    systems, references = made()
    scores = theirs(systems, [references], METRICS, test_type="ar", n_samples=200, n_ar_confidence=100)
    found = fm.compare_texts(
        systems, references, METRICS, method="randomisation", replicates=200, interval_replicates=100
    )
    same(found, systems, scores)


def same(found, systems, scores):
    """Scores and p exactly; means and intervals as far as sacrebleu's float32 goes."""
    pvalues = set()
    for metric, results in scores.items():
        for name, result in zip(systems, results, strict=True):
            own = found.systems[name][metric]
            assert own.score == result.score
            assert math.isclose(own.mean, result.mean, rel_tol=2e-6)
            assert math.isclose(own.ci, result.ci, rel_tol=1e-4, abs_tol=1e-5)
            if result.p_value is not None:
                assert found.difference(metric, other=name).pvalue == result.p_value
                pvalues.add(result.p_value)
    assert len(pvalues) > 3


def test_bootstrap_is_sacrebleus():
    systems, references = made(seed=1)
    scores = theirs(systems, [references], METRICS, test_type="bs", n_samples=300)
    same(fm.compare_texts(systems, references, METRICS, replicates=300), systems, scores)


def test_several_references():
    systems, references = made(seed=2)
    streams = [references, [text.replace("cat", "dog") for text in references], systems["c"]]
    systems = {"a": systems["a"], "b": systems["b"]}
    scores = theirs(systems, streams, METRICS, test_type="ar", n_samples=200)
    found = fm.compare_texts(systems, streams, METRICS, method="randomisation", replicates=200)
    for metric, results in scores.items():
        assert found[metric].pvalue == results[1].p_value
        assert found.systems["b"][metric] == (results[1].score, None, None)


OPTIONS = {"chrf(word_order=2, eps_smoothing=True)": {"word_order": 2, "eps_smoothing": True}}
OPTIONS |= {f"bleu(smooth={own!r})": {"smooth": own} for own in ("add-k", "floor", "none")}
OPTIONS["meteor(modules=('exact', 'stem'))"] = {"modules": ("exact", "stem")}
OPTIONS["bleu(max_order=7, effective_order=True)"] = {"max_order": 7, "effective_order": True}


@pytest.mark.parametrize("metric", ["bleu", "chrf", "ter", "nist", *OPTIONS])
def test_samples_are_the_scores_of_their_segments(metric):
    """The plain way: the samples that the generator draws, scored one by one."""
    systems, references = made(20, seed=3)
    systems = {name: systems[name] for name in "ab"}
    if metric == "ter":
        references = [references, [text + " and" for text in references], [text + " on" for text in references]]
    word, options = metric.partition("(")[0], OPTIONS.get(metric, {})
    statistics = {name: segment_statistics(word, own, references, **options) for name, own in systems.items()}
    picks = np.random.default_rng(9).choice(20, size=(40, 20), replace=True)
    samples = {name: np.array([own[row].score().score for row in picks]) for name, own in statistics.items()}
    apart = samples["b"] - samples["a"]
    found = fm.compare_texts(systems, references, metric, replicates=40, seed=9)
    one = found[metric]
    assert one.interval == tuple(np.quantile(apart, [(1 - 0.95) / 2, 1 - (1 - 0.95) / 2]))
    assert one.standard_error == np.std(apart, ddof=1)
    assert found.systems["a"][metric].mean == np.sort(samples["a"]).mean()
    above = np.abs(apart) - np.abs(apart).mean() > abs(one.difference)
    assert one.pvalue == (above.sum() + 1) / 41
    chosen = np.random.default_rng(9).integers(2, size=(40, 20), dtype=bool)
    sizes = []
    for mask in chosen:
        mixed = [statistics["a"][mask] + statistics["b"][~mask], statistics["a"][~mask] + statistics["b"][mask]]
        sizes.append(abs(mixed[0].score().score - mixed[1].score().score))
    one = fm.compare_texts(systems, references, metric, method="randomisation", replicates=40, seed=9)[metric]
    assert one.pvalue == (np.count_nonzero(np.array(sizes) > abs(one.difference)) + 1) / 41


def test_draws_in_parts_are_the_draws_at_once(monkeypatch):
    systems, references = made(37, seed=4)
    both = [
        {"method": "bootstrap", "replicates": 75},
        {"method": "randomisation", "replicates": 75, "interval_replicates": 50},
    ]
    at_once = [fm.compare_texts(systems, references, METRICS, **options) for options in both]
    monkeypatch.setattr(resampled, "MOST_DRAWN", 37 * 20)
    for n_threads in (1, 3):
        parts = [fm.compare_texts(systems, references, METRICS, n_threads=n_threads, **options) for options in both]
        assert parts == at_once


def test_what_a_comparison_tells():
    systems, references = made(seed=5)
    found = fm.compare_texts(systems, references, "chrf", replicates=50, baseline="b", correction="holm")
    assert [(one.baseline, one.other) for one in found] == [("b", "a"), ("b", "c")]
    assert [one.adjusted_pvalue for one in found] == fm.holm([one.pvalue for one in found]).tolist()
    one = found.difference("chrf", other="a")
    assert (one.n_units, one.method) == (60, "paired bootstrap (50 samples)")
    assert "|seed:12345|bs:50|" in one.signature
    assert one.value_b == fm.corpus_chrf(systems["a"], [references]).score
    assert found.to_dict()["systems"]["a"]["chrf"]["score"] == one.value_b
    assert "paired by segment" in str(found)
    assert found == fm.compare_texts(systems, references, "chrf", replicates=50, baseline="b", correction="holm")
    assert fm.compare_texts(systems, references, "chrf", replicates=50, ci=None).differences[0].interval is None


@pytest.mark.parametrize("method", ["bootstrap", "randomisation"])
def test_systems_that_do_not_differ(method):
    systems, references = made(8)
    systems = {"a": systems["a"], "b": list(systems["a"])}
    one = fm.compare_texts(systems, references, "bleu", method=method, replicates=20)["bleu"]
    assert (one.difference, one.pvalue) == (0.0, 1.0)
    assert one.reason == "the systems score the same in every sample"


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"systems": {"a": ["x"]}}, ValueError, "systems must hold at least two to compare; found 1"),
        ({"systems": [["x"], ["y"]]}, TypeError, "systems must map names to hypotheses; found list"),
        ({"systems": {"a": ["x", "y"], "b": ["x"]}}, ValueError, "they must be as many"),
        ({"systems": {"a": [], "b": []}, "references": []}, ValueError, "no segment"),
        ({"metrics": "auc"}, ValueError, "is not one that compare_texts knows"),
        ({"metrics": "rougeL"}, ValueError, "is not one that compare_texts knows"),
        ({"metrics": []}, ValueError, "metrics is empty"),
        ({"method": "z"}, ValueError, "method must be one of"),
        ({"baseline": "z"}, ValueError, "baseline must be one of .*; found 'z'"),
        ({"replicates": 0}, ValueError, "replicates must be"),
        ({"interval_replicates": 5}, ValueError, "interval_replicates is for method='randomisation'"),
        ({"correction": "z"}, ValueError, "correction must be one of"),
        ({"ci": 2}, ValueError, "ci must be"),
        ({"seed": "z"}, TypeError, "seed must be"),
    ],
)
def test_what_is_refused(change, error, message):
    systems, references = made(4)
    arguments = {"systems": systems, "references": references, "metrics": "bleu"} | change
    with pytest.raises(error, match=message):
        fm.compare_texts(**arguments)


def test_kernels_refuse_what_does_not_fit():
    panel, out, table = np.zeros((9, 8), np.int64), np.zeros((2, 8), np.int64), np.zeros((256, 8), np.int64)
    with pytest.raises(ValueError, match="eight columns"):
        segmentsums.sum_picked(panel[:0], np.zeros((2, 3), np.int64), out)
    with pytest.raises(ValueError, match="eight columns"):
        segmentsums.sum_masked(panel[:0], np.zeros((2, 2), np.uint8), table, out)
    with pytest.raises(ValueError, match="a bit for every row"):
        segmentsums.sum_masked(panel, np.zeros((2, 1), np.uint8), table, out)
