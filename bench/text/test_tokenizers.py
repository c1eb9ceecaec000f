"""Tokenizers to lists of strings, beside those of sacrebleu and rouge-score. The cache of sacrebleu's is cleared."""

import pytest

import fastmetrics as fm
from bench.texts import n_segments, translations
from bench.timing import format_count


def theirs(name, texts):
    if name == "alphanumeric":
        tokenize = pytest.importorskip("rouge_score.tokenize").tokenize
        return lambda: [tokenize(text, None) for text in texts]
    sacrebleu = pytest.importorskip("sacrebleu")

    def work():
        tokenizer = sacrebleu.BLEU(tokenize=name).tokenizer
        for cached in (tokenizer, getattr(tokenizer, "_post_tokenizer", None)):
            clear_cache = getattr(type(cached).__call__, "cache_clear", None)
            if clear_cache is not None:
                clear_cache()
        return [tokenizer(text.rstrip()).split() for text in texts]

    return work


@pytest.mark.parametrize("name", ["13a", "intl", "zh", "char", "none", "alphanumeric"])
def test_texts(timing, rows, name):
    _, texts = translations(n_segments(rows))
    peer = theirs(name, texts)
    assert fm.tokenize(texts, name) == peer()
    timing.compare(
        f"`tokenize`, {name}, {format_count(len(texts))} texts", lambda: fm.tokenize(texts, name),
        "rouge-score" if name == "alphanumeric" else "sacrebleu", peer, within=None,
    )  # fmt: skip
