"""METEOR against its definition, by enumeration, and against NLTK's scores."""

import math
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._kernels.text.meteor_alignment import Aligner
from fastmetrics.metrics.text import meteor
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_sentence
from fastmetrics.metrics.text.text_metric import prepare_metric
from fastmetrics.metrics.text.tokens import wordnet
from fastmetrics.metrics.text.tokens.wordnet import open_wordnet
from oracles.text import meteor as oracle
from support.cases import assert_raises, each_case
from support.files.wordnet_files import installed_wordnet, nltk_wordnet, write_wordnet

WITHOUT_SYNONYMS = ("exact", "stem")
# Words with common stems, and synonyms that are not transitive.
WORDS = (
    "run", "runs", "running", "go", "goes", "big", "large", "bigger", "the", "travel", "move", "guide", "direct",
    "point",
)  # fmt: skip
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6)
FEW = st.lists(st.sampled_from("ab"), max_size=6) | st.lists(st.sampled_from("abc"), max_size=6)
ANY_WORDS = st.lists(st.text(max_size=4).filter(str.split).map(lambda text: text.split()[0]), max_size=6)
UNUSUAL_WORDS = ("İstanbul", "ΣΟΦΟΣ", "Straße", "the", "Kelvin", "\u212a", "文", "THE")
MODULES = (
    ("exact", "stem", "synonym"), ("exact",), ("stem",), ("synonym",), ("stem", "synonym"),
    ("exact", "synonym", "stem"),
)  # fmt: skip


@cache
def stemmed(word):
    return pytest.importorskip("nltk.stem.porter").PorterStemmer().stem(word)


@cache
def synonyms_of(word):
    return open_wordnet().lemma_names(word) | {word}


FIELDS = (
    "score", "segment_score", "corpus_score", "precision", "recall", "fragmentation", "matches", "chunks", "sys_len",
    "ref_len",
)  # fmt: skip


def fields(result):
    """All numbers of a result."""
    return [getattr(result, name) for name in FIELDS]


def equal(one, other):
    return one == other


STAGES = {
    "exact": (str, equal),
    "stem": (stemmed, equal),
    "synonym": (str, lambda word, other: other in synonyms_of(word)),
}


def aligned(hypothesis, reference, modules, greedy=False, source=None):
    """Align two lists of words; return statistics, matched pairs, and whether the search was exact."""
    alignment = "nltk" if greedy else "fewest_crossings"
    metric = meteor.make_metric(modules=modules, alignment=alignment, wordnet=source)
    segments = segments_from_sentence(hypothesis, [reference])
    metric = prepare_metric(metric, segments)
    counter, out = meteor.MeteorCounter(metric), np.zeros((1, 4), np.int64)
    counter.count(segments.load(0, Scratch(), {}), out)
    links = counter.aligner.links()
    return out[0].tolist(), [(i, j) for i, j in enumerate(links) if j >= 0], counter.aligner.exact


def check(hypothesis, reference, modules, greedy=False):
    expected = oracle.align(hypothesis, reference, [STAGES[name] for name in modules], greedy)
    counts, links, is_exact = aligned(hypothesis, reference, modules, greedy)
    assert links == expected
    assert counts == [len(expected), oracle.chunks(expected), len(hypothesis), len(reference)]
    assert is_exact


@pytest.fixture(scope="module")
def chain(tmp_path_factory):
    """A WordNet of synonyms that are not transitive. ka is a synonym of kx, but kx is not one of ka."""
    synsets = [("ka", "kb"), ("kb", "kc"), ("kc", "kd"), ("kd", "ke"), ("ka", "kf", "kd"), ("kg",)]
    return write_wordnet(tmp_path_factory.mktemp("chain"), synsets, "kx ka\n")


