"""BLEU against its definition and against sacrebleu, whose scores it equals."""

import copy
import functools
import math
import pickle

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles.text import bleu as oracle
from support.cases import assert_raises, each_case
from support.text_logs import corpora

TOKENIZERS = ("13a", "intl", "char", "zh", "none")
SMOOTHINGS = [("exp", None), ("floor", None), ("floor", 0.5), ("add-k", None), ("add-k", 2), ("none", None)]
# Latin, Greek, Cyrillic, Arabic, Hebrew, Devanagari, Thai, Han, Kana, Hangul, an astral script, and word separators.
LETTERS = "aAzßé αΩ Жд عر אב कि กา 中文 かナ 한글 𐐷😀"
HARD = " .,-&;:!?'\"()<>%$0123456789\t\u00a0\u3000\u2028,。、「」€½²"
WORDS = st.lists(st.text(st.sampled_from(LETTERS + HARD), max_size=6), max_size=12).map(" ".join)
FEW = st.lists(st.sampled_from(["a", "b", "c", "d."]), max_size=9)



def peer(**options):
    return sacrebleu.BLEU(force=True, **options)


def assert_same_score(ours, theirs):
    # Logarithms of the C library may have another last bit.
    assert ours.score == pytest.approx(theirs.score, rel=1e-14)
    assert ours.precisions == tuple(theirs.precisions)
    assert (ours.bp, ours.sys_len, ours.ref_len) == (theirs.bp, theirs.sys_len, theirs.ref_len)
    assert str(ours) == str(theirs)


class TestSacrebleu:
    @each_case("tokenize", TOKENIZERS)
    def test_real_systems(self, wmt, tokenize):
        """The first system whole, and a part of the others."""
        for number, hypotheses in enumerate(wmt.systems.values()):
            part = slice(number, None, 6 if number or tokenize != "13a" else None)
            assert_same_score(
                fm.corpus_bleu(hypotheses[part], [wmt.reference[part]], tokenize=tokenize),
                peer(tokenize=tokenize).corpus_score(hypotheses[part], [wmt.reference[part]]),
            )

    @each_case(("smooth", "value"), SMOOTHINGS)
    @each_case("effective", [False, True])
    def test_real_segments(self, wmt, smooth, value, effective):
        metric = peer(smooth_method=smooth, smooth_value=value, effective_order=effective)
        options = {"smooth": smooth, "smooth_value": value, "effective_order": effective}
        for hypothesis, reference in list(zip(next(iter(wmt.systems.values())), wmt.reference, strict=True))[::29]:
            ours = fm.sentence_bleu(hypothesis, reference, **options)
            theirs = metric._aggregate_and_compute(metric._extract_corpus_statistics([hypothesis], [[reference]]))
            assert ours.score == pytest.approx(theirs.score, rel=1e-14)

    @given(corpora(WORDS), st.sampled_from(TOKENIZERS), st.sampled_from(SMOOTHINGS), st.booleans(), st.booleans())
    def test_any_corpus(self, corpus, tokenize, smoothing, lowercase, effective):
        hypotheses, references = corpus
        smooth, value = smoothing
        metric = peer(
            tokenize=tokenize, smooth_method=smooth, smooth_value=value, lowercase=lowercase, effective_order=effective
        )
        theirs = metric.corpus_score(hypotheses, references)
        ours = fm.corpus_bleu(
            hypotheses, references, tokenize=tokenize, smooth=smooth, smooth_value=value, lowercase=lowercase,
            effective_order=effective,
        )  # fmt: skip
        assert ours.score == pytest.approx(theirs.score, rel=1e-14)
        assert ours.precisions == tuple(theirs.precisions)
        assert ours.signature.rsplit("|", 1)[0] == str(metric.get_signature()).rsplit("|", 1)[0]


