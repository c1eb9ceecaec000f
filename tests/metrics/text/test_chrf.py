"""chrF against its definition and against sacrebleu, whose scores it equals to the last bit."""

import random

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._kernels.text import chrf_ngrams
from oracles.text import chrf as oracle
from support.cases import assert_raises, each_case
from support.text_logs import corpora

# Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Thai, Han, Kana, Hangul, an astral script, and all white space.
LETTERS = "aAzßéİ αΩΣ Жд عر אב कि กา 中文 かナ 한글 𐐷😀\0"
SPACES = " \t\n\x0b\x0c\r\x1c\x1d\x1e\x1f\x85\xa0\u1680\u2000\u200a\u2028\u2029\u202f\u205f\u3000"
NEARLY_SPACES = "\x08\x0e\x1b\x84\x86\u180e\u200b\u2060\ufeff\u1fff"
MARKS = ".,!?()'-$%\u201e\u3002"
ANY = st.text(st.sampled_from(LETTERS + SPACES + NEARLY_SPACES + MARKS), max_size=30)
FEW = st.text(st.sampled_from("ab ."), max_size=70)
OPTIONS = st.fixed_dictionaries(
    {
        "char_order": st.integers(1, 9), "word_order": st.integers(0, 3), "beta": st.sampled_from([0, 1, 2, 3, 0.5]),
        "lowercase": st.booleans(), "whitespace": st.booleans(), "eps_smoothing": st.booleans(),
    }
)  # fmt: skip



def assert_same_as_sacrebleu(hypotheses, references, **options):
    """Compare score, name, printed line, signature and statistics; return our score."""
    metric = sacrebleu.CHRF(**options)
    rows = metric._extract_corpus_statistics(hypotheses, references)
    theirs = metric._aggregate_and_compute(rows)
    ours = fm.corpus_chrf(hypotheses, references, **options)
    assert ours.score == theirs.score
    assert (ours.name, str(ours)) == (theirs.name, str(theirs))
    assert ours.signature.rsplit("|", 1)[0] == str(metric.get_signature()).rsplit("|", 1)[0]
    np.testing.assert_array_equal(fm.segment_statistics("chrf", hypotheses, references, **options).counts, rows)
    return ours


class TestSacrebleu:
    @each_case(
        "options",
        [{}, {"word_order": 2}, {"lowercase": True, "whitespace": True}, {"eps_smoothing": True, "beta": 1}],
        ids=str,
    )
    def test_real_systems(self, wmt, options):
        first, second, third = (hypotheses[::30] for hypotheses in wmt.systems.values())
        assert_same_as_sacrebleu(first, [wmt.reference[::30]], **options)
        some = [text if row % 3 else None for row, text in enumerate(third)]
        assert_same_as_sacrebleu(second, [wmt.reference[::30], first, some], **options)

    def test_many_segments(self, wmt):
        assert_same_as_sacrebleu(wmt.systems["online-B"][::3], [wmt.reference[::3]])

    @given(corpora(ANY | FEW), OPTIONS)
    def test_any_corpus(self, corpus, options):
        assert_same_as_sacrebleu(*corpus, **options)

    @given(corpora(FEW), OPTIONS)
    def test_repeated_ngrams(self, corpus, options):
        assert_same_as_sacrebleu(*corpus, **options)

    @given(FEW, st.lists(FEW, min_size=1, max_size=4), OPTIONS)
    def test_any_sentence(self, hypothesis, references, options):
        theirs = sacrebleu.CHRF(**options).sentence_score(hypothesis, references)
        assert fm.sentence_chrf(hypothesis, references, **options).score == theirs.score

    @each_case("alphabet", ["a", "ab", "abcdefgh .", "".join(map(chr, range(0x4E00, 0x5000)))], ids=len)
    @each_case("length", [1, 63, 64, 65, 127, 128, 129, 192, 193, 256, 257, 1023, 1024, 1025, 3000])
    def test_lengths_at_which_the_algorithm_changes(self, length, alphabet):
        draw = random.Random(length)
        others = (0, 1, -1, 40) if length < 1000 else (0, 7)
        texts = ["".join(draw.choices(alphabet, k=length + more)) for more in others]
        for options in ({}, {"word_order": 2}, {"char_order": 8}, {"char_order": 9, "whitespace": True}):
            assert_same_as_sacrebleu(texts, [texts[::-1], texts[1:] + texts[:1]], **options)

    def test_the_first_of_equal_references(self):
        # All references share one of four letters, so their scores are equal. The statistics are those of the first.
        ours = assert_same_as_sacrebleu(["abcd"], [["axyz"], ["dxyz"], ["axyz!"]], char_order=2)
        assert ours.statistics == (4, 4, 1, 3, 3, 0)

    def test_texts_shorter_than_orders(self):
        pairs = [("", ""), ("", "ab"), ("ab", ""), ("a", "a"), ("a", "ab"), (" ", "a"), ("ab", "a")]
        for hypothesis, reference in pairs:
            for options in ({}, {"word_order": 2}, {"eps_smoothing": True}, {"char_order": 0, "word_order": 1}):
                assert_same_as_sacrebleu([hypothesis], [[reference]], **options)

    def test_orders_up_to_the_greatest(self):
        text = "abc" * 100
        assert_same_as_sacrebleu([text, text[1:]], [[text[2:], text]], char_order=255, word_order=255)

    def test_words_that_joining_could_confuse(self):
        # Without a separator between words, "ab c" and "a bc" would be the same n-gram.
        ours = assert_same_as_sacrebleu(["ab c"], [["a bc"]], char_order=0, word_order=2)
        assert ours.statistics == (2, 2, 0, 1, 1, 0)

    def test_punctuation_at_both_ends(self):
        for text in ("(hi)", "(hi", "hi)", "((", "()", ")", "a.b", "...", "¿qué?", "„so“"):
            assert_same_as_sacrebleu([text], [["( hi ) qué so . a"]], char_order=1, word_order=3)