class TestGraphs:
    """Synonyms that are not transitive, in a WordNet of a few words."""

    WORDS = ("ka", "kb", "kc", "kd", "ke", "kf", "kg", "kx")

    def check(self, chain, hypothesis, reference, modules, greedy):
        names = cache(lambda word: open_wordnet(chain).lemma_names(word) | {word})
        stages = STAGES | {"synonym": (str, lambda word, other: other in names(word))}
        expected = oracle.align(hypothesis, reference, [stages[name] for name in modules], greedy)
        counts, links, is_exact = aligned(hypothesis, reference, modules, greedy, chain)
        assert links == expected
        assert counts[:2] == [len(expected), oracle.chunks(expected)]
        assert is_exact

    @settings(max_examples=150)
    @given(
        st.lists(st.sampled_from(WORDS), max_size=6), st.lists(st.sampled_from(WORDS), max_size=6),
        st.sampled_from([("synonym",), ("exact", "synonym")]), st.booleans(),
    )  # fmt: skip
    def test_any(self, chain, hypothesis, reference, modules, greedy):
        self.check(chain, hypothesis, reference, modules, greedy)

    @pytest.mark.parametrize("seed", range(2))
    def test_denser(self, chain, seed):
        random = np.random.default_rng(seed)
        for _ in range(60):
            hypothesis, reference = (random.choice(self.WORDS[:6], size).tolist() for size in (7, 4))
            self.check(chain, hypothesis, reference, ("synonym",), False)
            self.check(chain, reference, hypothesis, ("synonym",), False)

    def test_large(self, chain):
        """Up to 64 words on either side, the matching is a maximum one; beyond that, nearly so."""
        random = np.random.default_rng(3)
        for size, least in ((40, 40), (60, 60), (300, 285)):
            hypothesis = random.choice(self.WORDS[:6], size).tolist()
            counts, links, _ = aligned(hypothesis, hypothesis[::-1], ("synonym",), False, chain)
            assert counts[0] == len(links) == len({j for _, j in links}) >= least


class TestAlignment:
    @settings(max_examples=100)
    @given(FEW, FEW, st.booleans())
    def test_repeated_words(self, hypothesis, reference, greedy):
        check(hypothesis, reference, ("exact",), greedy)

    @pytest.mark.wordnet
    @settings(max_examples=100)
    @given(TEXTS, TEXTS, st.sampled_from(MODULES), st.booleans())
    def test_stages(self, hypothesis, reference, modules, greedy):
        if "synonym" in modules:
            installed_wordnet()
        check(hypothesis, reference, modules, greedy)

    @pytest.mark.parametrize("seed", range(3))
    def test_sides_of_unlike_length(self, seed):
        random = np.random.default_rng(seed)
        for _ in range(30):
            few = random.choice(list("abcd"), 3).tolist()
            many = random.choice(list("abcd"), 11).tolist()
            check(few, many, ("exact",))
            check(many, few, ("exact",))

    def test_where_greedy_crosses_needlessly(self):
        """The last "the" of the hypothesis takes the last of the reference, and crosses all that is between."""
        hypothesis, reference = ["the", "cat", "sat", "on", "mat", "the"], ["the", "cat", "sat", "on", "mat"]
        check(hypothesis, reference, ("exact",))
        assert aligned(hypothesis, reference, ("exact",))[0] == [5, 1, 6, 5]
        assert aligned(hypothesis, reference, ("exact",), greedy=True)[0] == [5, 2, 6, 5]

    def test_fewest_crossings_may_make_more_chunks(self):
        """Crossings are compared before chunks, as the definition says: one crossing less is worth a chunk more."""
        hypothesis, reference = list("aab"), list("aba")
        counts, links, _ = aligned(hypothesis, reference, ("exact",))
        assert links == [(0, 0), (1, 2), (2, 1)] == oracle.align(hypothesis, reference, [STAGES["exact"]])
        assert (counts[:2], oracle.crossings(links)) == ([3, 3], 1)
        in_two_chunks = [(0, 2), (1, 0), (2, 1)]
        assert (oracle.chunks(in_two_chunks), oracle.crossings(in_two_chunks)) == (2, 2)

    @pytest.mark.wordnet
    def test_synonyms_are_looked_up_for_stems(self):
        """As in NLTK: the stem "guid" is not in WordNet, the word "guide" is."""
        installed_wordnet()
        assert aligned(["guide"], ["direct"], ("exact", "stem", "synonym"))[0][0] == 0
        assert aligned(["guide"], ["direct"], ("exact", "synonym", "stem"))[0][0] == 1

    @pytest.mark.wordnet
    def test_the_search_is_exact_for_real_segments(self, wmt):
        """No segment of the real systems reaches a limit of the search."""
        installed_wordnet()
        for hypotheses in wmt.systems.values():
            for hypothesis, reference in zip(hypotheses, wmt.reference, strict=True):
                assert aligned(hypothesis.split(), reference.split(), ("exact", "stem", "synonym"))[2]

    def test_a_limited_search_still_finds_a_maximum_matching(self):
        random = np.random.default_rng(5)
        words = [f"w{i}" for i in range(12)]
        hypothesis, reference = random.choice(words, 300).tolist(), random.choice(words, 400).tolist()
        counts, links, is_exact = aligned(hypothesis, reference, ("exact",))
        assert not is_exact
        most = sum(min(hypothesis.count(word), reference.count(word)) for word in words)
        assert counts[0] == len(links) == most
        assert all(hypothesis[i] == reference[j] for i, j in links)
        assert len({j for _, j in links}) == most
        greedy = aligned(hypothesis, reference, ("exact",), greedy=True)[1]
        assert oracle.crossings(links) < oracle.crossings(greedy)

    @pytest.mark.parametrize(("n_hypothesis", "n_reference"), [(200_000, 180_000), (150_000, 200_000), (200_000, 1)])
    def test_very_long_segments(self, n_hypothesis, n_reference):
        counts, _, _ = aligned(["the"] * n_hypothesis, ["the"] * n_reference, ("exact",))
        assert counts == [min(n_hypothesis, n_reference), 1, n_hypothesis, n_reference]

    def test_very_long_segments_of_many_words(self):
        random = np.random.default_rng(0)
        hypothesis = random.choice(["the", "of", "a", "b", "c"] + [f"w{i}" for i in range(30_000)], 100_000).tolist()
        reference = hypothesis[50_000:] + hypothesis[:40_000]
        counts, _, is_exact = aligned(hypothesis, reference, WITHOUT_SYNONYMS)
        assert counts[0] == len(reference)
        assert not is_exact

    @pytest.mark.wordnet
    def test_many_synonyms(self):
        """Connected components of the graph of synonyms that are too large for masks."""
        installed_wordnet()
        random = np.random.default_rng(1)
        hypothesis = random.choice(WORDS, 400).tolist()
        counts, links, _ = aligned(hypothesis, random.choice(WORDS, 300).tolist(), ("synonym",))
        assert counts[0] == len(links) > 200

    def test_stages_are_checked(self):
        assert_raises(ValueError, "stages", Aligner, [], False)
        assert_raises(ValueError, "WordNet", Aligner, [2], False)


