"""TER against its definition and against sacrebleu, whose edits and scores it equals."""

import math
import random

import numpy as np
import pytest
import sacrebleu
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from fastmetrics._kernels.text import ter as kernels
from oracles.text import ter as oracle
from support.cases import assert_raises, each_case
from support.text_logs import corpora

FLAGS = ("normalized", "no_punct", "asian_support", "case_sensitive")
OPTIONS = st.fixed_dictionaries({}, optional={flag: st.booleans() for flag in FLAGS})
PIECES = [
    "a", "B", "it's", "dog's", "x'", "1.5", "1,000", ".", ",", "a.", "5-3", "-", "(b)", "&amp;", "&lt;", "&quot;",
    "!?;:", "\n-", "\n", "中文", "東京。", "カタカナ", "ひら", "（全）", "、", "ｱ｡", "㌀", "㈱", "ﷺ", "⺀", "İ", "Σ",
    "\xa0", "\u3000", "/", "'s ",
]  # fmt: skip
ANY = st.lists(st.sampled_from(PIECES) | st.just(" "), max_size=12).map("".join)
FEW = st.lists(st.sampled_from("abcd"), max_size=10).map(" ".join)
words = st.lists(st.integers(0, 3), max_size=9)



def assert_same_as_sacrebleu(hypotheses, references, **options):
    """Compare edits, score, printed line and signature; return our score."""
    metric = sacrebleu.TER(**options)
    theirs = metric.corpus_score(hypotheses, references)
    ours = fm.corpus_ter(hypotheses, references, **options)
    assert ours.num_edits == theirs.num_edits
    assert math.isclose(ours.score, theirs.score, rel_tol=1e-12)
    assert math.isclose(ours.ref_length, theirs.ref_length, rel_tol=1e-12)
    if len(references) == 1:
        assert (ours.score, ours.ref_length) == (theirs.score, theirs.ref_length)
    assert str(ours) == str(theirs)
    assert ours.signature.rsplit("|", 1)[0] == str(metric.get_signature()).rsplit("|", 1)[0]
    return ours


def count_edits(hypothesis, *references):
    """Return the kernel's row for one segment of lists of integers."""
    texts = [hypothesis, *references]
    ids = np.array([word for text in texts for word in text], np.int64)
    text_tokens = np.cumsum([0, *map(len, texts)])
    out = np.empty((1, 3), np.int64)
    scratch = np.empty(kernels.scratch_size(text_tokens), np.int32)
    kernels.count_edits(ids, text_tokens, np.array([0, len(texts)]), scratch, out)
    return out[0].tolist()


def edit_randomly(words, generator, n_moves, share_wrong):
    """Move runs of words, then replace some words and leave some out."""
    for _ in range(n_moves):
        start, target = generator.randrange(len(words) + 1), generator.randrange(len(words) + 1)
        run = words[start : start + generator.randrange(1, 12)]
        words = words[:start] + words[start + len(run) :]
        words = words[:target] + run + words[target:]
    words = [word if generator.random() > share_wrong else -word for word in words]
    return [word for word in words if generator.random() > share_wrong]


class TestSacrebleu:
    @pytest.mark.parametrize("system", ["LIUM-NMT", "online-B", "uedin-nmt"])
    def test_real_systems(self, wmt, system):
        sample = slice(None, None, 60)
        assert_same_as_sacrebleu(wmt.systems[system][sample], [wmt.reference[sample]])

    @each_case("flags", [FLAGS[:1], FLAGS[1:2], FLAGS[:3], FLAGS[3:]], ids="-".join)
    def test_real_systems_with_options(self, wmt, flags):
        first, second, _ = (hypotheses[5::100] for hypotheses in wmt.systems.values())
        assert_same_as_sacrebleu(first, [wmt.reference[5::100], second], **dict.fromkeys(flags, True))

    @given(corpora(ANY | FEW), OPTIONS)
    def test_any_texts(self, corpus, options):
        assert_same_as_sacrebleu(*corpus, **options)

    @each_case("text", ["It is John's.", "it's字", "&amp;amp;quot; it's, 5.,-3", "(it's)"])
    def test_references_are_normalized_twice(self, text):
        assert_same_as_sacrebleu([text, "It is"], [[text, text]], normalized=True, asian_support=True)

    @given(corpora(FEW))
    def test_few_words(self, corpus):
        assert_same_as_sacrebleu(*corpus)

    def test_sentences(self):
        for references in ("a b", ["a b", "b c d"], ["", "a"]):
            theirs = sacrebleu.sentence_ter("b A", [references] if isinstance(references, str) else references)
            ours = fm.sentence_ter("b A", references)
            assert (ours.score, ours.num_edits, float(ours)) == (theirs.score, theirs.num_edits, theirs.score)


