"""Texts as arrays: code points of strings and of UTF-8, ids of words, and blocks of segments."""

import itertools

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._kernels.text.tokens import text_blocks
from fastmetrics._kernels.text.tokens.vocabulary import Vocabulary
from fastmetrics.metrics.text.inputs.argument_forms import segments_from_parallel, segments_from_streams
from fastmetrics.metrics.text.inputs.segments import TextBlock, TokenBlock, TokenIdBlock
from support.cases import each_case

ANY_TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
HARD_BYTES = [0x41, 0x80, 0xBF, 0xC0, 0xC2, 0xE0, 0xED, 0xEF, 0xF0, 0xF4, 0xF5, 0xFF, 0xA0, 0x90]
FEW_BYTES = st.lists(st.sampled_from(HARD_BYTES))


def decode(spans):
    """Decode spans of UTF-8 to strings; return the index of the first invalid span, if there is one."""
    data = np.frombuffer(b"".join(spans) + b" ", np.uint8)
    stops = np.cumsum([len(span) for span in spans], dtype=np.int64)
    starts = stops - np.array([len(span) for span in spans], np.int64)
    offsets, points = np.empty(len(spans) + 1, np.int64), np.empty(len(data), np.uint32)
    bad = text_blocks.decode_utf8(data, starts, stops, offsets, points)
    if bad >= 0:
        return bad
    return ["".join(map(chr, points[start:stop])) for start, stop in itertools.pairwise(offsets)]


def ids_of(vocabulary, words):
    points = np.array([ord(character) for word in words for character in word], np.uint32)
    starts = np.cumsum([0, *map(len, words)], dtype=np.int64)
    ids = np.empty(len(words), np.int64)
    vocabulary.number(points, starts, len(words), ids)
    return ids.tolist()


def text_of(block, text):
    """A text of a TextBlock, as a string."""
    return "".join(map(chr, block.points[block.offsets[text] : block.offsets[text + 1]]))


class TestUtf8:
    @given(st.lists(ANY_TEXT, max_size=5))
    def test_round_trip(self, words):
        assert decode([word.encode() for word in words]) == words

    @given(st.lists(st.one_of(st.binary(max_size=9), FEW_BYTES.map(bytes)), min_size=1, max_size=3))
    @example([b"abcdefgh\xff"])
    @example([b"\xed\xa0\x80"])
    @example([b"\xf4\x90\x80\x80"])
    @example([b"\xf0\x8f\xbf\xbf"])
    @example([b"\xe0\x9f\xbf"])
    @example([b"\xc1\xbf"])
    @example([b"abc", b"\xe2\x82", b"\xac"])
    def test_invalid_spans_are_those_of_python(self, spans):
        expected = []
        for index, span in enumerate(spans):
            try:
                expected.append(span.decode())
            except UnicodeDecodeError:
                expected = index
                break
        assert decode(spans) == expected

    def test_every_code_point(self):
        everything = "".join(map(chr, [*range(0xD800), *range(0xE000, 0x110000)]))
        assert decode([everything.encode()]) == [everything]


class TestVocabulary:
    @given(st.lists(st.lists(st.text(max_size=5), max_size=20), max_size=4))
    def test_ids_are_those_of_a_dict(self, batches):
        vocabulary, ids = Vocabulary(), {}
        for words in batches:
            assert ids_of(vocabulary, words) == [ids.setdefault(word, len(ids)) for word in words]
        assert vocabulary.size == len(ids)
        assert [vocabulary.word(word_id) for word_id in range(vocabulary.size)] == list(ids)
        starts, points = np.empty(len(ids) + 1, np.int64), np.empty(vocabulary.n_points(), np.uint32)
        vocabulary.copy_words(0, points, starts)
        assert starts.tolist() == np.cumsum([0, *map(len, ids)]).tolist()
        assert "".join(map(chr, points)) == "".join(ids)

    def test_a_hundred_thousand_words(self):
        words = [f"{number:x}"[::-1] for number in range(100_000)]
        vocabulary = Vocabulary()
        assert ids_of(vocabulary, words) == list(range(100_000))
        assert ids_of(vocabulary, words[::-1]) == list(range(100_000))[::-1]
        vocabulary.clear()
        assert vocabulary.size == 0
        assert ids_of(vocabulary, words[7:12]) == [0, 1, 2, 3, 4]

    def test_one_block_may_outgrow_the_table_many_times(self):
        assert ids_of(Vocabulary(), [str(number) for number in range(5000)] * 2) == list(range(5000)) * 2

    def test_no_such_word(self):
        with pytest.raises(IndexError):
            Vocabulary().word(0)