# ------------------------------------------------------------------------------------------------------------- NLTK


class CachedNltk:
    """NLTK's stemmer and WordNet with a cache: its METEOR calls them for every word of every sentence."""

    def __init__(self, reader=None):
        self.stem = cache(pytest.importorskip("nltk.stem.porter").PorterStemmer().stem)
        self.synsets = cache(reader.synsets) if reader is not None else lambda word: []


@pytest.fixture(scope="module")
def nltk_meteor(tmp_path_factory):
    """Return NLTK's function from words to the score of a segment."""
    scores = pytest.importorskip("nltk.translate.meteor_score")
    peer = CachedNltk(nltk_wordnet(tmp_path_factory.mktemp("nltk")))

    def score(hypothesis, references, synonyms=True, **options):
        reader = peer if synonyms else CachedNltk()
        return scores.meteor_score(references, hypothesis, stemmer=peer, wordnet=reader, **options)

    return score


@pytest.mark.wordnet
class TestNltk:
    def test_real_systems(self, wmt, nltk_meteor):
        for number, system in enumerate(wmt.systems.values()):
            hypotheses, lines = system[number::9], wmt.reference[number::9]
            references = [reference.split() for reference in lines]
            statistics = fm.segment_statistics("meteor", hypotheses, lines, alignment="nltk")
            pairs = zip(hypotheses, references, strict=True)
            theirs = [nltk_meteor(hypothesis.split(), [reference]) for hypothesis, reference in pairs]
            assert statistics.scores().tolist() == theirs
            assert statistics.score().score == pytest.approx(math.fsum(theirs) / len(theirs), rel=1e-15)

    @settings(max_examples=60)
    @given(TEXTS, st.lists(TEXTS, min_size=1, max_size=3))
    def test_several_references(self, nltk_meteor, hypothesis, references):
        ours = fm.sentence_meteor(hypothesis, references, alignment="nltk").score
        assert ours == nltk_meteor(hypothesis, references)

    @settings(max_examples=60)
    @given(ANY_WORDS, st.lists(st.sampled_from(UNUSUAL_WORDS), max_size=6))
    def test_any_script(self, nltk_meteor, words, others):
        hypothesis, reference = [*words, *others[::-1]], [*others, *words]
        installed_wordnet()
        for modules, synonyms in (((*WITHOUT_SYNONYMS, "synonym"), True), (WITHOUT_SYNONYMS, False)):
            ours = fm.sentence_meteor(hypothesis, [reference], alignment="nltk", modules=modules).score
            assert ours == nltk_meteor(hypothesis, [reference], synonyms)

    def test_parameters_and_case(self, nltk_meteor):
        hypothesis = ["Jumps", "over", "The", "dogs", "big", "run"]
        reference = ["big", "jumped", "Over", "the", "dog", "runs", "large"]
        options = {"alpha": 0.3, "beta": 1.7, "gamma": 0.9}
        ours = fm.sentence_meteor(hypothesis, [reference], alignment="nltk", lowercase=False, **options).score
        assert ours == nltk_meteor(hypothesis, [reference], preprocess=str, **options)

    def test_synonyms_of_words_with_capitals(self):
        installed_wordnet()
        options = {"modules": ("synonym",), "lowercase": False}
        assert fm.sentence_meteor(["PARIS"], [["Paris"]], **options).matches == 1
        assert fm.sentence_meteor(["PARIS"], [["paris"]], **options).matches == 0


