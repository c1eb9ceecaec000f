"""TER beside sacrebleu, whose tokenizer remembers lines: it forgets them before every round."""

import pytest

import fastmetrics as fm
from bench.race import count
from bench.texts import forget_lines, n_segments, translations


def sacrebleu_cold(hypotheses, references):
    sacrebleu = pytest.importorskip("sacrebleu")

    def work():
        metric = sacrebleu.TER()
        forget_lines(metric)
        return metric.corpus_score(hypotheses, [references]).score

    return work


@pytest.mark.parametrize("tokens", [24, 80])
def test_corpus(race, rows, tokens):
    hypotheses, references = translations(n_segments(rows) * 24 // tokens // 10, tokens)
    race.against(
        f"`corpus_ter`, {count(len(hypotheses))} segments of {tokens} tokens",
        lambda: fm.corpus_ter(hypotheses, [references]).score,
        "sacrebleu", sacrebleu_cold(hypotheses, references), within=0.0, rounds=1,
    )  # fmt: skip