class TestDefinition:
    @given(corpora(FEW), st.integers(1, 6), st.sampled_from(SMOOTHINGS), st.booleans(), st.data())
    def test_statistics_and_score(self, corpus, max_order, smoothing, effective, data):
        hypotheses, references = corpus
        smooth, value = smoothing
        weight_lists = st.lists(st.sampled_from([0.0, 0.2, 0.5, 1.0]), min_size=max_order, max_size=max_order)
        weights = data.draw(st.none() | weight_lists.filter(any))
        rows = [
            oracle.segment(hypothesis, [text for text in texts if text is not None], max_order)
            for hypothesis, *texts in zip(hypotheses, *references, strict=True)
        ]
        counted = fm.segment_statistics("bleu", hypotheses, references, max_order=max_order)
        assert counted.counts.tolist() == rows
        options = {"smooth": smooth, "smooth_value": value, "effective_order": effective, "weights": weights}
        expected = oracle.corpus(rows, max_order, **options)
        found = fm.corpus_bleu(hypotheses, references, max_order=max_order, **options)
        assert found.score == pytest.approx(expected, rel=1e-12, abs=1e-12)

    @given(st.lists(st.integers(-(2**70), 2**70), max_size=6), st.lists(st.integers(0, 3), max_size=6))
    def test_integers_of_any_size_are_tokens(self, one, other):
        hypothesis, reference = one + other, other + one
        assert fm.segment_statistics("bleu", [hypothesis], [reference]).counts.tolist() == [
            oracle.segment(hypothesis, [reference])
        ]

    @each_case("kind", [np.int64, np.int16, np.uint8, np.uint64])
    def test_integers_of_numpy_are_tokens(self, kind):
        lists = [[1, 2, 3, 4, 5], [6, 7]], [[1, 2, 3, 4, 6], [6, 7]]
        hypotheses, references = ([[kind(token) for token in text] for text in texts] for texts in lists)
        expected = fm.corpus_bleu(*lists)
        for texts, streams in (
            (hypotheses, references), (hypotheses, [references]), (lists[0], references), (hypotheses, [lists[1]]),
        ):  # fmt: skip
            assert fm.corpus_bleu(texts, streams) == expected
        assert fm.corpus_nist(hypotheses, references) == fm.corpus_nist(*lists)
        assert fm.sentence_bleu(hypotheses[0], references[0]) == fm.sentence_bleu(lists[0][0], lists[1][0])

    @each_case("length", [0, 1, 2, 3, 4, 5, 63, 64, 65, 1000])
    def test_lengths(self, length):
        hypothesis = [number % 7 for number in range(length)]
        reference = [number % 5 for number in range(length + 3)]
        expected = oracle.segment(hypothesis, [reference])
        assert fm.segment_statistics("bleu", [hypothesis], [reference]).counts.tolist() == [expected]

    def test_equal_hashes_are_not_taken_for_equal_ngrams(self):
        """So many distinct words and n-grams that some have equal hash tags."""
        words = [f"w{number}" for number in range(200_000)]
        counts = fm.segment_statistics("bleu", [" ".join(words)], [" ".join(reversed(words))], tokenize="none").counts
        assert counts.tolist() == [[200_000, 200_000, 200_000, 0, 0, 0, 200_000, 199_999, 199_998, 199_997]]

    def test_a_segment_of_a_million_tokens(self):
        tokens = ["the", "cat", "."] * 350_000
        score = fm.corpus_bleu([tokens], [tokens[3:]])
        assert score.counts == (1_049_997, 1_049_996, 1_049_995, 1_049_994)
        assert score.totals == (1_050_000, 1_049_999, 1_049_998, 1_049_997)

    def test_two_tokens_never_divide_by_zero(self):
        assert fm.corpus_bleu(["a b"], ["a b"]).score == 0
        assert fm.sentence_bleu("a b", "a b").score == pytest.approx(100)
        assert fm.sentence_bleu("", "a b").score == 0
        assert fm.sentence_bleu("a b", "").score == 0
        assert fm.corpus_bleu(["", ""], ["", ""]).score == 0

    def test_weights_are_the_definition(self):
        hypotheses, references = ["a b c d e f"], ["a b c d f e"]
        found = fm.corpus_bleu(hypotheses, references, max_order=2, weights=[0.7, 0.1])
        assert found.score == pytest.approx(100 * (6 / 6) ** 0.7 * (3 / 5) ** 0.1, rel=1e-14)
        equal = fm.corpus_bleu(hypotheses, references, weights=[0.25] * 4).score
        assert equal == pytest.approx(fm.corpus_bleu(hypotheses, references).score, rel=1e-14)
        assert "weights:0.7,0.1" in found.signature
        assert "order:2" in found.signature