class TestDefinition:
    @given(corpora(ANY | FEW, missing=False), st.integers(1, 7), st.integers(0, 3), st.booleans())
    def test_statistics_of_pairs(self, corpus, char_order, word_order, whitespace):
        hypotheses, references = corpus
        options = {"char_order": char_order, "word_order": word_order, "whitespace": whitespace}
        statistics = fm.segment_statistics("chrf", hypotheses, references[:1], **options)
        for hypothesis, reference, row in zip(hypotheses, references[0], statistics.counts, strict=True):
            assert row.tolist() == oracle.pair(hypothesis, reference, **options)

    @given(corpora(ANY | FEW, missing=False), st.sampled_from([1, 2, 3]))
    def test_one_reference(self, corpus, beta):
        hypotheses, references = corpus
        ours = fm.corpus_chrf(hypotheses, references[0], beta=beta)
        pairs = [(hypothesis, [reference]) for hypothesis, reference in zip(hypotheses, references[0], strict=True)]
        assert ours.score == pytest.approx(float(oracle.corpus(pairs, beta)), rel=1e-12, abs=0)

    def test_by_hand(self):
        # "abc" and "abd" share 2 of 3 letters, 1 of 2 bigrams, 0 of 1 trigrams.
        assert fm.sentence_chrf("abc", "abd", char_order=3).score == pytest.approx(100 * (2 / 3 + 1 / 2) / 3, rel=1e-15)
        assert fm.sentence_chrf("same text", "same text").score == 100.0

    def test_masks_and_tables_agree(self):
        """One order above the limit of masks: tables count the lower orders, with the same results."""
        draw = random.Random(1)
        for alphabet in ("ab", "abcdefghij ", "\U0001f600\U0001f601é"):
            texts = ["".join(draw.choices(alphabet, k=draw.randrange(300))) for _ in range(40)]
            short = fm.segment_statistics("chrf", texts, texts[::-1], char_order=chrf_ngrams.LONGEST_ORDER_MASKED)
            long = fm.segment_statistics("chrf", texts, texts[::-1], char_order=chrf_ngrams.LONGEST_ORDER_MASKED + 1)
            np.testing.assert_array_equal(short.counts, long.counts[:, : short.counts.shape[1]])


class TestSize:
    def test_a_million_characters(self):
        """Time and memory are linear in the text. A text matches all n-grams of itself."""
        letters = np.random.default_rng(1).integers(97, 123, 1_000_000, np.uint8).tobytes().decode()
        ours = fm.sentence_chrf(letters, letters)
        assert (ours.score, ours.statistics[-1]) == (100.0, 999_995)
        assert fm.sentence_chrf("a" * 1_000_000, "a" * 999_999 + "b").statistics[2] == 999_999

    def test_one_long_beside_one_short(self):
        long = "the cat sat on the mat " * 5_000
        for hypothesis, reference in ((long, "the cat"), ("the cat", long), (long, "")):
            assert_same_as_sacrebleu([hypothesis], [[reference]], word_order=2)

    def test_memory_is_left_clean(self):
        """Counts left in a thread's tables would change the score of the next segment."""
        texts = ["abc def", "", "x" * 2000, "def abc", "\U0001f600" * 70, "b", "y x " * 300, "abc"]
        expected = [fm.sentence_chrf(*pair, word_order=2).score for pair in zip(texts, texts[::-1], strict=True)]
        assert fm.segment_statistics("chrf", texts, texts[::-1], word_order=2).scores().tolist() == expected


class TestArguments:
    def test_options(self):
        for name, values in {
            "char_order": (-1, 256, 1.5, "6", True, None), "word_order": (-1, 256, 2.0),
            "beta": (-1, float("nan"), float("inf"), "2", True), "lowercase": (1, "yes"), "whitespace": (None,),
            "eps_smoothing": (0,),
        }.items():  # fmt: skip
            for value in values:
                assert_raises((ValueError, TypeError), name, fm.corpus_chrf, ["a"], ["a"], **{name: value})
        assert fm.corpus_chrf(["a"], ["a"], beta=np.int64(3)).name == "chrF3"
        assert_raises(ValueError, "both 0", fm.corpus_chrf, ["a"], ["a"], char_order=0)

    def test_lists_of_tokens_are_an_error(self):
        assert_raises(TypeError, "characters", fm.corpus_chrf, [["a", "b"]], [["a", "b"]])
        assert_raises(TypeError, "characters", fm.sentence_chrf, ["a", "b"], [["a", "b"]])

    def test_bad_texts(self):
        assert_raises(TypeError, r"hypotheses\[1\] is None", fm.corpus_chrf, ["a", None], ["a", "b"])
        assert_raises(ValueError, "no reference", fm.corpus_chrf, ["a", "b"], [["a", None]])
        assert_raises(ValueError, "2 segments", fm.corpus_chrf, ["a"], ["a", "b"])
        assert_raises(TypeError, "int", fm.corpus_chrf, ["a"], [7])

    def test_result(self):
        ours = fm.corpus_chrf(["ab"], ["ab"], word_order=2, beta=3)
        assert float(ours) == ours.score == 100.0
        assert str(ours) == "chrF3++ = 100.00"
        assert ours.signature.startswith("nrefs:1|case:mixed|eff:yes|nc:6|nw:2|space:no|version:fastmetrics-")