# ------------------------------------------------------------------------------------------------- the whole function


class TestMeteor:
    def test_scores_follow_from_the_counts(self, wmt):
        hypotheses = next(iter(wmt.systems.values()))[:300]
        statistics = fm.segment_statistics("meteor", hypotheses, wmt.reference[:300], modules=WITHOUT_SYNONYMS)
        scores = [oracle.score(*row) for row in statistics.counts.tolist()]
        assert statistics.scores().tolist() == scores
        result = fm.corpus_meteor(hypotheses, wmt.reference[:300], modules=WITHOUT_SYNONYMS)
        assert fields(result) == fields(statistics.score())
        assert result.signature == statistics.score().signature
        assert result.segment_score == pytest.approx(math.fsum(scores) / 300, rel=1e-15)
        matches, chunks, sys_len, ref_len = statistics.counts.sum(axis=0).tolist()
        assert result.corpus_score == oracle.score(matches, chunks, sys_len, ref_len)
        assert (result.precision, result.recall) == (matches / sys_len, matches / ref_len)
        pooled = fm.corpus_meteor(hypotheses, wmt.reference[:300], modules=WITHOUT_SYNONYMS, average="corpus")
        assert pooled.score == result.corpus_score == pooled.corpus_score

    def test_threads_blocks_and_tokens_change_nothing(self, wmt):
        hypotheses, references = wmt.systems["online-B"][:1500], wmt.reference[:1500]
        one = fm.corpus_meteor(hypotheses, references, modules=WITHOUT_SYNONYMS, n_threads=1)
        assert fields(fm.corpus_meteor(hypotheses, references, modules=WITHOUT_SYNONYMS, n_threads=3)) == fields(one)
        tokens = fm.corpus_meteor(
            [text.split() for text in hypotheses], [text.split() for text in references], modules=WITHOUT_SYNONYMS)
        assert fields(tokens) == fields(one)
        assert "tok:given" in tokens.signature

    @pytest.mark.wordnet
    def test_a_cleared_vocabulary_changes_nothing(self, wmt, monkeypatch):
        monkeypatch.setattr("fastmetrics.metrics.text.tokens.meteor_vocabulary.MAX_WORDS", 100)
        texts = wmt.systems["online-B"][:900], wmt.reference[:900]
        for hypotheses, references in (texts, [[text.split() for text in stream] for stream in texts]):
            for modules in (("exact", "stem", "synonym"), ("exact", "synonym")):
                installed_wordnet()
                cleared = fm.corpus_meteor(hypotheses, references, modules=modules, n_threads=1)
                with pytest.MonkeyPatch.context() as patch:
                    patch.setattr("fastmetrics.metrics.text.tokens.meteor_vocabulary.MAX_WORDS", 1 << 17)
                    kept = fm.corpus_meteor(hypotheses, references, modules=modules, n_threads=1)
                assert fields(kept) == fields(cleared)

    def test_the_first_of_the_best_references_counts(self):
        result = fm.corpus_meteor(["a b c"], [["x", "a b", "a c d", "b c"]], modules=("exact",))
        assert (result.matches, result.chunks, result.ref_len) == (2, 1, 2)

    def test_missing_references(self):
        assert fm.corpus_meteor(["a b", "c"], [["a", None], [None, "c"]], modules=("exact",)).matches == 2

    def test_empty_texts_score_0(self):
        result = fm.corpus_meteor(["", "a", ""], ["a", "", ""], modules=WITHOUT_SYNONYMS)
        assert fields(result)[:6] == [0.0] * 6
        assert (result.sys_len, result.ref_len) == (1, 1)
        assert fm.sentence_meteor([], [["a"]], modules=WITHOUT_SYNONYMS).score == 0.0

    def test_no_segments_are_undefined(self):
        statistics = fm.segment_statistics("meteor", ["a"], ["a"], modules=WITHOUT_SYNONYMS)
        with pytest.warns(fm.UndefinedMetricWarning, match="no segments"):
            assert math.isnan(statistics[[]].score().score)

    def test_tokenizers(self):
        result = fm.sentence_meteor("The cat, sat.", "the cat , sat .", modules=("exact",), tokenize="13a")
        assert (result.matches, result.chunks) == (5, 1)
        assert fm.sentence_meteor("a\u2003b\u00a0c", "a b c", modules=("exact",)).matches == 3

    @pytest.mark.wordnet
    def test_signature_and_text(self):
        result = fm.sentence_meteor("the cat", "the cat", modules=WITHOUT_SYNONYMS, lowercase=False)
        assert result.signature.startswith(
            "nrefs:1|case:mixed|tok:none|modules:exact+stem|align:fewest_crossings|avg:segment|alpha:0.9|beta:3.0|gamma:0.5"
        )
        assert float(result) == result.score
        assert str(result).startswith("METEOR = 0.9375 (P = 1.0000")
        installed_wordnet()
        assert "|wordnet:3.0|" in fm.sentence_meteor("a", "a").signature

    def test_without_wordnet(self, monkeypatch, tmp_path):
        monkeypatch.delenv("WNSEARCHDIR", raising=False)
        monkeypatch.setattr(wordnet, "candidate_sources", lambda: iter([str(tmp_path)]))
        assert_raises(FileNotFoundError, "wordnet-base", fm.corpus_meteor, ["a"], ["a"])
        assert_raises(FileNotFoundError, r'modules=\("exact", "stem"\)', fm.sentence_meteor, "a", "a", wordnet=tmp_path)
        assert fm.sentence_meteor("a", "a", modules=WITHOUT_SYNONYMS).score == 0.5

    @each_case(
        ("options", "error", "message"),
        [
            ({"modules": "exact"}, TypeError, "modules must be a sequence"),
            ({"modules": ()}, ValueError, "modules must name at least one stage"),
            ({"modules": ("exact", "exact")}, ValueError, "each only once"),
            ({"modules": ("exact", "paraphrase")}, ValueError, "modules must be"),
            ({"alpha": 1.5}, ValueError, "alpha must be a finite number of at least 0 and at most 1; found 1.5"),
            ({"beta": -1}, ValueError, "beta must be a finite number of at least 0; found -1"),
            ({"gamma": float("nan")}, ValueError, "gamma must be"),
            ({"gamma": True}, TypeError, "gamma must be"),
            ({"alpha": "0.9"}, TypeError, "alpha must be"),
            ({"alignment": "greedy"}, ValueError, "alignment must be"),
            ({"average": "mean"}, ValueError, "average must be"),
            ({"tokenize": "spm"}, ValueError, "tokenize must be"),
            ({"lowercase": 1}, TypeError, "lowercase must be"),
            ({"modules": ("synonym",), "wordnet": 5}, TypeError, "wordnet must be the path of a folder.* found 5"),
        ],
    )
    def test_options_are_checked(self, options, error, message):
        assert_raises(error, message, fm.corpus_meteor, ["a"], ["a"], **{"modules": WITHOUT_SYNONYMS, **options})

    @each_case(
        ("hypotheses", "references", "error", "message"),
        [
            (["a", None], ["a", "b"], TypeError, r"hypotheses\[1\] is None"),
            (["a", 3], ["a", "b"], TypeError, r"hypotheses\[1\] has type int"),
            (["a"], ["a", "b"], ValueError, "references must have one item per hypothesis"),
            (["a"], [[]], ValueError, "reference"),
            (["a", "\ud800"], ["a", "b"], ValueError, r"hypotheses\[1\] has a lone surrogate"),
            ([["a", 1]], [["a"]], TypeError, "tokens must be strings"),
        ],
    )
    def test_bad_texts(self, hypotheses, references, error, message):
        assert_raises(error, message, fm.corpus_meteor, hypotheses, references, modules=WITHOUT_SYNONYMS)
