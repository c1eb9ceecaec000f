"""ROUGE against its definition and against rouge-score, whose scores it equals to the last bit."""

import math
import pickle
import random
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._kernels.text.rouge import OverlapCounter, count_lines, select_best, split_lines
from fastmetrics.metrics.text.tokens import rouge_words
from oracles.text import rouge as oracle
from support.cases import assert_raises, each_case
from support.peers import peer

TYPES = ["rouge1", "rouge2", "rouge4", "rougeL", "rougeLsum"]
ALL_TYPES = [*(f"rouge{order}" for order in range(1, 10)), "rougeL", "rougeLsum"]
# Sentences of few distinct words have many longest common subsequences, and their union depends on the choice.
LINES = st.lists(st.text(st.sampled_from("ab c"), max_size=14).map(" ".join), max_size=4)
SUMMARIES = LINES.map("\n".join)
HARD = ["the", "The", "running", "runs", "été", "東京", "\u212aelvin", "\u0130s", "3.5", "...", "\n", "x_y", "ΑΣ"]
TEXTS = st.one_of(SUMMARIES, st.lists(st.sampled_from(HARD)).map(" ".join), st.text(max_size=20))
LENGTHS = (0, 1, 2, 63, 64, 65, 127, 128, 129, 255, 256, 257, 300)


def means(score):
    """Precision, recall and F."""
    precision, recall, f = score
    assert (precision, recall, f) == (score.precision, score.recall, score.fmeasure)
    return precision, recall, f


def pair_values(result, name):
    """Precision, recall and F of every pair."""
    score = result[name]
    return list(zip(score.precisions.tolist(), score.recalls.tolist(), score.fmeasures.tolist(), strict=True))


class PeerTokenizer:
    """A tokenizer for rouge-score."""

    def __init__(self, function):
        self.tokenize = function


