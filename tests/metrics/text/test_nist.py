"""NIST against its definition, against numbers printed by mteval-v13a, and its differences from NLTK."""

import math
import random
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics.metrics.text import nist, nist_statistics
from oracles.text import nist as oracle
from support.cases import assert_raises, each_case

WORDS = ["the", "cat", "0", "a", "00", "Ä", "ä", "猫", "кот", "𐐷", "😀", "قط"]
TOKENS = st.lists(st.sampled_from(WORDS), max_size=12)
REPEATED = st.lists(st.sampled_from("ab0"), max_size=30)
MIXED = st.lists(st.integers(-3, 5) | st.sampled_from(["0", "1", " 1", "a", "\U0010ffff1"]), max_size=9)
LETTERS = "aAzßé αΩ Жд عر אב कि กา 中文 かナ 한글 𐐷😀 .,-&;()0123456789\t\u00a0\u3000"
TEXTS = st.text(st.sampled_from(LETTERS), max_size=40)


@st.composite
def corpora(draw, tokens=TOKENS | REPEATED, most=3):
    """Hypotheses, with a list of references for each."""
    size = draw(st.integers(1, 6))
    hypotheses = draw(st.lists(tokens, min_size=size, max_size=size))
    shared = tokens | st.sampled_from(hypotheses)
    return hypotheses, [draw(st.lists(shared, min_size=1, max_size=most)) for _ in range(size)]


# mteval-v13a.pl (moses-smt/mosesdecoder, scripts/generic), its functions compute_ngram_info, score_document,
# score_segment, nist_score and tokenization run by Perl 5.36 on the lines of wmt17_ende: individual and cumulative
# N-gram scoring, orders 1 to 9. "-c" keeps capitals. "2 refs": uedin-nmt against ref0 and LIUM-NMT.
MTEVAL = """
-c online-B
5.5449 1.4425 0.2312 0.0331 0.0037 0.0007 0.0002 0.0000 0.0000
5.5449 6.9874 7.2186 7.2517 7.2554 7.2561 7.2563 7.2563 7.2563
-c uedin-nmt
5.6875 1.5122 0.2413 0.0341 0.0044 0.0009 0.0002 0.0000 0.0000
5.6875 7.1997 7.4410 7.4751 7.4795 7.4804 7.4806 7.4806 7.4806
-c LIUM-NMT
5.5657 1.4325 0.2278 0.0328 0.0041 0.0008 0.0002 0.0000 0.0000
5.5657 6.9983 7.2261 7.2589 7.2630 7.2638 7.2640 7.2640 7.2640
-c 2 refs
8.5743 3.3918 0.8328 0.1893 0.0471 0.0209 0.0122 0.0075 0.0050
8.5743 11.9661 12.7990 12.9883 13.0354 13.0563 13.0685 13.0761 13.0810
lc online-B
5.5433 1.5186 0.2500 0.0351 0.0042 0.0007 0.0002 0.0000 0.0000
5.5433 7.0619 7.3119 7.3470 7.3512 7.3519 7.3521 7.3522 7.3522
lc uedin-nmt
5.6898 1.5966 0.2612 0.0360 0.0049 0.0009 0.0003 0.0000 0.0000
5.6898 7.2864 7.5476 7.5835 7.5884 7.5893 7.5896 7.5897 7.5897
lc LIUM-NMT
5.5695 1.5118 0.2459 0.0346 0.0045 0.0009 0.0003 0.0000 0.0000
5.5695 7.0813 7.3272 7.3618 7.3662 7.3672 7.3674 7.3674 7.3674
lc 2 refs
8.4515 3.4920 0.8737 0.1969 0.0496 0.0216 0.0127 0.0080 0.0053
8.4515 11.9434 12.8171 13.0140 13.0636 13.0852 13.0979 13.1059 13.1111
"""
# The same run, printed with all digits: the score by 5-grams with -c.
MTEVAL_DIGITS = {"online-B": 7.25542969498734, "uedin-nmt": 7.47949493076684, "LIUM-NMT": 7.26298694139155}
RUNS = re.findall(r"(-c|lc) (.+)\n(.+)\n(.+)\n", MTEVAL)


