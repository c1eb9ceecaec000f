"""compare_texts beside sacrebleu's PairedTest: the same samples."""

import contextlib
import io

import numpy as np
import pytest

import fastmetrics as fm
from bench.race import at_least, count
from bench.texts import forget_lines, translations

SEGMENTS_OF_ROWS = 5000  # 10M rows of the other benches are 2000 segments, a test set
SAMPLES = {"bootstrap": ("bs", 1000), "randomisation": ("ar", 2000)}


@pytest.fixture(scope="module")
def systems(rows):
    hypotheses, references = translations(max(200, rows // SEGMENTS_OF_ROWS))
    better = np.random.default_rng(8).random(len(references)) < 0.02
    other = [own if good else text for text, own, good in zip(hypotheses, references, better, strict=True)]
    return {"first": hypotheses, "second": other}, references


@pytest.mark.parametrize("method", SAMPLES)
def test_paired(race, systems, method):
    metrics = pytest.importorskip("sacrebleu.metrics")
    significance = pytest.importorskip("sacrebleu.significance")
    named, references = systems
    kind, samples = SAMPLES[method]

    def theirs():
        made = {"bleu": metrics.BLEU(), "chrf": metrics.CHRF()}
        forget_lines(made["bleu"])
        with contextlib.redirect_stdout(io.StringIO()):
            test = significance.PairedTest(list(named.items()), made, [references], test_type=kind, n_samples=samples)
            _, scores = test()
        return [value for results in list(scores.values())[1:] for value in (results[1].score, results[1].p_value)]

    def ours():
        found = fm.compare_texts(named, references, ["bleu", "chrf"], method=method, replicates=samples)
        return [value for one in found for value in (one.value_b, one.pvalue)]

    work = f"`compare_texts`, {method}, {samples:,} samples of {count(len(references))} segments, BLEU and chrF"
    race.against(work, ours, "sacrebleu", theirs, within=1e-9, rounds=1, target=at_least(20))