def same_as_peer(hypotheses, references, types=TYPES, stem=False, tokenizer=None):
    """Assert that every value of every pair is equal."""
    theirs = peer("rouge_score.rouge_scorer").RougeScorer(
        types, use_stemmer=stem, tokenizer=None if tokenizer is None else PeerTokenizer(tokenizer)
    )
    expected = [
        theirs.score(reference, hypothesis) if isinstance(reference, str) else theirs.score_multi(reference, hypothesis)
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    ours = fm.rouge_score(hypotheses, references, types, stem=stem, tokenizer=tokenizer or "default")
    assert list(ours.keys()) == types
    for name in types:
        assert pair_values(ours, name) == [tuple(scores[name]) for scores in expected]


def summaries(texts, n_lines):
    return ["\n".join(texts[start : start + n_lines]) for start in range(0, len(texts), n_lines)]


def random_words(chance, n, n_words):
    return " ".join(f"w{chance.randrange(n_words)}" for _ in range(n))


class TestRougeScore:
    @pytest.mark.parametrize("stem", [False, True])
    def test_real_segments(self, wmt, stem):
        """A sample of each system, because the peer is slow."""
        for first, hypotheses in enumerate(wmt.systems.values()):
            same_as_peer(hypotheses[first::13], wmt.reference[first::13], stem=stem)

    @each_case("stem", [False, True])
    @each_case("n_lines", [3, 12])
    def test_real_texts_of_several_sentences(self, wmt, n_lines, stem):
        hypotheses = summaries(next(iter(wmt.systems.values()))[:144], n_lines)
        same_as_peer(hypotheses, summaries(wmt.reference[:144], n_lines), stem=stem)

    def test_several_references(self, wmt):
        hypotheses, *others = (system[:60] for system in wmt.systems.values())
        references = [list(texts) for texts in zip(wmt.reference[:60], *others, strict=True)]
        references[3], references[5] = references[3][:1], references[5][:2]
        same_as_peer(hypotheses, references, types=["rougeLsum", "rouge3", "rouge1", "rougeL"])

    @given(st.lists(st.tuples(SUMMARIES, SUMMARIES), min_size=1, max_size=5))
    def test_few_words_many_ties(self, pairs):
        same_as_peer([hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs])

    @given(st.lists(st.tuples(TEXTS, TEXTS), min_size=1, max_size=4), st.booleans())
    def test_any_text(self, pairs, stem):
        same_as_peer([hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs], ALL_TYPES, stem)

    @given(st.lists(st.tuples(SUMMARIES, st.lists(SUMMARIES, min_size=1, max_size=3)), min_size=1, max_size=2))
    def test_the_best_reference(self, pairs):
        same_as_peer([hypothesis for hypothesis, _ in pairs], [texts for _, texts in pairs])

    def test_the_first_of_equal_references_counts(self):
        few, many = "a x", "a b c d e f"
        same_as_peer(["a b", "a b"], [[few, many], [many, few]], types=["rouge1", "rougeLsum"])
        result = fm.rouge_score(["a b", "a b"], [[few, many], [many, few]], "rouge1")["rouge1"]
        assert (result.fmeasures.tolist(), result.precisions.tolist()) == ([0.5, 0.5], [0.5, 1.0])

    @pytest.mark.parametrize("n_words", [1, 3, 40])
    def test_lengths_around_words_of_bits(self, n_words):
        chance = random.Random(n_words)
        hypotheses = [random_words(chance, length, n_words) for length in LENGTHS]
        references = [random_words(chance, chance.choice(LENGTHS), n_words) for _ in LENGTHS]
        same_as_peer(hypotheses, references, ["rouge1", "rouge2", "rougeL"])

    @pytest.mark.parametrize("n_words", [1, 3, 40])
    def test_sentences_around_words_of_bits(self, n_words):
        chance = random.Random(n_words)
        hypotheses, references = (
            "\n".join(random_words(chance, length, n_words) for length in chance.sample(LENGTHS[:9], 5)) for _ in "ab"
        )
        same_as_peer([hypotheses, references], [references, hypotheses], ["rougeLsum"])

    @given(st.lists(st.tuples(SUMMARIES, SUMMARIES), min_size=1, max_size=4))
    def test_a_callable_tokenizer(self, pairs):
        """It may split a text otherwise than its sentences."""
        hypotheses, references = [hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs]
        same_as_peer(hypotheses, references, tokenizer=lambda text: [*text.split(" "), str(len(text))])

    def test_many_threads_and_blocks(self, wmt):
        hypotheses, references = next(iter(wmt.systems.values())), wmt.reference
        for stem in (False, True):
            one = fm.rouge_score(hypotheses, references, stem=stem, n_threads=1)
            three = fm.rouge_score(hypotheses, references, stem=stem, n_threads=3)
            for name in dict(one):
                assert means(one[name]) == means(three[name])
                assert pair_values(one, name) == pair_values(three, name)
                for row in (0, 255, 256, 3003):
                    alone = fm.rouge_score(hypotheses[row : row + 1], references[row : row + 1], [name], stem=stem)
                    assert pair_values(alone, name) == pair_values(one, name)[row : row + 1]

    @pytest.mark.parametrize("options", [{}, {"stem": True}, {"tokenizer": str.split}], ids=["words", "stems", "own"])
    def test_cleared_vocabularies_change_nothing(self, wmt, monkeypatch, options):
        """Vocabularies are cleared when they are full, so that memory does not grow with the text."""
        hypotheses, references = next(iter(wmt.systems.values()))[:700], wmt.reference[:700]
        expected = fm.rouge_score(hypotheses, references, **options)
        for name in ("MAX_WORDS", "MAX_STEMMED_WORDS", "MAX_TOKEN_IDS"):
            monkeypatch.setattr(rouge_words, name, 100)
        found = fm.rouge_score(hypotheses, references, n_threads=1, **options)
        assert all(pair_values(found, name) == pair_values(expected, name) for name in dict(expected))


class TestDefinition:
    @given(st.tuples(TEXTS, TEXTS), st.sampled_from(ALL_TYPES), st.sampled_from([0.5, 1.0, 2.0]))
    def test_one_pair(self, pair, name, beta):
        ours = fm.rouge_score([pair[0]], [pair[1]], name, beta=beta)
        assert pair_values(ours, name) == [oracle.rouge(*pair, name, beta=beta)]

    @given(st.lists(st.tuples(SUMMARIES, SUMMARIES), min_size=1, max_size=5))
    def test_means_are_exact(self, pairs):
        ours = fm.rouge_score([hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs], TYPES)
        for name in TYPES:
            values = [oracle.rouge(*pair, name) for pair in pairs]
            expected = tuple(math.fsum(column) / len(pairs) for column in zip(*values, strict=True))
            assert means(ours[name]) == pytest.approx(expected, rel=1e-15)

    @given(st.lists(st.tuples(SUMMARIES, st.lists(SUMMARIES, min_size=1, max_size=4)), min_size=1, max_size=4))
    def test_mean_over_references(self, pairs):
        hypotheses, references = [hypothesis for hypothesis, _ in pairs], [texts for _, texts in pairs]
        ours = fm.rouge_score(hypotheses, references, TYPES, multi="mean")
        backwards = fm.rouge_score(hypotheses, [texts[::-1] for texts in references], TYPES, multi="mean")
        for name in TYPES:
            assert pair_values(ours, name) == pair_values(backwards, name)
            for row, (text, texts) in enumerate(pairs):
                values = np.array([oracle.rouge(text, other, name) for other in texts])
                assert pair_values(ours, name)[row] == pytest.approx(tuple(values.mean(axis=0)), abs=1e-15)

    @given(st.lists(st.tuples(SUMMARIES, st.lists(SUMMARIES, min_size=1, max_size=3)), min_size=1, max_size=4))
    def test_statistics_are_those_of_the_best(self, pairs):
        hypotheses, references = [hypothesis for hypothesis, _ in pairs], [texts for _, texts in pairs]
        statistics = fm.segment_statistics("rouge", hypotheses, references, types=["rougeLsum", "rouge1"], beta=2)
        assert statistics.columns == (
            *(f"rouge1_{count}" for count in ("overlap", "hypothesis", "reference")),
            *(f"rougeLsum_{count}" for count in ("overlap", "hypothesis", "reference")),
        )
        ours = fm.rouge_score(hypotheses, references, ["rougeLsum", "rouge1"], beta=2)
        for start, name in ((0, "rouge1"), (3, "rougeLsum")):
            rows = statistics.counts[:, start : start + 3].tolist()
            assert [oracle.values(*row, beta=2.0) for row in rows] == pair_values(ours, name)
            assert means(statistics.score()[name]) == means(ours[name])
        assert statistics.score().signature == ours.signature
        assert statistics.scores().tolist() == ours["rougeLsum"].fmeasures.tolist()
        assert means((statistics[:1] + statistics[1:]).score()["rouge1"]) == means(ours["rouge1"])

    @each_case("texts", [("", ""), ("", "a b"), ("a b", ""), ("...", "!"), ("\n\n", "a\n\nb")])
    def test_texts_without_words_score_0(self, texts):
        result = fm.rouge_score([texts[0]], [texts[1]], ALL_TYPES)
        assert [means(result[name]) for name in ALL_TYPES] == [(0.0, 0.0, 0.0)] * len(ALL_TYPES)

    def test_too_short_for_an_ngram(self):
        result = fm.rouge_score(["a b"], ["a b"], ALL_TYPES)
        assert [result[name].fmeasure for name in ALL_TYPES] == [1.0, 1.0, *[0.0] * 7, 1.0, 1.0]

    def test_a_union_counts_no_word_twice(self):
        result = fm.rouge_score(["a b c"], ["a b\na c\na"], ["rougeLsum"])
        assert means(result["rougeLsum"]) == oracle.values(3, 3, 5)


SCRIPTS = ["東京は大きい", "สวัสดีชาวโลก", "नमस्ते दुनिया", "مرحبا بالعالم", "Ελλάς ΕΛΛΑΣ", "שלום עולם"]


class TestScripts:
    def test_cyrillic(self):
        hypotheses, references = ["Мы ехали  ВЧЕРА, в поле."], ["Вчера мы ехали в поле!"]
        assert fm.rouge_score(hypotheses, references)["rouge1"].fmeasure == 0.0
        result = fm.rouge_score(hypotheses, references, tokenizer="unicode")
        assert means(result["rouge1"]) == (1.0, 1.0, 1.0)
        assert means(result["rougeL"]) == oracle.values(4, 5, 5)
        assert "tok:unicode" in result.signature

    @each_case("text", SCRIPTS)
    def test_unicode_tokens_are_those_of_tokenize(self, text):
        references = text[: len(text) // 2] + "\n" + text[::-1]
        tokens = [fm.tokenize([one], "unicode")[0] for one in (text, references)]
        result = fm.rouge_score([text], [references], ["rouge1", "rouge2", "rougeL"], tokenizer="unicode")
        for name in dict(result):
            assert pair_values(result, name) == [oracle.rouge(*tokens, name, tokens_of=list)]

    def test_stems_of_any_script(self):
        result = fm.rouge_score(["running été cafés"], ["run ÉTÉ café"], "rouge1", tokenizer="unicode", stem=True)
        assert result["rouge1"].fmeasure == 1.0


class TestTokens:
    @given(st.lists(st.tuples(*[st.lists(st.integers(0, 3), max_size=9)] * 2), min_size=1, max_size=5))
    def test_lists_of_tokens(self, pairs):
        hypotheses, references = [hypothesis for hypothesis, _ in pairs], [reference for _, reference in pairs]
        joined = ([" ".join(map(str, text)) for text in texts] for texts in (hypotheses, references))
        expected = fm.rouge_score(*joined, TYPES)
        words = ([[f"Word {token}" for token in text] for text in texts] for texts in (hypotheses, references))
        for ours in (fm.rouge_score(hypotheses, references, TYPES), fm.rouge_score(*words, TYPES, tokenizer="unicode")):
            for name in TYPES:
                assert pair_values(ours, name) == pair_values(expected, name)
            assert "tok:given" in ours.signature

    def test_tokens_are_taken_as_they_are(self):
        for tokenizer in ("default", "unicode", str.split):
            result = fm.rouge_score([["A", "b"]], [["a", "b"]], "rouge1", tokenizer=tokenizer)
            assert result["rouge1"].fmeasure == 0.5
            options = {"types": "rouge1", "tokenizer": tokenizer}
            statistics = fm.segment_statistics("rouge", [["A", "b"]], [["a", "b"]], **options)
            assert statistics.counts.tolist() == [[1, 2, 2]]

    def test_tokens_are_not_stemmed(self):
        assert_raises(ValueError, "stem=True needs texts", fm.rouge_score, [["cats"]], [["cat"]], stem=True)


class TestResult:
    def test_mapping_and_text(self):
        result = fm.rouge_score(["the cat sat", "a dog"], ["the cat", ""], ["rouge1", "rougeL"])
        assert dict(result).keys() == {"rouge1", "rougeL"}
        assert (len(result), "rougeL" in result, "rouge2" in result) == (2, True, False)
        assert result.n_pairs == 2
        assert float(result) == result.score == result["rouge1"].fmeasure == 0.4
        assert repr(result) == "RougeResult(rouge1 0.4000, rougeL 0.4000; F of 2 pairs)"
        assert str(result).splitlines()[1] == "rouge1     0.3333 0.5000 0.4000"
        assert repr(result["rougeL"]) == "RougeScore(precision=0.3333333333333333, recall=0.5, fmeasure=0.4)"
        options = "types:rouge1,rougeL|nrefs:1|multi:best|stem:no|tok:default|beta:1"
        assert result.signature == f"{options}|version:fastmetrics-{fm.__version__}"
        with pytest.raises(KeyError, match="no 'rouge2' in this RougeResult; it has rouge1, rougeL"):
            result["rouge2"]

    def test_pickle(self):
        result = pickle.loads(pickle.dumps(fm.rouge_score(["a b"], ["a c"], "rouge1")))
        assert pair_values(result, "rouge1") == [(0.5, 0.5, 0.5)]

    def test_scores_of_sums_have_no_pairs(self):
        score = fm.segment_statistics("rouge", ["a b"], ["a c"]).score()
        assert score["rouge1"].fmeasure == 0.5
        with pytest.raises(AttributeError, match="has no values of single pairs"):
            _ = score["rouge1"].fmeasures

    def test_no_pairs_are_undefined(self):
        with pytest.warns(fm.UndefinedMetricWarning, match="no pairs"):
            score = fm.segment_statistics("rouge", ["a b"], ["a c"])[:0].score()
        assert math.isnan(score["rouge1"].fmeasure)

    def test_duplicate_types_are_dropped(self):
        assert list(dict(fm.rouge_score(["a"], ["a"], ["rougeL", "rouge1", "rougeL"]))) == ["rougeL", "rouge1"]


BAD_OPTIONS = {
    "types=None": ({"types": None}, TypeError, "types must be a name"),
    "no types": ({"types": []}, ValueError, "types is empty"),
    "rouge0": ({"types": ["rouge0"]}, ValueError, "types must be among rouge1, .*; found 'rouge0'"),
    "rouge10": ({"types": "rouge10"}, ValueError, "found 'rouge10'"),
    "types of numbers": ({"types": [1]}, TypeError, "found 1"),
    "stem": ({"stem": "yes"}, ValueError, "stem must be True or False"),
    "tokenizer": ({"tokenizer": "13a"}, ValueError, "tokenizer must be 'default', 'unicode' or a function"),
    "tokenizer and stem": ({"tokenizer": str.split, "stem": True}, ValueError, "stem in your own tokenizer instead"),
    "tokenizer that fails": ({"tokenizer": str.upper}, TypeError, "tokenizer must return a list of strings; for 'a'"),
    "tokenizer of numbers": ({"tokenizer": lambda text: [1]}, TypeError, "must return a list of strings"),
    "multi": ({"multi": "worst"}, ValueError, "multi must be one of 'best', 'mean'"),
    "beta 0": ({"beta": 0}, ValueError, "beta must be a finite number above 0"),
    "beta inf": ({"beta": math.inf}, ValueError, "beta must be a finite number above 0"),
    "beta text": ({"beta": "1"}, ValueError, "beta must be a finite number above 0"),
    "n_threads": ({"n_threads": 0}, ValueError, "n_threads"),
}
BAD_TEXTS = {
    "lengths": (["a", "b"], ["a"], ValueError, "one item per hypothesis"),
    "no pairs": ([], [], ValueError, "hypotheses is empty"),
    "None": (["a", None], ["a", "b"], TypeError, r"hypotheses\[1\] is None"),
    "a number": (["a", 3], ["a", "b"], TypeError, r"hypotheses\[1\] has type int"),
    "a reference of bytes": (["a"], [[b"a"]], TypeError, r"references\[0\]\[0\] is bytes"),
    "no reference": (["a", "b"], [["a"], [None]], ValueError, r"hypotheses\[1\] has no reference"),
    "no references": (["a"], [[]], ValueError, r"hypotheses\[0\] has no reference"),
    "surrogate": (["a\ud800"], ["a"], ValueError, r"hypotheses\[0\] has a lone surrogate"),
    "one string": ("a", ["a"], TypeError, "hypotheses is one str"),
}


class TestErrors:
    @pytest.mark.parametrize("name", BAD_OPTIONS)
    def test_options(self, name):
        options, error, message = BAD_OPTIONS[name]
        assert_raises(error, message, fm.rouge_score, ["a"], ["a"], **options)

    @pytest.mark.parametrize("name", BAD_TEXTS)
    def test_texts(self, name):
        hypotheses, references, error, message = BAD_TEXTS[name]
        assert_raises(error, message, fm.rouge_score, hypotheses, references)

    def test_means_over_references_have_no_statistics(self):
        assert_raises(ValueError, "call rouge_score", fm.segment_statistics, "rouge", ["a"], [["a", "b"]], multi="mean")


def blocks(pairs):
    """Return the arrays of a block of pairs, which are lists of sentences of word ids."""
    texts = [text for pair in pairs for text in pair]
    sentences = [sentence for text in texts for sentence in text]
    ids = np.array([token for sentence in sentences for token in sentence], np.int64)
    starts, firsts = (
        np.concatenate(([0], np.cumsum([len(item) for item in items], dtype=np.int64))) for items in (sentences, texts)
    )
    return ids, starts, firsts, np.arange(0, len(texts) + 1, 2, dtype=np.int64)


def count_overlaps(pairs, max_trace_words=1 << 21):
    out = np.full((len(pairs), 6), -1, np.int64)
    OverlapCounter(max_trace_words).count(*blocks(pairs), np.zeros(0, np.int64), True, True, out)
    return out


NUMBERS = st.lists(st.lists(st.integers(0, 3), max_size=70), max_size=3)


class TestKernels:
    @given(st.tuples(NUMBERS, NUMBERS), st.sampled_from([0, 300, 1 << 21]))
    def test_subsequences(self, pair, max_trace_words):
        """The kernel keeps all rows of bits, or only some, at two or more levels."""
        (hypothesis, reference), out = pair, count_overlaps([pair], max_trace_words)
        sizes = [sum(map(len, hypothesis)), sum(map(len, reference))]
        whole = [[token for sentence in text for token in sentence] for text in pair]
        length = oracle.lcs_table(*whole)[tuple(map(len, whole))]
        assert out.tolist() == [[length, *sizes, oracle.union_matches(hypothesis, reference), *sizes]]

    def test_traces_with_few_kept_rows(self):
        generator = np.random.default_rng(20260602)
        pairs = []
        for n_words, length in ((2, 900), (7, 5_000), (300, 900)):
            hypothesis, reference = ([generator.integers(0, n_words, length).tolist() for _ in "ab"] for _ in "ab")
            pairs.append((hypothesis, reference))
        expected = count_overlaps(pairs)
        assert (expected[:, 3] > 300).all()
        for max_trace_words in (0, 4_000, 8_000):
            assert count_overlaps(pairs, max_trace_words).tolist() == expected.tolist()

    @pytest.mark.parametrize("n_words", [40, 2_000, 9_000])
    def test_long_texts(self, n_words):
        """Columns are processed in strips of four machine words; many rows or few have a token of a strip."""
        chance = np.random.default_rng(n_words)
        lengths = [(300, 1_000), (1_000, 255), (4_500, 700), (5_000, 5_000), (9_000, 4_000)]
        for hypothesis, reference in (tuple(chance.integers(0, n_words, n).tolist() for n in pair) for pair in lengths):
            expected = oracle.common_length(reference, hypothesis)
            assert count_overlaps([([hypothesis], [reference])])[0, 0] == expected
            same, last = hypothesis[:70], reference[:70]
            assert count_overlaps([([same + hypothesis + last], [same + reference + last])])[0, 0] == expected + 140

    def test_texts_too_long_for_a_table(self):
        """A table of all prefixes would have 1e10 cells."""
        hypothesis = list(range(100_000))
        out = count_overlaps([([hypothesis], [hypothesis[::2] + hypothesis[1::2]])])
        assert out.tolist() == [[50_001, 100_000, 100_000, 50_001, 100_000, 100_000]]

    def test_empty_blocks(self):
        OverlapCounter().count(*blocks([]), np.array([1]), True, True, np.zeros((0, 9), np.int64))
        assert count_overlaps([([], []), ([[]], [[], []])]).tolist() == [[0] * 6] * 2

    def test_outputs_that_are_too_small(self):
        with pytest.raises(ValueError, match="three columns"):
            OverlapCounter().count(*blocks([([], [])]), np.array([1]), True, True, np.zeros((1, 6), np.int64))
        assert_raises(
            ValueError, "a row for every segment",
            select_best, np.zeros((2, 3), np.int64), np.array([0, 2]), 1.0, np.zeros((1, 3), np.int64),
        )
        assert_raises(
            ValueError, "too short",
            split_lines, np.array([10], np.uint32), np.array([0, 1]), np.zeros(2, np.int64), np.zeros(2, np.int64),
        )

    @given(st.lists(st.text(st.sampled_from("a\n"), max_size=5), max_size=5))
    def test_lines(self, texts):
        points = np.array([ord(letter) for letter in "".join(texts)], np.uint32)
        offsets = np.concatenate(([0], np.cumsum([len(text) for text in texts], dtype=np.int64)))
        n_lines = count_lines(points, offsets)
        lines, firsts = np.empty(n_lines + 1, np.int64), np.empty(len(texts) + 1, np.int64)
        split_lines(points, offsets, lines, firsts)
        whole = "".join(texts)
        found = [whole[start:stop].removesuffix("\n") for start, stop in pairwise(lines)]
        assert [found[start:stop] for start, stop in pairwise(firsts)] == [
            text.split("\n") for text in texts
        ]