class TestMteval:
    @each_case("run", RUNS, ids=[" ".join(run[:2]) for run in RUNS])
    def test_printed_numbers(self, wmt, run):
        case, name, individual, cumulative = run
        references = wmt.reference
        if name == "2 refs":
            name = "uedin-nmt"
            references = [list(pair) for pair in zip(references, wmt.systems["LIUM-NMT"], strict=True)]
        ours = fm.corpus_nist(wmt.systems[name], references, lowercase=case == "lc", max_order=9)
        assert " ".join(f"{value:.4f}" for value in ours.individual) == individual
        assert " ".join(f"{value:.4f}" for value in ours.cumulative) == cumulative
        by_default = fm.corpus_nist(wmt.systems[name], references, lowercase=case == "lc")
        assert by_default.score == ours.cumulative[4]

    def test_all_digits(self, wmt):
        for name, score in MTEVAL_DIGITS.items():
            assert fm.corpus_nist(wmt.systems[name], wmt.reference).score == pytest.approx(score, rel=1e-13)

    def test_counts(self, wmt):
        ours = fm.corpus_nist(wmt.systems["uedin-nmt"], wmt.reference)
        assert ours.counts == (37673, 20379, 12397, 7771, 5036)
        assert ours.totals == (62873, 59869, 56865, 53861, 50862)
        assert (ours.sys_len, ours.ref_len) == (62873, 61287.0)

    def test_the_word_zero(self, wmt):
        """In Perl "0" is false, so mteval weighs pairs that begin with it like words: the 4th decimal differs."""
        ours = fm.corpus_nist(wmt.systems["uedin-nmt"], wmt.reference, information="formula")
        assert ours.score == pytest.approx(7.47826040228311, rel=1e-13)

    def test_lowercase_is_of_ascii(self):
        assert fm.sentence_nist("Ä B", "ä b", lowercase=True).counts[0] == 1
        assert fm.sentence_nist(["Ä", "B"], [["ä", "b"]], lowercase=True).counts[0] == 1
        assert fm.sentence_nist("Ä B", "Ä b").counts[0] == 1