class TestOracle:
    @given(words, words)
    def test_few_words(self, hypothesis, reference):
        assert count_edits(hypothesis, reference) == [oracle.edits(hypothesis, reference), len(reference), 1]

    @each_case("seed", range(12))
    def test_moved_words(self, seed):
        generator = random.Random(seed)
        reference = [generator.randrange(1, 9 + 3 * seed) for _ in range(generator.randrange(5, 31))]
        hypothesis = edit_randomly(reference, generator, 1 + seed % 4, 0.03 * (seed % 5))
        assert count_edits(hypothesis, reference)[0] == oracle.edits(hypothesis, reference)

    @given(st.lists(words, min_size=1, max_size=3), words)
    def test_the_best_of_several_references(self, references, hypothesis):
        expected = min(oracle.edits(hypothesis, reference) for reference in references)
        assert count_edits(hypothesis, *references) == [expected, sum(map(len, references)), len(references)]

    @given(corpora(FEW))
    def test_corpus(self, corpus):
        hypotheses, streams = corpus
        references = [[text.split() for text in texts if text is not None] for texts in zip(*streams, strict=True)]
        edits, length = oracle.corpus([text.split() for text in hypotheses], references)
        score = fm.corpus_ter(hypotheses, streams)
        assert (score.num_edits, score.ref_length) == (edits, length)


class TestLimits:
    """The limits of the search are part of the definition, which is sacrebleu's."""

    @each_case(
        ("n_hypothesis", "n_reference", "n_words"),
        [
            (0, 3, 2), (1, 300, 5), (2, 120, 3), (3, 200, 400), (300, 1, 2), (120, 3, 90), (40, 41, 2), (64, 64, 90),
            (26, 24, 9), (24, 26, 9), (90, 80, 300), (49, 51, 400),
        ],
    )  # fmt: skip
    def test_beam_and_candidates(self, n_hypothesis, n_reference, n_words):
        from sacrebleu.metrics.lib_ter import translation_edit_rate

        for seed in range(1 + (n_words < 10)):
            generator = random.Random(seed)
            hypothesis = [generator.randrange(n_words) for _ in range(n_hypothesis)]
            reference = [generator.randrange(n_words) for _ in range(n_reference)]
            assert count_edits(hypothesis, reference)[0] == translation_edit_rate(hypothesis, reference)[0]

    @pytest.mark.parametrize(
        ("n_wrong", "before", "behind"), [(24, 48, 48), (25, 50, 60), (26, 60, 60)]
    )
    def test_where_the_beam_ends(self, n_wrong, before, behind):
        """Words on a diagonal n_wrong positions away. Expected values are sacrebleu's."""
        reference = list(range(60))
        assert count_edits([-1] * n_wrong + reference[:-n_wrong], reference)[0] == before
        assert count_edits(reference[n_wrong:] + [-1] * n_wrong, reference)[0] == behind

    @pytest.mark.parametrize(
        ("seed", "n_hypothesis", "n_reference", "n_words", "edits"), [(1105, 55, 57, 10, 38), (424, 54, 40, 8, 33)]
    )
    def test_the_thousandth_candidate(self, seed, n_hypothesis, n_reference, n_words, edits):
        """With 1001 shifts the first would have 37 edits, with 999 the second 34. Expected values are sacrebleu's."""
        generator = random.Random(seed)
        hypothesis = [generator.randrange(n_words) for _ in range(n_hypothesis)]
        assert count_edits(hypothesis, [generator.randrange(n_words) for _ in range(n_reference)])[0] == edits

    @each_case(
        ("far", "edits"), [(10, [1, 1, 1]), (49, [1, 1, 2]), (50, [1, 1, 2]), (51, [2, 20, 22])]
    )
    def test_far_and_long_shifts(self, far, edits):
        """Expected values are sacrebleu's, which takes a second for each."""
        reference = list(range(70))
        for length, expected in zip((1, 10, 11), edits, strict=True):
            rest = reference[length:]
            hypothesis = rest[:far] + reference[:length] + rest[far:]
            assert count_edits(hypothesis, reference)[0] == expected

    def test_memory_is_linear_in_long_texts(self):
        n = 30_000
        reference = list(range(n))
        assert count_edits([*reference[1:100], 0, *reference[100:]], reference)[0] == 2
        assert kernels.scratch_size(np.array([0, n, 2 * n])) < 100 * n
        assert count_edits(reference, [5]) == [n - 1, 1, 1]
        assert count_edits([n - 9], reference) == [n - 1, n, 1]