class TestMerging:
    def test_statistics_merge_and_resample(self, wmt):
        hypotheses = next(iter(wmt.systems.values()))
        whole = fm.segment_statistics("bleu", hypotheses, [wmt.reference])
        assert repr(whole.score()) == repr(fm.corpus_bleu(hypotheses, wmt.reference))
        first = fm.segment_statistics("bleu", hypotheses[:1000], [wmt.reference[:1000]])
        second = fm.segment_statistics("bleu", hypotheses[1000:], [wmt.reference[1000:]])
        assert repr((second + first).score()) == repr(whole.score())
        rows = np.random.default_rng(0).integers(0, len(hypotheses), len(hypotheses))
        sampled = fm.corpus_bleu([hypotheses[row] for row in rows], [[wmt.reference[row] for row in rows]])
        assert repr(whole[rows].score()) == repr(sampled)
        options = {"effective_order": True}
        few = fm.segment_statistics("bleu", hypotheses[:50], [wmt.reference[:50]], **options)
        each = [fm.sentence_bleu(*pair).score for pair in zip(hypotheses[:50], wmt.reference[:50], strict=True)]
        assert few.scores().tolist() == each
        with pytest.raises(ValueError, match="different metrics"):
            few + whole

    def test_columns_of_any_library(self):
        hypotheses, references = ["a b c d", "e f g h"], ["a b c e", "e f g h"]
        expected = fm.corpus_bleu(hypotheses, references)
        assert fm.corpus_bleu(np.array(hypotheses), np.array(references)) == expected
        assert fm.corpus_bleu(tuple(hypotheses), (tuple(references),)) == expected
        assert fm.corpus_bleu(np.array(hypotheses, dtype=object), [np.array(references, dtype=object)]) == expected
        pyarrow = pytest.importorskip("pyarrow")
        assert fm.corpus_bleu(pyarrow.array(hypotheses), pyarrow.chunked_array([references])) == expected
        tokens = [np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8])]
        assert fm.corpus_bleu(tokens, [[np.array([1, 2, 3, 5]), np.array([5, 6, 7, 8])]]).score == expected.score


class TestArguments:
    def test_options_of_numpy(self):
        for value in (np.float32(0.5), np.float64(0.5)):
            found = fm.corpus_bleu(["a b c"], ["a b d"], smooth="floor", smooth_value=value)
            assert found == fm.corpus_bleu(["a b c"], ["a b d"], smooth="floor", smooth_value=0.5)

    def test_rows_of_statistics(self):
        counted = fm.segment_statistics("bleu", ["a b c d", "a b", "x"], ["a b c d", "a c", "y"])
        for rows in ([0, 2], (0, 2), np.array([0, 2]), [True, False, True], range(0, 3, 2), slice(0, 3, 2)):
            assert counted[rows].counts.tolist() == counted.counts[::2].tolist()
        for rows in ([], (), slice(3, 3), [False] * 3):
            assert len(counted[rows]) == 0
        for rows in (None, [[0, 1]], np.array([[0, 1], [1, 2]])):
            with pytest.raises(IndexError, match="select segments by one index"):
                counted[rows]

    @each_case("kind", ["str", "string", "object", "category"])
    def test_missing_texts_of_pandas_are_none(self, kind):
        pandas = pytest.importorskip("pandas")
        hypotheses, first, second = ["a b c d", "b c"], ["a b c e", "b c"], ["a b c d", None]
        column = pandas.Series(second, dtype=kind)
        assert fm.corpus_bleu(hypotheses, [first, column]) == fm.corpus_bleu(hypotheses, [first, second])
        assert_raises(TypeError, r"hypotheses\[1\] is None", fm.corpus_bleu, column, first)

    @each_case("library", ["numpy", "objects", "pyarrow", "pandas", "polars"])
    def test_sentences_in_columns(self, library):
        def column(values):
            if library == "numpy":
                return np.array(values)
            if library == "objects":
                return np.array(values, object)
            module = pytest.importorskip(library)
            return module.array(values) if library == "pyarrow" else module.Series(values)

        hypothesis, reference = ["a", "b", "c", "d", "e"], ["a", "b", "c", "d", "f"]
        expected = fm.sentence_bleu(hypothesis, reference)
        assert fm.sentence_bleu(column(hypothesis), column(reference)) == expected
        assert fm.sentence_bleu(column(hypothesis), reference) == expected
        assert fm.sentence_bleu(hypothesis, column(reference)) == expected
        assert fm.sentence_bleu("a b c d e", column(["x", "a b c d f"]), tokenize="none") == expected

    def test_arrays_of_tokens_beside_lists(self):
        texts = [["a", "b"], ("c",), np.array(["d", "e"])]
        assert fm.corpus_bleu(texts, texts, max_order=1).counts == (5,)
        assert fm.corpus_bleu(texts, [texts, texts], max_order=1).counts == (5,)
        assert fm.corpus_nist(texts, [[text] for text in texts], max_order=1).counts == (5,)


