"""Hypotheses and references as `Segments`, which are loaded in blocks of arrays for the kernels.

A corpus is a list of *streams* of equal length: the hypotheses, then one stream per reference that a segment may have.
A stream holds None where a segment has fewer references. Texts are strings, or lists of tokens (strings or integers).
An item's type is checked when its block is loaded, so no item is read twice. Errors name the argument and the index.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.columns.row_blocks import Scratch
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._kernels.text.tokens import text_blocks
from fastmetrics.metrics.text.inputs.segment_files import LINES_PER_MARK, TextFile, raise_invalid_utf8

# A block has at most this many segments and, unless one segment is longer, this many characters: its code points should
# stay in the second-level cache.
BLOCK_SEGMENTS = 256
BLOCK_LENGTH = 1 << 17
CHARACTERS_PER_TOKEN = 8  # an estimate, for the size of blocks of token lists
SAMPLED_SEGMENTS = 64  # segments from whose lengths the size of blocks is estimated
VARIABLE = -1  # n_references of a corpus whose segments have different numbers of references
MAX_TOKEN_IDS = 1 << 13  # distinct tokens that a thread keeps from block to block; they should stay in cache
SURROGATES = ("\ud800", "\udfff")


class TextBlock(NamedTuple):
    """Segments of texts, as code points.

    Text i is points[offsets[i]:offsets[i + 1]]. Segment s has the texts segments[s] to segments[s + 1], its hypothesis
    first.
    """

    points: np.ndarray
    offsets: np.ndarray
    segments: np.ndarray


class TokenBlock(NamedTuple):
    """Segments of tokens, as code points.

    Token t is token_points[token_starts[t]:token_starts[t + 1]]. Text i has the tokens text_tokens[i] to
    text_tokens[i + 1]. Segment s has the texts segments[s] to segments[s + 1], its hypothesis first.
    """

    token_points: np.ndarray
    token_starts: np.ndarray
    text_tokens: np.ndarray
    segments: np.ndarray


class TokenIdBlock(NamedTuple):
    """Segments of tokens, as integer ids: text i has ids[text_tokens[i]:text_tokens[i + 1]]; `segments` as above."""

    ids: np.ndarray
    text_tokens: np.ndarray
    segments: np.ndarray


class Segments:
    """Hypotheses with their references; `load` returns one block of them."""

    names: ArgumentNames | FileLineNames

    def __init__(self, streams: list[list[Any]], names: ArgumentNames) -> None:
        self.streams = streams
        self.names = names
        self.size = len(streams[0])
        self.is_tokens = holds_tokens(streams[0])
        self.block_size = choose_block_size(streams, CHARACTERS_PER_TOKEN if self.is_tokens else 1)
        self.lowercase = False  # set by the metric: load lower-cased texts

    def __len__(self) -> int:
        return self.size

    @property
    def n_blocks(self) -> int:
        return -(-self.size // self.block_size)

    @property
    def n_references(self) -> int:
        """The number of references of every segment, or VARIABLE."""
        if not any(None in stream for stream in self.streams[1:]):
            return len(self.streams) - 1
        present = [[text is not None for text in stream] for stream in self.streams[1:]]
        counts = set(map(sum, zip(*present, strict=True)))
        return counts.pop() if len(counts) == 1 else VARIABLE

    def bounds(self, block_index: int) -> tuple[int, int]:
        """The first segment of a block, and the one after its last."""
        return block_index * self.block_size, min(self.size, (block_index + 1) * self.block_size)

    def load(
        self, block_index: int, scratch: Scratch, token_ids: dict[Any, int]
    ) -> TextBlock | TokenBlock | TokenIdBlock:
        """Return a block, valid until the next one is loaded with the same scratch.

        Token lists of strings alone become a TokenBlock. If an integer is among the tokens, all become ids in a
        TokenIdBlock; `token_ids` is the thread's mapping from tokens to ids.
        """
        first, stop = self.bounds(block_index)
        streams, start = self.streams, first
        if self.lowercase:
            streams, start, stop = [lowercase_stream(stream[first:stop]) for stream in streams], 0, stop - first
        bad_item = np.zeros(3, np.int64)
        offsets, segments = self.allocate_bounds(stop - start, scratch)
        n_texts = text_blocks.measure_streams(streams, start, stop, self.is_tokens, offsets, segments, bad_item)
        if n_texts < 0:
            self.raise_bad_item(bad_item, first - start)
        offsets = offsets[: n_texts + 1]
        if self.is_tokens:
            token_starts = scratch.array("token starts", np.int64, int(offsets[-1]) + 1)
            n_points = text_blocks.measure_words(streams, start, stop, token_starts)
            if n_points >= 0:
                points = scratch.array("points", np.uint32, n_points)
                text_blocks.copy_words(streams, start, stop, token_starts, points)
                return TokenBlock(points, token_starts, offsets, segments)
            ids = scratch.array("ids", np.int64, int(offsets[-1]))
            if len(token_ids) > MAX_TOKEN_IDS:
                token_ids.clear()
            if not text_blocks.number_lists(streams, start, stop, token_ids, ids, bad_item):
                stream, row, position = (
                    bad_item[own] for own in (text_blocks.BAD_STREAM, text_blocks.BAD_ROW, text_blocks.BAD_TOKEN)
                )
                token = streams[stream][row][position]
                raise TypeError(
                    f"{self.title(bad_item, first - start)} has {token!r} at token {position}: "
                    "a token must be a string or an integer"
                )
            return TokenIdBlock(ids, offsets, segments)
        points = scratch.array("points", np.uint32, int(offsets[-1]))
        if not text_blocks.copy_texts(streams, start, stop, offsets, points):
            self.raise_lone_surrogate(first, first + stop - start)
        return TextBlock(points, offsets, segments)

    def allocate_bounds(self, rows: int, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
        """Return uninitialized arrays for the offsets and segments of a block of `rows` segments."""
        n_texts = rows * len(self.streams)
        return scratch.array("offsets", np.int64, n_texts + 1), scratch.array("segments", np.int64, rows + 1)

    def title(self, bad_item: np.ndarray, first_row: int) -> str:
        """The name of an item that a kernel rejected, as the caller would write it."""
        return self.names.title(int(bad_item[text_blocks.BAD_STREAM]), int(bad_item[text_blocks.BAD_ROW]) + first_row)

    def raise_bad_item(self, bad_item: np.ndarray, first_row: int) -> NoReturn:
        """Raise the error for an item that is not a text, or not a list although the first hypothesis is one."""
        item = self.streams[bad_item[text_blocks.BAD_STREAM]][bad_item[text_blocks.BAD_ROW] + first_row]
        raise_not_text(item, self.title(bad_item, first_row), self.is_tokens)

    def raise_lone_surrogate(self, start: int, stop: int) -> NoReturn:
        """Raise the error for the first lone surrogate in the segments start..stop."""
        for row in range(start, stop):
            for stream, texts in enumerate(self.streams):
                for position, character in enumerate(texts[row] or ""):
                    if SURROGATES[0] <= character <= SURROGATES[1]:
                        raise ValueError(
                            f"{self.names.title(stream, row)} has a lone surrogate at character {position}, which is "
                            "not valid Unicode; decode the text's bytes again with errors='replace'"
                        )
        raise AssertionError("the segments have no lone surrogate")


class FileSegments(Segments):
    """Segments whose streams are files. Lines are decoded to code points without making strings of them."""

    def __init__(self, files: list[TextFile]) -> None:
        check_equal_lengths(files)
        self.files = files
        self.streams: list[Any] = list(files)
        self.names = FileLineNames(tuple(files))
        self.size = len(files[0])
        self.is_tokens = False
        length = sum(file.mean_length for file in files)
        self.block_size = max(1, min(BLOCK_SEGMENTS, BLOCK_LENGTH // max(1, length)))
        if self.block_size > LINES_PER_MARK:
            self.block_size -= self.block_size % LINES_PER_MARK
        self.lowercase = False

    @property
    def n_references(self) -> int:
        return len(self.files) - 1

    def load(self, block_index: int, scratch: Scratch, token_ids: dict[Any, int]) -> TextBlock:
        start, stop = self.bounds(block_index)
        lines = [file.lines(start, stop, self.lowercase) for file in self.files]
        data_starts = np.cumsum([0, *(own.data.shape[0] for own in lines)])
        data = np.concatenate([own.data for own in lines])
        # The order of texts: the hypothesis of a segment, then its references, then the next segment.
        starts, stops = (
            np.stack([own + first for own, first in zip(by_file, data_starts, strict=False)], axis=1).ravel()
            for by_file in ([own.starts for own in lines], [own.stops for own in lines])
        )
        offsets, segments = self.allocate_bounds(stop - start, scratch)
        points = scratch.array("points", np.uint32, int((stops - starts).sum()))
        bad = text_blocks.decode_utf8(data, starts, stops, offsets, points)
        if bad >= 0:
            raise_invalid_utf8(self.files[bad % len(self.files)], start, stop)
        segments[:] = np.arange(0, offsets.shape[0], len(self.files))
        self.files[0].report(stop - start)
        return TextBlock(points[: offsets[-1]], offsets, segments)


def choose_block_size(streams: list[list[Any]], scale: int) -> int:
    """Return the number of segments of a block: fewer if texts are long, estimated from a sample."""
    size = len(streams[0])
    rows = range(0, size, max(1, size // SAMPLED_SEGMENTS))
    sampled = [stream[row] for stream in streams for row in rows]
    length = scale * sum(len(text) for text in sampled if isinstance(text, (str, list, tuple)))
    return max(1, min(BLOCK_SEGMENTS, BLOCK_LENGTH * len(rows) // max(1, length)))


class ArgumentNames(NamedTuple):
    """How error messages name an item.

    hypotheses[3]; references[0][3] (streams), references[3][0] (`parallel`: a list of references per segment) or
    references[3] (`flat`: one reference each); hypothesis and references[0] (`single`: one segment).
    """

    parallel: bool = False
    flat: bool = False
    single: bool = False

    def title(self, stream: int, row: int) -> str:
        if stream == 0:
            return "hypothesis" if self.single else f"hypotheses[{row}]"
        if self.single:
            return "references" if self.flat else f"references[{stream - 1}]"
        if self.flat:
            return f"references[{row}]"
        return f"references[{row}][{stream - 1}]" if self.parallel else f"references[{stream - 1}][{row}]"


class FileLineNames(NamedTuple):
    """How error messages name a line of a file."""

    files: tuple[TextFile, ...]
    single: bool = False

    def title(self, stream: int, row: int) -> str:
        return self.files[stream].title(row)


def check_equal_lengths(files: list[TextFile]) -> None:
    """Raise ValueError if a file is empty or the files have different numbers of lines."""
    for file in files:
        if not len(file):
            raise ValueError(f"{file.name} is empty: it has no lines to read")
    if len({len(file) for file in files}) > 1:
        counts = ", ".join(f"{file.name} has {len(file):,}" for file in files)
        raise ValueError(f"the files must have the same number of lines: {counts}")


def holds_tokens(stream: list[Any]) -> bool:
    """Whether the first text that is not None is a list of tokens."""
    return isinstance(next((text for text in stream if text is not None), ""), (list, tuple))


def lowercase_stream(stream: list[Any]) -> list[Any]:
    """Return texts in lower case. Items that are not texts stay as they are: a kernel rejects them later."""
    return [text.lower() if isinstance(text, str) else lowercase_tokens(text) for text in stream]


def lowercase_tokens(text: Any) -> Any:
    if not isinstance(text, (list, tuple)):
        return text
    return [token.lower() if isinstance(token, str) else token for token in text]


def raise_not_text(item: Any, title: str, tokens: bool = False) -> NoReturn:
    if item is None:
        raise TypeError(f"{title} is None: every segment needs a hypothesis")
    if isinstance(item, bytes):
        raise TypeError(f"{title} is bytes: decode it, for example with .decode('utf-8')")
    expected = "a list of tokens, as the first hypothesis is" if tokens else "a string"
    raise TypeError(f"{title} has type {type(item).__name__}: it must be {expected}")
