"""chrF and chrF++ beside sacrebleu, on real translations repeated to 20,000 segments."""

import pytest

import fastmetrics as fm
from bench.race import at_least
from bench.texts import translations

SEGMENTS = 20_000


@pytest.mark.parametrize(("name", "options"), [("chrF", {}), ("chrF++", {"word_order": 2})])
def test_corpus(race, name, options):
    import sacrebleu

    hypotheses, references = translations(SEGMENTS)
    metric = sacrebleu.CHRF(**options)
    race.against(
        f"`corpus_chrf`, {name}, 20k segments", lambda: fm.corpus_chrf(hypotheses, [references], **options).score,
        "sacrebleu", lambda: metric.corpus_score(hypotheses, [references]).score,
        within=0.0, target=at_least(20), rounds=1,
    )  # fmt: skip


def test_long_segments(race):
    """Documents of 10,000 characters: tables instead of masks."""
    import sacrebleu

    sentences, others = translations(3_000)
    hypotheses = [" ".join(sentences[start : start + 80]) for start in range(0, 3_000, 80)]
    references = [" ".join(others[start : start + 80]) for start in range(0, 3_000, 80)]
    metric = sacrebleu.CHRF()
    race.against(
        "`corpus_chrf`, 38 documents of 10,000 characters", lambda: fm.corpus_chrf(hypotheses, [references]).score,
        "sacrebleu", lambda: metric.corpus_score(hypotheses, [references]).score,
        within=0.0, target=at_least(20), rounds=3,
    )  # fmt: skip