class TestResult:
    def test_it_is_a_number_with_attributes(self):
        score = fm.corpus_bleu(["a b c d e"], ["a b c d f"])
        assert isinstance(score, float)
        assert type(score.score) is float
        assert score == score.score
        assert f"{score:.2f}" == f"{score.score:.2f}"
        assert max(score, fm.corpus_bleu(["a"], ["b"])) is score
        again = pickle.loads(pickle.dumps(score))
        assert (repr(again), type(again)) == (repr(score), type(score))
        assert repr(copy.deepcopy(score)) == repr(score)
        assert repr(score).startswith(f"BleuScore(score={score.score!r}, counts=(4, 3, 2, 1), totals=(5, 4, 3, 2), ")

    def test_it_cannot_be_changed(self):
        score = fm.corpus_bleu(["a"], ["a"])
        with pytest.raises(AttributeError, match="is immutable"):
            score.counts = (1, 1, 1, 1)
        with pytest.raises(AttributeError, match="is immutable"):
            del score.bp


class TestErrors:
    @each_case(
        ("hypotheses", "references", "error", "words"),
        [
            (["a", None], ["a", "b"], TypeError, r"hypotheses\[1\] is None"),
            (["a", b"b"], ["a", "b"], TypeError, r"hypotheses\[1\] is bytes"),
            (["a", 3], ["a", "b"], TypeError, r"hypotheses\[1\] has type int"),
            (["a", "b"], ["a", 3], TypeError, r"references\[1\] has type int"),
            (["a", "b"], [["a", "b"], ["a", 3.0]], TypeError, r"references\[1\]\[1\] has type float"),
            ("a b", ["a b"], TypeError, "hypotheses is one str"),
            (["a b"], "a b", TypeError, "references is one str"),
            (["a"], ["a", "b"], ValueError, "references has 2 segments but hypotheses has 1"),
            (["a", "b"], [["a", "b"], ["c"]], ValueError, r"references\[1\] has 1 segments but hypotheses has 2"),
            (["a"], [], ValueError, "references is empty"),
            ([], [], ValueError, "hypotheses is empty"),
            ([], [[]], ValueError, "hypotheses is empty"),
            (["a", "b"], [["a", None]], ValueError, r"hypotheses\[1\] has no reference"),
            (["a", "b"], [None, ["a", "b"]], TypeError, r"references\[0\] must be a stream"),
            (["a", "b\ud800"], ["a", "b"], ValueError, r"hypotheses\[1\] has a lone surrogate at character 1"),
            (["a", "b"], [["a", "b"], ["\udc00", "b"]], ValueError, r"references\[1\]\[0\] has a lone"),
            ([["a"], "b"], [["a"], ["b"]], TypeError, r"hypotheses\[1\] has type str"),
            (["a", ["b"]], ["a", "b"], TypeError, r"hypotheses\[1\] has type list"),
            ([["a", 1.5]], [["a"]], TypeError, r"hypotheses\[0\] has 1.5 at token 1"),
            ([["a", True]], [["a"]], TypeError, r"hypotheses\[0\] has True at token 1"),
            (5, ["a"], TypeError, "hypotheses must be a list of strings; found int"),
        ],
    )  # fmt: skip
    def test_bad_texts(self, hypotheses, references, error, words):
        assert_raises(error, words, fm.corpus_bleu, hypotheses, references)

    def test_the_first_bad_row_of_many(self):
        hypotheses = ["a b"] * 5000
        references = ["a b"] * 5000
        hypotheses[4321] = None
        for n_threads in (1, 3):
            assert_raises(
                TypeError, r"hypotheses\[4321\] is None", fm.corpus_bleu, hypotheses, references, n_threads=n_threads
            )
            assert_raises(
                TypeError, r"hypotheses\[4321\] is None",
                fm.corpus_bleu, hypotheses, references, n_threads=n_threads, lowercase=True,
            )

    @each_case(
        ("options", "words"),
        [
            ({"tokenize": "14a"}, "tokenize must be one of"),
            ({"smooth": "laplace"}, "smooth must be one of"),
            ({"smooth_value": 1}, "smooth='exp' takes no smooth_value"),
            ({"smooth": "floor", "smooth_value": -1}, "smooth_value must be"),
            ({"smooth": "floor", "smooth_value": math.nan}, "smooth_value must be"),
            ({"max_order": 0}, "max_order must be an integer from 1 to 255"),
            ({"max_order": 2.5}, "max_order must be an integer"),
            ({"max_order": True}, "max_order must be an integer"),
            ({"lowercase": 1}, "lowercase must be True or False"),
            ({"smooth": "floor", "smooth_value": True}, "smooth_value must be"),
            ({"weights": 0.25}, "weights must be a sequence of numbers"),
            ({"weights": [None] * 4}, "weights must be a sequence of numbers"),
            ({"weights": [1, 2]}, "weights must have one number per order"),
            ({"weights": [0, 0, 0, 0]}, "weights must be finite"),
            ({"weights": [1, 1, 1, math.inf]}, "weights must be finite"),
            ({"n_threads": 0}, "n_threads must be"),
        ],
    )
    def test_bad_options(self, options, words):
        assert_raises((ValueError, TypeError), words, fm.corpus_bleu, ["a"], ["a"], **options)

    def test_sentences(self):
        assert_raises(TypeError, "hypothesis is None", fm.sentence_bleu, None, ["a"])
        assert_raises(TypeError, r"references\[1\] has type int", fm.sentence_bleu, "a", ["a", 1])
        assert_raises(ValueError, "references is empty", fm.sentence_bleu, "a", [])
        assert_raises(ValueError, "hypothesis has a lone surrogate at character 0", fm.sentence_bleu, "\ud800", ["a"])
        assert_raises(ValueError, "metric must be one of", fm.segment_statistics, "bleurt", ["a"], ["a"])
        assert_raises(
            TypeError, "metric 'bleu' has no option 'order'; it has tokenize, smooth, ",
            fm.segment_statistics, "bleu", ["a"], ["a"], order=2,
        )


@each_case("name", ["sentence_bleu", "sentence_nist", "sentence_meteor"])
def test_texts_in_place_of_tokens_are_an_error(name):
    """They would be one token each, and match only as a whole: a score of 0 without a word."""
    without_wordnet = {"modules": ("exact", "stem")} if name == "sentence_meteor" else {}
    function = functools.partial(getattr(fm, name), **without_wordnet)
    text = "the cat sat on the mat"
    message = r"hypothesis\[0\] is 'the cat sat on the mat', which has a space: a list has the tokens of one text"
    assert_raises(ValueError, message, function, [text], [text])
    message = r"references\[1\]\[2\] is 'sat on', which has a space"
    assert_raises(ValueError, message, function, text.split(), [text.split(), ["the", "cat", "sat on"]])
    assert function(text, [text]).score == function(text.split(), [text.split()]).score