class TestDefinition:
    @given(corpora(), st.integers(1, 9), st.sampled_from(nist.INFORMATIONS))
    def test_any_corpus(self, corpus, max_order, information):
        hypotheses, references = corpus
        ours = fm.corpus_nist(hypotheses, references, max_order=max_order, information=information)
        theirs = oracle.corpus(hypotheses, references, max_order, information == "formula")
        np.testing.assert_allclose(ours.cumulative, theirs, rtol=1e-12, atol=0)
        assert ours.score == ours.cumulative[-1]

    @given(corpora(), st.integers(1, 6))
    def test_counts_by_segment(self, corpus, max_order):
        hypotheses, references = corpus
        statistics = fm.segment_statistics("nist", hypotheses, references, max_order=max_order)
        for row, hypothesis, texts in zip(statistics.counts, hypotheses, references, strict=True):
            matches = oracle.segment(hypothesis, texts, max_order)
            assert row[0] == len(hypothesis)
            assert row[2 : 2 + max_order].tolist() == [sum(counts.values()) for counts in matches]
            assert row[2 + max_order : 2 + 2 * max_order].tolist() == [
                max(0, len(hypothesis) - n) for n in range(max_order)
            ]

    @given(corpora(TEXTS), st.sampled_from(["13a", "intl", "none", "char", "zh"]), st.booleans())
    def test_texts_are_their_tokens(self, corpus, tokenize, lowercase):
        hypotheses, references = corpus
        ours = fm.corpus_nist(hypotheses, references, tokenize=tokenize, lowercase=lowercase)
        split = [fm.tokenize(hypothesis, tokenize) for hypothesis in hypotheses]
        split_references = [[fm.tokenize(text, tokenize) for text in texts] for texts in references]
        tokens = fm.corpus_nist(split, split_references, lowercase=lowercase)
        assert repr(ours).partition(", signature")[0] == repr(tokens).partition(", signature")[0]
        assert tokens.signature.split("|")[2] == "tok:given"

    def test_by_hand(self):
        # References: 6 words, "a" 3 times, "b" twice, "c" once; "a b" twice.
        ours = fm.corpus_nist(["a b", "c"], ["a b a", "a b c"], max_order=2)
        singles = (math.log2(6 / 3) + math.log2(6 / 2) + math.log2(6 / 1)) / 3
        pairs = math.log2(3 / 2) / 1
        assert ours.score == pytest.approx((singles + pairs) * oracle.penalty(3, 6), rel=1e-14)

    def test_penalty(self):
        """1/2 at two thirds of the mean length of references, 1 from that length on."""
        text = ["a", "b", "c", "d", "e", "f"]
        assert fm.sentence_nist(text[:4], text).bp == pytest.approx(0.5, rel=1e-15)
        assert fm.sentence_nist(text, [text, text[:4]]).bp == 1.0
        assert fm.sentence_nist(text[:5], [text, text[:4]]).bp == 1.0
        assert fm.sentence_nist([], text).bp == 0.0

    def test_numbers_of_references_that_vary(self):
        hypotheses, references = ["a b", "c d e"], [["a b", "a b c d"], ["c d e", "c", "c d"]]
        ours = fm.corpus_nist(hypotheses, references)
        assert ours.ref_len == 3.0 + 2.0
        assert ours.signature.startswith("nrefs:var|")
        split = [[text.split() for text in texts] for texts in references]
        expected = oracle.corpus([text.split() for text in hypotheses], split)
        np.testing.assert_allclose(ours.cumulative, expected, rtol=1e-12)

    @each_case("length", [1, 63, 64, 65, 128, 129, 1023, 1024, 1025, 1500])
    def test_long_segments(self, length):
        draw = random.Random(length)
        hypotheses = [draw.choices("abcdef0", k=length + more) for more in (0, 1, 30)]
        references = [[draw.choices("abcdef0", k=length - more), draw.choices("ab", k=9)] for more in (0, 1, 0)]
        for max_order in (5, 8, 9):
            ours = fm.corpus_nist(hypotheses, references, max_order=max_order)
            np.testing.assert_allclose(ours.cumulative, oracle.corpus(hypotheses, references, max_order), rtol=1e-12)


class TestNltk:
    """What is equal in NLTK, and what follows mteval and the paper instead."""

    def peer(self, hypotheses, references, n=5):
        from nltk.translate.nist_score import corpus_nist

        return corpus_nist(references, hypotheses, n)

    def test_one_reference_is_the_same(self, wmt):
        """With information="formula": NLTK does not treat the word "0" as mteval does."""
        hypotheses = [fm.tokenize(text) for text in wmt.systems["uedin-nmt"][:300]]
        references = [[fm.tokenize(text)] for text in wmt.reference[:300]]
        ours = fm.corpus_nist(hypotheses, references, information="formula")
        assert ours.score == pytest.approx(self.peer(hypotheses, references), rel=1e-12)

    def test_matches_of_several_references_are_joined(self):
        """Each reference matches one word of the hypothesis. NLTK counts one match, that of the better reference."""
        hypotheses, references = [["a", "x", "b"]], [[["a", "c", "d"], ["b", "e", "f"]]]
        ours = fm.corpus_nist(hypotheses, references, max_order=1)
        assert (ours.counts, ours.score) == ((2,), pytest.approx(2 * math.log2(6) / 3, rel=1e-14))
        assert self.peer(hypotheses, references, 1) == pytest.approx(math.log2(6) / 3, rel=1e-14)

    def test_length_is_the_mean_of_references(self):
        """NLTK uses the length of the reference that matches best, here the short one."""
        hypotheses, references = [["a", "b", "c"]], [[["a", "b", "c"], ["d"] * 9]]
        ours = fm.corpus_nist(hypotheses, references, max_order=1)
        assert (ours.ref_len, ours.bp) == (6.0, pytest.approx(oracle.penalty(3, 6), rel=1e-15))
        assert ours.score == pytest.approx(math.log2(12) * ours.bp, rel=1e-14)
        assert self.peer(hypotheses, references, 1) == pytest.approx(math.log2(12), rel=1e-14)

    def test_short_texts_are_no_error(self):
        """If an order has no n-grams, NLTK divides by zero; mteval divides by 1."""
        with pytest.raises(ZeroDivisionError):
            self.peer([["a", "b"]], [[["a", "b"]]])
        assert fm.sentence_nist(["a", "b"], ["a", "b"]).score == 1.0

    def test_empty_reference(self):
        with pytest.raises(ZeroDivisionError):
            self.peer([["a"]], [[[]]], 1)
        assert fm.sentence_nist("a", "").score == 0.0


