"""METEOR beside NLTK, on English: the glosses of WordNet itself, a fifth of their words replaced by a synonym, others
inflected, dropped and moved.

NLTK stems every word of every sentence; WordNet it asks for the words that are left over, and keeps what it has read of
it. It scores a part of the pairs, and its time is multiplied. "Cold" is a process that has read nothing of WordNet.
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
from bench.race import at_least, at_most_seconds, count
from bench.texts import n_segments
from fastmetrics.metrics.text.wordnet import FILES, open_source, open_wordnet

PART = 10  # of the pairs, one in so many goes to NLTK
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
    """References of about n_words words, and hypotheses that say nearly the same."""
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
        place = chance.randrange(max(1, len(hypothesis)))
        hypotheses.append(" ".join(hypothesis[place:] + hypothesis[:place]))
        references.append(" ".join(reference))
    return hypotheses, references


@pytest.fixture(scope="module")
def texts(rows):
    return pairs(n_segments(rows))


def new_reader(folder):
    """NLTK's WordNet over the same files, with what it wants besides."""
    import nltk
    from nltk.corpus.reader.wordnet import WordNetCorpusReader

    class Reader(WordNetCorpusReader):
        def map_wn(self, version="wordnet"):
            """Other languages are not asked for."""

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


def race_against_nltk(race, work, texts, reader, target=None, **options):
    """Every PART-th pair is compared, bit by bit; then ours scores all, NLTK the part."""
    few = texts[0][::PART], texts[1][::PART]
    assert segment_scores(*few, alignment="nltk", **options) == nltk_scores(*few, reader)
    race.against(
        work,
        lambda: fm.corpus_meteor(*texts, **options).score,
        "NLTK",
        lambda: nltk_scores(*few, reader),
        within=None,
        target=target,
        scale=len(texts[0]) / len(few[0]),
        note="equal bit by bit with `alignment=\"nltk\"`",
    )


def test_synonyms(race, texts, folder):
    pytest.importorskip("nltk")
    work = f"`corpus_meteor`, {count(len(texts[0]))} pairs, WordNet's synonyms"
    race_against_nltk(race, work, texts, new_reader(folder), at_least(30))


def test_synonyms_by_one_thread(race, texts, folder):
    pytest.importorskip("nltk")
    work = f"`corpus_meteor`, {count(len(texts[0]))} pairs, WordNet's synonyms, one thread of ours"
    race_against_nltk(race, work, texts, new_reader(folder), n_threads=1)


def test_stems(race, texts):
    pytest.importorskip("nltk")
    work = f"`corpus_meteor`, {count(len(texts[0]))} pairs, exact and stem"
    race_against_nltk(race, work, texts, Silent(), modules=("exact", "stem"))


def test_cold(race, folder):
    """WordNet opened and one sentence scored: what a script waits for at its first call."""
    pytest.importorskip("nltk")
    glosses()
    hypothesis, reference = ["the", "guide", "directs", "a", "party"], ["a", "group", "led", "by", "the", "guidebook"]

    def mine():
        open_source.cache_clear()
        return fm.sentence_meteor(hypothesis, [reference], alignment="nltk").score

    def theirs():
        return nltk_scores([" ".join(hypothesis)], [" ".join(reference)], new_reader(folder))[0]

    race.against("WordNet opened, one sentence scored", mine, "NLTK", theirs, within=0)


def test_opening(race):
    """The files are in the system's memory; the bound is the one of the project's table."""
    glosses()

    def opened():
        open_source.cache_clear()
        start = time.perf_counter()
        open_wordnet()
        return time.perf_counter() - start

    race.alone("WordNet opened", opened, reported=True, target=at_most_seconds(0.3))
