"""METEOR beside NLTK, on English: the glosses of WordNet, with a fifth of the words replaced by a synonym, and others
inflected, dropped and moved.

NLTK stems every word of every sentence, looks up unmatched words in WordNet, and caches the files it has read. It
scores a sample of the pairs, and its time is scaled up. "Cold" is a process that has read nothing of WordNet.
"""

import random
import shutil
import time
import warnings
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import fastmetrics as fm
from bench.texts import n_segments
from bench.timing import format_count
from fastmetrics.metrics.text.tokens.wordnet import FILES, open_source, open_wordnet

SAMPLING = 10  # NLTK scores one pair in so many
LEXNAMES = 45
ENDINGS = ("s", "ed", "ing")


@lru_cache
def glosses():
    try:
        folder = Path(open_wordnet().source)
    except FileNotFoundError as error:
        pytest.skip(str(error))
    lines = (line for name in FILES[4:8] for line in (folder / name).read_text("utf-8").splitlines() if line[0] != " ")
    texts = [line.partition("| ")[2].strip() for line in lines]
    random.Random(1).shuffle(texts)
    return texts


@lru_cache
def pairs(n, n_words=25):
    """Return hypotheses that are similar to references of about n_words words, and these references."""
    chance = random.Random(20260602)
    words = " ".join(glosses()).split()
    synonyms = lru_cache(maxsize=None)(lambda word: sorted(open_wordnet().lemma_names(word)))
    hypotheses, references = [], []
    for number in range(n):
        start = number * n_words % (len(words) - n_words)
        reference = words[start : start + n_words - chance.randrange(8)]
        hypothesis = []
        for word in reference:
            draw = chance.random()
            if draw < 0.2 and synonyms(word):
                hypothesis.append(chance.choice(synonyms(word)))
            elif draw < 0.3:
                hypothesis.append(word + chance.choice(ENDINGS))
            elif draw < 0.9:
                hypothesis.append(word)
        start = chance.randrange(max(1, len(hypothesis)))
        hypotheses.append(" ".join(hypothesis[start:] + hypothesis[:start]))
        references.append(" ".join(reference))
    return hypotheses, references


@pytest.fixture(scope="module")
def texts(rows):
    return pairs(n_segments(rows))


def new_reader(folder):
    """Return NLTK's WordNet of a copy of the same files, with one more file that it needs."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):
        def map_wn(self, version="wordnet"):
            """Skip the maps for other languages."""

    if str(folder) not in nltk.data.path:
        nltk.data.path.append(str(folder))
        for name in FILES:
            shutil.copyfile(Path(open_wordnet().source) / name, folder / name)
        (folder / "lexnames").write_text("".join(f"{number:02d}\tname\t0\n" for number in range(LEXNAMES)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return Reader(str(folder), None)


@pytest.fixture(scope="module")
def folder():
    with TemporaryDirectory() as name:
        yield Path(name)


def segment_scores(hypotheses, references, **options):
    return fm.segment_statistics("meteor", hypotheses, references, **options).scores().tolist()


def nltk_scores(hypotheses, references, reader):
    from nltk.translate.meteor_score import single_meteor_score

    split = ((reference.split(), own.split()) for own, reference in zip(hypotheses, references, strict=True))
    return [single_meteor_score(reference, own, wordnet=reader) for reference, own in split]


class Silent:
    """A WordNet without synonyms."""

    def synsets(self, word):
        return []


def compare_with_nltk(timing, work, texts, reader, **options):
    """Compare the scores of a sample of pairs, which must be equal; then time ours on all, NLTK on the sample."""
    few = texts[0][::SAMPLING], texts[1][::SAMPLING]
    assert segment_scores(*few, alignment="nltk", **options) == nltk_scores(*few, reader)
    timing.compare(
        work,
        lambda: fm.corpus_meteor(*texts, **options).score,
        "NLTK",
        lambda: nltk_scores(*few, reader),
        within=None,
        scale=len(texts[0]) / len(few[0]),
        note="equal bit by bit with `alignment=\"nltk\"`",
    )


def test_synonyms(timing, texts, folder):
    pytest.importorskip("nltk")
    work = f"`corpus_meteor`, {format_count(len(texts[0]))} pairs, WordNet's synonyms"
    compare_with_nltk(timing, work, texts, new_reader(folder))


def test_synonyms_by_one_thread(timing, texts, folder):
    pytest.importorskip("nltk")
    work = f"`corpus_meteor`, {format_count(len(texts[0]))} pairs, WordNet's synonyms, one thread of ours"
    compare_with_nltk(timing, work, texts, new_reader(folder), n_threads=1)


def test_stems(timing, texts):
    pytest.importorskip("nltk")
    work = f"`corpus_meteor`, {format_count(len(texts[0]))} pairs, exact and stem"
    compare_with_nltk(timing, work, texts, Silent(), modules=("exact", "stem"))


def test_cold(timing, folder):
    """WordNet opened and one sentence scored, as in the first call of a script."""
    pytest.importorskip("nltk")
    glosses()
    hypothesis, reference = ["the", "guide", "directs", "a", "party"], ["a", "group", "led", "by", "the", "guidebook"]

    def mine():
        open_source.cache_clear()
        return fm.sentence_meteor(hypothesis, [reference], alignment="nltk").score

    def theirs():
        return nltk_scores([" ".join(hypothesis)], [" ".join(reference)], new_reader(folder))[0]

    timing.compare("WordNet opened, one sentence scored", mine, "NLTK", theirs, within=0)


def test_opening(timing):
    """The files are in the system's page cache."""
    glosses()

    def seconds_to_open():
        open_source.cache_clear()
        start = time.perf_counter()
        open_wordnet()
        return time.perf_counter() - start

    timing.measure("WordNet opened", seconds_to_open, reported=True)