class TestExactness:
    @given(corpora(), st.randoms(use_true_random=False))
    def test_any_order_of_segments(self, corpus, draw):
        hypotheses, references = corpus
        rows = list(range(len(hypotheses)))
        draw.shuffle(rows)
        ours = fm.corpus_nist(hypotheses, references)
        shuffled = fm.corpus_nist([hypotheses[row] for row in rows], [references[row][::-1] for row in rows])
        assert repr(ours) == repr(shuffled)

    @each_case("n_threads", [1, 2, 3, 5])
    def test_threads(self, wmt, n_threads):
        hypotheses = wmt.systems["online-B"]
        ours = fm.corpus_nist(hypotheses, wmt.reference, n_threads=n_threads)
        assert repr(ours) == repr(fm.corpus_nist(hypotheses[::-1], wmt.reference[::-1], n_threads=1))

    @pytest.mark.parametrize("words", [1, 7, 400])
    def test_small_shards_and_tables(self, wmt, words, monkeypatch):
        """With shards and tables of a few words, nothing is counted twice or lost."""
        hypotheses, references = wmt.systems["online-B"][:600], wmt.reference[:600]
        expected = fm.corpus_nist(hypotheses, references)
        rows = fm.segment_statistics("nist", hypotheses, references).counts
        monkeypatch.setattr(nist_statistics, "WORDS_PER_SHARD", 50 * words)
        monkeypatch.setattr(nist_statistics, "MIN_WORDS_FOR_TABLES", 1)
        monkeypatch.setattr(nist_statistics, "WORDS_PER_LARGE_TABLE", 50 * words)
        assert repr(fm.corpus_nist(hypotheses, references)) == repr(expected)
        np.testing.assert_array_equal(fm.segment_statistics("nist", hypotheses, references).counts, rows)

    def test_statistics_of_segments(self, wmt):
        hypotheses = wmt.systems["LIUM-NMT"]
        statistics = fm.segment_statistics("nist", hypotheses, wmt.reference)
        assert repr(statistics.score()) == repr(fm.corpus_nist(hypotheses, wmt.reference))
        assert repr((statistics[:1000] + statistics[1000:]).score()) == repr(statistics.score())
        # The weights are those of all references, also if some segments are selected.
        split = [[fm.tokenize(text)] for text in wmt.reference]
        weights = oracle.information(split)
        rows = [5, 7, 7, 2999]
        some = [fm.tokenize(hypotheses[row]) for row in rows]
        expected = oracle.corpus(some, [split[row] for row in rows], weights=weights)
        assert statistics[rows].score().cumulative == pytest.approx(expected, rel=1e-12)
        assert statistics.scores()[7] == pytest.approx(statistics[[7, 7]].score().score, rel=1e-15)

    def test_weights_of_other_references_do_not_add_up(self, wmt):
        hypotheses, references = wmt.systems["LIUM-NMT"][:100], wmt.reference[:100]
        statistics = fm.segment_statistics("nist", hypotheses, references)
        shuffled = fm.segment_statistics("nist", hypotheses[::-1], references[::-1], n_threads=1)
        assert repr((statistics + shuffled).score().individual) == repr(statistics.score().individual)
        other = [*references[:50], " ".join(reversed(references[50].split())), *references[51:]]
        for changed in ([*references[:99], "x"], other, [[text, "x"] for text in references]):
            with pytest.raises(ValueError, match="cannot add statistics of different metrics"):
                statistics + fm.segment_statistics("nist", hypotheses, changed)

    def test_fingerprint_does_not_depend_on_shards(self, wmt, monkeypatch):
        metric = nist.make_metric()
        segments = nist.segments_from_parallel(wmt.reference, wmt.reference)
        bound_metric, _ = metric.count_corpus(segments, 2, True)
        monkeypatch.setattr(nist_statistics, "WORDS_PER_SHARD", 3000)
        assert metric.count_corpus(segments, 1, True)[0] == bound_metric
        assert bound_metric.weights > 0

    def test_equal_segments(self):
        """Every word determines the next, so only single words have information."""
        texts = ["a b c d e f"] * 1000
        ours = fm.corpus_nist(texts, texts)
        assert ours.cumulative == pytest.approx((math.log2(6),) * 5, rel=1e-15)
        assert ours.individual[1:] == (0.0,) * 4

    def test_a_million_words(self):
        words = np.random.default_rng(3).integers(0, 1000, 1_000_000).astype(str).tolist()
        ours = fm.sentence_nist(words, words)
        assert ours.counts == ours.totals == tuple(1_000_000 - n for n in range(5))


