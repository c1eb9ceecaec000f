"""The forms in which hypotheses and references come, as blocks of segments that kernels look at.

A corpus is a list of *streams* of equal length: the hypotheses, then the references, a stream for each reference that a
segment may have; None stands where a segment has fewer. Texts are strings, or lists of tokens (strings or integers).
What an item is is told when its block is read, so nothing is gone through twice; errors name argument and index.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from fastmetrics._core.rows import Scratch
from fastmetrics._kernels import texts
from fastmetrics.metrics.text.files import MARKED_LINES, TextFile

BLOCK_SEGMENTS = 256  # their code points fit the second-level cache, or
BLOCK_LENGTH = 1 << 17  # so many characters, where texts are long
TOKEN_LENGTH = 8  # characters that a token stands for, about
SAMPLE = 64  # segments whose lengths tell those of the others
VARIABLE = -1  # the number of references of a corpus whose segments have different numbers of them
MOST_KNOWN = 1 << 13  # distinct tokens that a thread remembers from block to block: they should stay in cache
PLAIN = (str, bytes)
SURROGATES = ("\ud800", "\udfff")


class TextBlock(NamedTuple):
    """Segments of texts: code points, where each text begins, and which texts a segment owns (hypothesis first)."""

    points: np.ndarray
    offsets: np.ndarray
    segments: np.ndarray


class TokenBlock(NamedTuple):
    """Segments of tokens: token t is token_points[token_starts[t]:token_starts[t + 1]], text i has those from
    text_tokens[i] to text_tokens[i + 1], and a segment owns the texts that `segments` tells."""

    token_points: np.ndarray
    token_starts: np.ndarray
    text_tokens: np.ndarray
    segments: np.ndarray


class WordBlock(NamedTuple):
    """Segments of tokens: their numbers, where each text's tokens begin, and which texts a segment owns."""

    ids: np.ndarray
    text_tokens: np.ndarray
    segments: np.ndarray