class TestRates:
    def test_empty_texts(self):
        for hypothesis, reference, score in (("", "", 0), ("a b", "", 100), ("", "a b", 100), (" ", "\n", 0)):
            assert fm.sentence_ter(hypothesis, reference).score == score

    def test_several_references_count_by_their_mean_length(self):
        score = fm.corpus_ter(["a b", "c"], [["a b", "c d"], ["a b c", None], ["a b c", None]])
        assert (score.num_edits, score.ref_length) == (1, 8 / 3 + 2)
        assert score.signature.startswith("nrefs:var|case:lc|tok:tercom|norm:no|punct:yes|asian:no|version:fastm")

    def test_tokens(self):
        assert fm.sentence_ter(["a b", "C"], ["a b", "c"]).num_edits == 0
        assert fm.sentence_ter(["a b", "C"], ["a b", "c"], case_sensitive=True).num_edits == 1
        assert fm.corpus_ter([[1, 2, 3]], [[[2, 3, 1]]]).num_edits == 1
        assert_raises(TypeError, "must be strings", fm.sentence_ter, ["a"], ["a"], no_punct=True)

    def test_segment_statistics(self, wmt):
        hypotheses, reference = wmt.systems["uedin-nmt"][:700], wmt.reference[:700]
        statistics = fm.segment_statistics("ter", hypotheses, reference)
        assert statistics.columns == ("edits", "ref_words", "references")
        whole = fm.corpus_ter(hypotheses, reference)
        assert statistics.score() == whole == (statistics[:9] + statistics[9:]).score()
        assert statistics[[3, 3]].score().num_edits == 2 * fm.sentence_ter(hypotheses[3], reference[3]).num_edits
        assert len({fm.corpus_ter(hypotheses, reference, n_threads=n) for n in (1, 2, 5)}) == 1

    @each_case("flag", FLAGS)
    def test_options_are_true_or_false(self, flag):
        assert_raises(ValueError, f"{flag} must be True or False", fm.corpus_ter, ["a"], ["a"], **{flag: 1})

    def test_bad_texts(self):
        assert_raises(TypeError, r"hypotheses\[1\] is None", fm.corpus_ter, ["a", None], ["a", "b"])
        assert_raises(ValueError, "references", fm.corpus_ter, ["a", "b"], ["a"])
        with pytest.raises(ValueError, match="row of 3"):
            kernels.count_edits(
                np.zeros(2, np.int64), np.array([0, 1, 2]), np.array([0, 2]), np.zeros(9, np.int32),
                np.zeros((1, 3), np.int64),
            )  # fmt: skip
