"""Tokenizers beside those of sacrebleu and rouge-score, to lists of strings; what sacrebleu's remember is forgotten."""

import pytest

import fastmetrics as fm
from bench.race import count
from bench.texts import n_segments, translations


def theirs(name, texts):
    if name == "alphanumeric":
        tokenize = pytest.importorskip("rouge_score.tokenize").tokenize
        return lambda: [tokenize(text, None) for text in texts]
    sacrebleu = pytest.importorskip("sacrebleu")

    def work():
        tokenizer = sacrebleu.BLEU(tokenize=name).tokenizer
        for own in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
            forget = getattr(type(own).__call__, "cache_clear", None)
            if forget is not None:
                forget()
        return [tokenizer(text.rstrip()).split() for text in texts]

    return work


@pytest.mark.parametrize("name", ["13a", "intl", "zh", "char", "none", "alphanumeric"])
def test_texts(race, rows, name):
    _, texts = translations(n_segments(rows))
    other = theirs(name, texts)
    assert fm.tokenize(texts, name) == other()
    race.against(
        f"`tokenize`, {name}, {count(len(texts))} texts", lambda: fm.tokenize(texts, name),
        "rouge-score" if name == "alphanumeric" else "sacrebleu", other, within=None,
    )  # fmt: skip
