"""TER beside sacrebleu. Its tokenizer caches lines; the cache is cleared before every round."""

import pytest

import fastmetrics as fm
from bench.texts import clear_line_cache, n_segments, translations
from bench.timing import format_count


def sacrebleu_cold(hypotheses, references):
    sacrebleu = pytest.importorskip("sacrebleu")

    def work():
        metric = sacrebleu.TER()
        clear_line_cache(metric)
        return metric.corpus_score(hypotheses, [references]).score

    return work


@pytest.mark.parametrize("tokens", [24, 80])
def test_corpus(timing, rows, tokens):
    hypotheses, references = translations(n_segments(rows) * 24 // tokens // 10, tokens)
    timing.compare(
        f"`corpus_ter`, {format_count(len(hypotheses))} segments of {tokens} tokens",
        lambda: fm.corpus_ter(hypotheses, [references]).score,
        "sacrebleu", sacrebleu_cold(hypotheses, references), within=0.0, rounds=1,
    )  # fmt: skip