class Segments:
    """Hypotheses with their references; `load(unit, scratch)` gives the block of a unit."""

    names: Names | FileNames

    def __init__(self, streams: list[list[Any]], names: Names) -> None:
        self.streams = streams
        self.names = names
        self.size = len(streams[0])
        self.is_tokens = is_tokens(streams[0])
        self.block = block_size(streams, TOKEN_LENGTH if self.is_tokens else 1)
        self.lowercase = False  # whoever reads blocks may ask for lower-cased texts

    def __len__(self) -> int:
        return self.size

    @property
    def n_units(self) -> int:
        return -(-self.size // self.block)

    @property
    def n_references(self) -> int:
        """How many references every segment has, or VARIABLE."""
        if not any(None in stream for stream in self.streams[1:]):
            return len(self.streams) - 1
        present = [[text is not None for text in stream] for stream in self.streams[1:]]
        counts = set(map(sum, zip(*present, strict=True)))
        return counts.pop() if len(counts) == 1 else VARIABLE

    def bounds(self, unit: int) -> tuple[int, int]:
        """The segments of a unit."""
        return unit * self.block, min(self.size, (unit + 1) * self.block)

    def load(self, unit: int, scratch: Scratch, known: dict[Any, int]) -> TextBlock | TokenBlock | WordBlock:
        """A block, good until the next is loaded into the same scratch; `known` is the thread's, for tokens.

        Tokens that are strings come as their code points; where an integer is among them, all as numbers.
        """
        first, stop = self.bounds(unit)
        streams, start = self.streams, first
        if self.lowercase:
            streams, start, stop = [lowered(own[first:stop]) for own in streams], 0, stop - first
        found = np.zeros(3, np.int64)
        offsets, segments = self.places(stop - start, scratch)
        if self.is_tokens:
            n_texts = texts.measure_lists(streams, start, stop, offsets, segments, found)
        else:
            n_texts = texts.measure_texts(streams, start, stop, offsets, segments, found)
        if n_texts < 0:
            self.refuse(found, first - start)
        offsets = offsets[: n_texts + 1]
        if self.is_tokens:
            token_starts = scratch.take("token starts", np.int64, int(offsets[-1]) + 1)
            n_points = texts.measure_words(streams, start, stop, token_starts)
            if n_points >= 0:
                points = scratch.take("points", np.uint32, n_points)
                texts.copy_words(streams, start, stop, token_starts, points)
                return TokenBlock(points, token_starts, offsets, segments)
            ids = scratch.take("ids", np.int64, int(offsets[-1]))
            if len(known) > MOST_KNOWN:
                known.clear()
            if not texts.number_lists(streams, start, stop, known, ids, found):
                token = streams[found[texts.BAD_STREAM]][found[texts.BAD_ROW]][found[texts.BAD_TOKEN]]
                raise TypeError(
                    f"{self.title(found, first - start)} has {token!r} at token {found[texts.BAD_TOKEN]}: "
                    "tokens are strings or integers"
                )
            return WordBlock(ids, offsets, segments)
        points = scratch.take("points", np.uint32, int(offsets[-1]))
        if not texts.copy_texts(streams, start, stop, offsets, points):
            self.refuse_surrogate(first, first + stop - start)
        return TextBlock(points, offsets, segments)

    def places(self, rows: int, scratch: Scratch) -> tuple[np.ndarray, np.ndarray]:
        n_texts = rows * len(self.streams)
        return scratch.take("offsets", np.int64, n_texts + 1), scratch.take("segments", np.int64, rows + 1)

    def title(self, found: np.ndarray, before: int) -> str:
        return self.names.title(int(found[texts.BAD_STREAM]), int(found[texts.BAD_ROW]) + before)

    def refuse(self, found: np.ndarray, before: int) -> NoReturn:
        """The error for an item that is no text, or no list where the first hypothesis is one."""
        item = self.streams[found[texts.BAD_STREAM]][found[texts.BAD_ROW] + before]
        raise_no_text(item, self.title(found, before), self.is_tokens)

    def refuse_surrogate(self, start: int, stop: int) -> NoReturn:
        """The error for the first lone surrogate of some segments."""
        for row in range(start, stop):
            for stream, texts_of in enumerate(self.streams):
                for place, character in enumerate(texts_of[row] or ""):
                    if SURROGATES[0] <= character <= SURROGATES[1]:
                        raise ValueError(
                            f"{self.names.title(stream, row)} has a lone surrogate at character {place}: no text has; "
                            "decode its bytes with errors='replace', or find out what wrote it"
                        )
        raise AssertionError("no surrogate is left to name")


class FileSegments(Segments):
    """Segments whose streams are files; no string is made of a line."""

    def __init__(self, files: list[TextFile]) -> None:
        check_lines(files)
        self.files = files
        self.streams: list[Any] = list(files)
        self.names = FileNames(tuple(files))
        self.size = len(files[0])
        self.is_tokens = False
        length = sum(file.mean_length for file in files)
        self.block = max(1, min(BLOCK_SEGMENTS, BLOCK_LENGTH // max(1, length)))
        if self.block > MARKED_LINES:
            self.block -= self.block % MARKED_LINES
        self.lowercase = False

    @property
    def n_references(self) -> int:
        return len(self.files) - 1

    def load(self, unit: int, scratch: Scratch, known: dict[Any, int]) -> TextBlock:
        start, stop = self.bounds(unit)
        parts = [file.lines(start, stop, self.lowercase) for file in self.files]
        begins = np.cumsum([0, *(part.data.shape[0] for part in parts)])
        data = np.concatenate([part.data for part in parts])
        # Text after text: the hypothesis of a segment, then its references.
        starts, stops = (
            np.stack([own + begin for own, begin in zip(places, begins, strict=False)], axis=1).ravel()
            for places in ([part.starts for part in parts], [part.stops for part in parts])
        )
        offsets, segments = self.places(stop - start, scratch)
        points = scratch.take("points", np.uint32, int((stops - starts).sum()))
        bad = texts.decode_utf8(data, starts, stops, offsets, points)
        if bad >= 0:
            self.files[bad % len(self.files)].refuse(start, stop)
        segments[:] = np.arange(0, offsets.shape[0], len(self.files))
        self.files[0].report(stop - start)
        return TextBlock(points[: offsets[-1]], offsets, segments)


def block_size(streams: list[list[Any]], scale: int) -> int:
    """How many segments make a block: fewer of long texts, as a sample of them tells."""
    size = len(streams[0])
    rows = range(0, size, max(1, size // SAMPLE))
    sampled = [stream[row] for stream in streams for row in rows]
    length = scale * sum(len(text) for text in sampled if isinstance(text, (str, list, tuple)))
    return max(1, min(BLOCK_SEGMENTS, BLOCK_LENGTH * len(rows) // max(1, length)))


class Names(NamedTuple):
    """What errors call an item: hypotheses[3], references[0][3] (streams) or references[3][0] (parallel lists)."""

    parallel: bool = False
    flat: bool = False
    alone: bool = False

    def title(self, stream: int, row: int) -> str:
        if stream == 0:
            return "hypothesis" if self.alone else f"hypotheses[{row}]"
        if self.alone:
            return "references" if self.flat else f"references[{stream - 1}]"
        if self.flat:
            return f"references[{row}]"
        return f"references[{row}][{stream - 1}]" if self.parallel else f"references[{stream - 1}][{row}]"


class FileNames(NamedTuple):
    """What errors call a line of a file."""

    files: tuple[TextFile, ...]
    alone: bool = False

    def title(self, stream: int, row: int) -> str:
        return self.files[stream].title(row)


def as_files(hypotheses: Any, references: Any) -> list[TextFile]:
    """The hypotheses and their streams of references where all of them are files; else nothing."""
    if not isinstance(hypotheses, TextFile):
        return []
    streams = [references] if isinstance(references, TextFile) else references
    if not isinstance(streams, (list, tuple)) or not streams:
        return []
    return [hypotheses, *streams] if all(isinstance(own, TextFile) for own in streams) else []


def check_lines(files: list[TextFile]) -> None:
    """All files have as many lines, and some."""
    for file in files:
        if not len(file):
            raise ValueError(f"{file.name} is empty: it has no lines to read")
    if len({len(file) for file in files}) > 1:
        counts = ", ".join(f"{file.name} has {len(file):,}" for file in files)
        raise ValueError(f"the files must have as many lines: {counts}")


def is_tokens(stream: list[Any]) -> bool:
    """Is the first text that is there a list of tokens?"""
    first = next((text for text in stream if text is not None), "")
    return isinstance(first, (list, tuple))


def lowered(stream: list[Any]) -> list[Any]:
    """Texts in lower case; what is no text is left for the kernels to find."""
    try:
        return [text.lower() for text in stream]
    except AttributeError:
        return [lower(text) for text in stream]


def lower(text: Any) -> Any:
    if isinstance(text, (list, tuple)):
        return [token.lower() if isinstance(token, str) else token for token in text]
    return text.lower() if isinstance(text, str) else text


def raise_no_text(item: Any, title: str, tokens: bool = False) -> NoReturn:
    if item is None:
        raise TypeError(f"{title} is None: every segment needs a hypothesis")
    if isinstance(item, bytes):
        raise TypeError(f"{title} is bytes: decode it, for example with .decode('utf-8')")
    wanted = "a list of tokens, as the first hypothesis is" if tokens else "a string"
    raise TypeError(f"{title} has type {type(item).__name__}: it must be {wanted}")


def as_stream(values: Any, name: str) -> list[Any]:
    """A list of texts, whatever holds them: Arrow, NumPy, pandas and polars columns too."""
    if type(values) is list:
        return values
    if isinstance(values, PLAIN):
        raise TypeError(f"{name} is one {type(values).__name__}: give a list of strings, a segment each")
    if isinstance(values, tuple):
        return list(values)
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            found = getattr(values, method)()
            if isinstance(found, list):
                return without_nulls(values, found)
    if isinstance(values, Sequence):
        return list(values)
    hint = "; read_segments opens files" if isinstance(values, os.PathLike) else ""
    raise TypeError(f"{name} must be a list of strings; found {type(values).__name__}{hint}")


def without_nulls(column: Any, found: list[Any]) -> list[Any]:
    """None where a column of pandas has NaN or NA, its words for a text that is missing."""
    if not hasattr(column, "isna"):
        return found
    missing = np.asarray(column.isna(), dtype=bool)
    if not missing.any():
        return found
    return [None if gone else text for text, gone in zip(found, missing.tolist(), strict=True)]


def as_texts(values: Any, name: str) -> list[Any]:
    """A stream whose token arrays, if it has any, are lists."""
    stream = as_stream(values, name)
    if np.ndarray in set(map(type, stream)):
        return [text.tolist() if isinstance(text, np.ndarray) and text.ndim == 1 else text for text in stream]
    return stream


def as_plain(value: Any, name: str) -> Any:
    """Texts or tokens in a column or an array, as a list; what is neither is left as it is."""
    if isinstance(value, (*PLAIN, list, tuple)) or not hasattr(value, "__array__"):
        return value
    if isinstance(value, np.ndarray) and not value.ndim:
        return value.item()
    return as_texts(value, name)


def is_text(item: Any, tokens: bool) -> bool:
    """Is an item of references a text in itself, and not a list of texts?"""
    if not tokens:
        return isinstance(item, PLAIN)
    if isinstance(item, np.ndarray):
        return item.ndim == 1 and item.dtype.kind in "iuU"
    return isinstance(item, (list, tuple)) and (not item or isinstance(item[0], (str, int, np.integer)))


def are_texts(items: list[Any], tokens: bool) -> bool:
    """Are all items of references texts, or missing? Of plain lists only the kinds of items are looked at."""
    kinds = set(map(type, items))
    if kinds == {str} and not tokens:
        return True
    if kinds == {list} and tokens and {type(item[0]) for item in items if item} <= {str, int}:
        return True
    return all(item is None or is_text(item, tokens) for item in items)


def read_streams(hypotheses: Any, references: Any) -> Segments:
    """Hypotheses, and references as sacrebleu takes them: streams, each as long as the hypotheses.

    A flat list of texts is one stream. None in a stream is a missing reference.
    """
    if files := as_files(hypotheses, references):
        return FileSegments(files)
    own = as_texts(hypotheses, "hypotheses")
    tokens = is_tokens(own)
    given = as_stream(references, "references")
    check_some(given, own)
    first = next((item for item in given if item is not None), None)
    streams: list[list[Any]] = []
    if not own:
        streams, names = [[]], Names()
    elif first is None or is_text(first, tokens):
        streams = [as_texts(given, "references")]
        names = Names(flat=True)
        check_length(own, streams[0], "references")
    else:
        for number, stream in enumerate(given):
            name = f"references[{number}]"
            if stream is None or isinstance(stream, PLAIN):
                raise TypeError(f"{name} must be a stream of references, as long as hypotheses; found {stream!r}")
            streams.append(as_texts(stream, name))
            check_length(own, streams[-1], name)
        names = Names()
    return checked(Segments([own, *streams], names))


def read_parallel(hypotheses: Any, references: Any) -> Segments:
    """Hypotheses, and for each a reference or a list of references; of files, a stream each."""
    if files := as_files(hypotheses, references):
        return FileSegments(files)
    own = as_texts(hypotheses, "hypotheses")
    tokens = is_tokens(own)
    given = as_stream(references, "references")
    check_some(given, own)
    if len(given) != len(own):
        hint = ""
        if all(isinstance(item, (list, tuple)) and len(item) == len(own) for item in given):
            hint = "; these look like streams: list(zip(*references)) makes them parallel"
        raise ValueError(
            f"references must be as many as hypotheses: {len(given)} and {len(own)} were given{hint}"
        )
    if are_texts(given, tokens):
        return checked(Segments([own, as_texts(given, "references")], Names(parallel=True, flat=True)))
    lists = [[item] if item is None or is_text(item, tokens) else as_texts(item, f"references[{row}]")
             for row, item in enumerate(given)]  # fmt: skip
    most = max(1, *map(len, lists))
    streams = [[item[number] if number < len(item) else None for item in lists] for number in range(most)]
    return checked(Segments([own, *streams], Names(parallel=True)))


def read_sentence(hypothesis: Any, references: Any) -> Segments:
    """One hypothesis with its reference or list of references."""
    if hypothesis is None or isinstance(hypothesis, bytes):
        raise_no_text(hypothesis, "hypothesis")
    hypothesis, references = as_plain(hypothesis, "hypothesis"), as_plain(references, "references")
    tokens = isinstance(hypothesis, (list, tuple))
    if isinstance(references, bytes):
        raise_no_text(references, "references")
    flat = is_text(references, tokens) and not (tokens and len(references) == 0)
    given = [references] if flat else as_texts(references, "references")
    check_some(given, [hypothesis])
    return checked(Segments([[hypothesis], *([text] for text in given)], Names(flat=flat, alone=True)))


def check_some(references: list[Any], hypotheses: list[Any]) -> None:
    if not references and hypotheses:
        raise ValueError("references is empty: give at least one reference for every hypothesis")


def check_length(hypotheses: list[Any], stream: list[Any], name: str) -> None:
    if len(stream) != len(hypotheses):
        raise ValueError(f"{name} has {len(stream)} segments, hypotheses has {len(hypotheses)}: they must be as many")


def checked(segments: Segments) -> Segments:
    """There are segments, and every one has a reference."""
    if not len(segments):
        raise ValueError("hypotheses is empty: there is no segment to score")
    streams = segments.streams[1:]
    if None in streams[0]:
        for row, references in enumerate(zip(*streams, strict=True)):
            if all(text is None for text in references):
                title = "the hypothesis" if segments.names.alone else f"hypotheses[{row}]"
                raise ValueError(f"{title} has no reference: at least one must not be None")
    return segments