class TestBlocks:
    @given(st.lists(st.tuples(ANY_TEXT, ANY_TEXT, st.none() | ANY_TEXT), min_size=1, max_size=600))
    def test_segments_have_their_texts(self, rows):
        hypotheses, first, second = map(list, zip(*rows, strict=True))
        segments = segments_from_streams(hypotheses, [first, second])
        found = []
        scratch = Scratch()
        for block_index in range(segments.n_blocks):
            block = segments.load(block_index, scratch, {})
            assert isinstance(block, TextBlock)
            bounds = block.segments.tolist()
            found += [
                [text_of(block, text) for text in range(*pair)] for pair in itertools.pairwise(bounds)
            ]
        assert found == [[text for text in row if text is not None] for row in rows]

    def test_blocks_of_string_tokens_and_of_integer_tokens(self):
        block = segments_from_streams([["a", "bc"]], [[("bc",)]]).load(0, Scratch(), {})
        assert isinstance(block, TokenBlock)
        assert "".join(map(chr, block.token_points)) == "abcbc"
        assert block.token_starts[:4].tolist() == [0, 1, 3, 5]
        assert block.text_tokens.tolist() == [0, 2, 3]
        block = segments_from_streams([["a", 2**80]], [[(2**80,)]]).load(0, Scratch(), {})
        assert isinstance(block, TokenIdBlock)
        assert block.ids.tolist() == [0, 1, 1]

    def test_lower_case_follows_python(self):
        segments = segments_from_parallel(["ΑΣ İ STRASSE"], [["ß", None, "Ǆ"]])
        segments.lowercase = True
        block = segments.load(0, Scratch(), {})
        assert [text_of(block, text) for text in range(3)] == ["ΑΣ İ STRASSE".lower(), "ß", "Ǆ".lower()]

    @each_case(
        ("references", "count"),
        [
            (["x", "y"], 1), ([["x"], ["y"]], 1), ([["x", "z"], ["y", "w"]], 2), ([["x", "z"], "y"], -1),
            ([["x"], ["y", "z"]], -1),
        ],
    )  # fmt: skip
    def test_number_of_references_of_parallel_lists(self, references, count):
        assert segments_from_parallel(["a", "b"], references).n_references == count

    @each_case(
        ("hypotheses", "references", "error", "words"),
        [
            (["a", "b"], ["x"], ValueError, "one item per hypothesis: found 1 for 2 hypotheses$"),
            (["a", "b"], [["x", "y"]], ValueError, r"found 1 for 2 hypotheses; .*zip\(\*references\)"),
            (["a", "b"], ["x", None], ValueError, r"hypotheses\[1\] has no reference"),
            (["a", "b"], ["x", []], ValueError, r"hypotheses\[1\] has no reference"),
            (["a", "b"], ["x", ["y", 3]], TypeError, r"references\[1\]\[1\] has type int"),
            (["a", "b"], ["x", 3], TypeError, r"references\[1\] must be a list"),
            (["a", "b"], ["x", "\udfff"], ValueError, r"references\[1\] has a lone surrogate at character 0"),
            (["a", "b"], ["x", b"y"], TypeError, r"references\[1\] is bytes"),
        ],
    )
    def test_errors_of_parallel_lists(self, hypotheses, references, error, words):
        with pytest.raises(error, match=words):
            segments_from_parallel(hypotheses, references).load(0, Scratch(), {})
