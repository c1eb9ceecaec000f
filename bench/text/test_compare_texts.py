"""compare_texts beside sacrebleu's PairedTest: the same samples."""

import contextlib
import io

import numpy as np
import pytest

import fastmetrics as fm
from bench.texts import clear_line_cache, translations
from bench.timing import format_count

ROWS_PER_SEGMENT = 5000  # at the full size of the benches, 10M rows, there are 2000 segments: a test set
SAMPLES = {"bootstrap": ("bs", 1000), "randomization": ("ar", 2000)}


@pytest.fixture(scope="module")
def systems(rows):
    hypotheses, references = translations(max(200, rows // ROWS_PER_SEGMENT))
    is_perfect = np.random.default_rng(8).random(len(references)) < 0.02
    other = [
        reference if perfect else text
        for text, reference, perfect in zip(hypotheses, references, is_perfect, strict=True)
    ]
    return {"first": hypotheses, "second": other}, references


@pytest.mark.parametrize("method", SAMPLES)
def test_paired(timing, systems, method):
    metrics = pytest.importorskip("sacrebleu.metrics")
    significance = pytest.importorskip("sacrebleu.significance")
    named, references = systems
    kind, samples = SAMPLES[method]

    def theirs():
        peers = {"bleu": metrics.BLEU(), "chrf": metrics.CHRF()}
        clear_line_cache(peers["bleu"])
        with contextlib.redirect_stdout(io.StringIO()):
            test = significance.PairedTest(list(named.items()), peers, [references], test_type=kind, n_samples=samples)
            _, scores = test()
        return [value for results in list(scores.values())[1:] for value in (results[1].score, results[1].p_value)]

    def ours():
        comparison = fm.compare_texts(named, references, ["bleu", "chrf"], test=method, replicates=samples)
        return [value for difference in comparison for value in (difference.other_value, difference.pvalue)]

    work = f"`compare_texts`, {method}, {samples:,} samples of {format_count(len(references))} segments, BLEU and chrF"
    timing.compare(work, ours, "sacrebleu", theirs, within=1e-9, rounds=1)