class TestTokens:
    @given(st.lists(MIXED, min_size=1, max_size=6))
    def test_integers_and_strings(self, hypotheses):
        """1 and "1" are different tokens, also in different blocks."""
        references = [list(reversed(tokens)) for tokens in hypotheses]
        ours = fm.corpus_nist(hypotheses, references)
        theirs = oracle.corpus(hypotheses, [[tokens] for tokens in references])
        np.testing.assert_allclose(ours.cumulative, theirs, rtol=1e-12, atol=0)

    def test_blocks_with_and_without_integers(self):
        hypotheses = [["a", "b", "c"]] * 300 + [["a", "b", 1]] * 300 + [[1, 2, "1"]] * 300
        references = [["a", "b", "d"]] * 300 + [["a", 1, "b"]] * 300 + [[2, "1", 1]] * 300
        ours = fm.corpus_nist(hypotheses, references)
        theirs = oracle.corpus(hypotheses, [[tokens] for tokens in references])
        np.testing.assert_allclose(ours.cumulative, theirs, rtol=1e-12, atol=0)


class TestArguments:
    def test_options(self):
        for name, values in {
            "max_order": (0, 17, 1.5, True, None), "tokenize": ("13", None), "lowercase": (1,),
            "information": ("nltk", None),
        }.items():  # fmt: skip
            for value in values:
                assert_raises((ValueError, TypeError), name, fm.corpus_nist, ["a"], ["a"], **{name: value})

        assert_raises(
            ValueError, "max_order must be an integer from 1 to 16; found 300",
            fm.corpus_nist, ["a"], ["a"], max_order=300,
        )

    def test_bad_input(self):
        assert_raises(ValueError, "one item per hypothesis", fm.corpus_nist, ["a"], ["a", "b"])
        assert_raises(TypeError, r"hypotheses\[1\] is None", fm.corpus_nist, ["a", None], ["a", "b"])
        assert_raises(ValueError, "no reference", fm.corpus_nist, ["a", "b"], [["a"], [None]])
        assert_raises(TypeError, r"hypotheses\[0\]", fm.corpus_nist, [7], ["a"])

    def test_empty_texts(self):
        for hypothesis, reference in (("", ""), ("", "a"), ("a", "")):
            ours = fm.sentence_nist(hypothesis, reference)
            assert (ours.score, ours.cumulative) == (0.0, (0.0,) * 5)
        assert fm.corpus_nist(["a b", ""], ["a b", ""]).counts == (2, 1, 0, 0, 0)

    def test_result(self):
        ours = fm.corpus_nist(["a b"], [["a b", "a c"]], tokenize="none", lowercase=True)
        assert float(ours) == ours.score
        assert str(ours) == f"NIST = {ours.score:.4f}"
        assert ours.signature.startswith("nrefs:2|case:lc|tok:none|order:5|info:mteval|version:fastmetrics-")

    def test_batches_are_an_error(self):
        assert_raises(TypeError, "whole corpus", nist.make_metric().new_counter)
