"""The forms in which callers pass hypotheses and references, and their conversion to `Segments`.

Public functions accept streams (`segments_from_streams`), parallel lists (`segments_from_parallel`) or one sentence
(`segments_from_sentence`), in lists, Arrow, NumPy, pandas and polars columns, or files opened by `read_segments`.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from fastmetrics.metrics.text.inputs.segment_files import TextFile
from fastmetrics.metrics.text.inputs.segments import (
    ArgumentNames,
    FileSegments,
    Segments,
    holds_tokens,
    raise_not_text,
)

STRING_TYPES = (str, bytes)


def streams_of_files(hypotheses: Any, references: Any) -> list[TextFile]:
    """Return the hypotheses and the streams of references if all of them are files, else an empty list."""
    if not isinstance(hypotheses, TextFile):
        return []
    streams = [references] if isinstance(references, TextFile) else references
    if not isinstance(streams, (list, tuple)) or not streams:
        return []
    return [hypotheses, *streams] if all(isinstance(stream, TextFile) for stream in streams) else []


def to_stream(values: Any, name: str) -> list[Any]:
    """Return a list of texts from a list, or from an Arrow, NumPy, pandas or polars column."""
    if type(values) is list:
        return values
    if isinstance(values, STRING_TYPES):
        raise TypeError(f"{name} is one {type(values).__name__}: pass a list of strings, one per segment")
    if isinstance(values, tuple):
        return list(values)
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(values, method):
            items = getattr(values, method)()
            if isinstance(items, list):
                return nulls_to_none(values, items)
    if isinstance(values, Sequence):
        return list(values)
    hint = "; open a file with read_segments" if isinstance(values, os.PathLike) else ""
    raise TypeError(f"{name} must be a list of strings; found {type(values).__name__}{hint}")


def nulls_to_none(column: Any, items: list[Any]) -> list[Any]:
    """Replace NaN and NA, which mark missing texts in a pandas column, by None."""
    if not hasattr(column, "isna"):
        return items
    missing = np.asarray(column.isna(), dtype=bool)
    if not missing.any():
        return items
    return [None if is_missing else text for text, is_missing in zip(items, missing.tolist(), strict=True)]


def to_texts(values: Any, name: str) -> list[Any]:
    """Return a list of texts, in which arrays of tokens have become lists of tokens."""
    stream = to_stream(values, name)
    if np.ndarray in set(map(type, stream)):
        return [text.tolist() if isinstance(text, np.ndarray) and text.ndim == 1 else text for text in stream]
    return stream


def to_plain(value: Any, name: str) -> Any:
    """Return the list of a column or array of texts or tokens; other values are returned as they are."""
    if isinstance(value, (*STRING_TYPES, list, tuple)) or not hasattr(value, "__array__"):
        return value
    if isinstance(value, np.ndarray) and not value.ndim:
        return value.item()
    return to_texts(value, name)


def is_text(item: Any, tokens: bool) -> bool:
    """Whether an item of references is one text, and not a list of texts."""
    if not tokens:
        return isinstance(item, STRING_TYPES)
    if isinstance(item, np.ndarray):
        return item.ndim == 1 and item.dtype.kind in "iuU"
    return isinstance(item, (list, tuple)) and (not item or isinstance(item[0], (str, int, np.integer)))


def are_texts(items: list[Any], tokens: bool) -> bool:
    """Whether all items of references are texts or None. The common types are decided without a loop in Python."""
    types = set(map(type, items))
    if types == {str} and not tokens:
        return True
    if types == {list} and tokens and {type(item[0]) for item in items if item} <= {str, int}:
        return True
    return all(item is None or is_text(item, tokens) for item in items)


def segments_from_streams(hypotheses: Any, references: Any) -> Segments:
    """Convert hypotheses with streams of references, each as long as the hypotheses, as sacrebleu has them.

    A flat list of texts is one stream. None in a stream is a missing reference.
    """
    if files := streams_of_files(hypotheses, references):
        return FileSegments(files)
    hypothesis_texts, tokens, items = read_arguments(hypotheses, references)
    first = next((item for item in items if item is not None), None)
    streams: list[list[Any]] = []
    if not hypothesis_texts:
        streams, names = [[]], ArgumentNames()
    elif first is None or is_text(first, tokens):
        streams = [to_texts(items, "references")]
        names = ArgumentNames(flat=True)
        check_same_length(hypothesis_texts, streams[0], "references")
    else:
        for number, stream in enumerate(items):
            name = f"references[{number}]"
            if stream is None or isinstance(stream, STRING_TYPES):
                raise TypeError(f"{name} must be a stream of references, as long as hypotheses; found {stream!r}")
            streams.append(to_texts(stream, name))
            check_same_length(hypothesis_texts, streams[-1], name)
        names = ArgumentNames()
    return check_segments(Segments([hypothesis_texts, *streams], names))


def segments_from_parallel(hypotheses: Any, references: Any) -> Segments:
    """Convert hypotheses with one reference, or a list of references, for each. A file of references is a stream."""
    if files := streams_of_files(hypotheses, references):
        return FileSegments(files)
    hypothesis_texts, tokens, items = read_arguments(hypotheses, references)
    n_hypotheses = len(hypothesis_texts)
    if len(items) != n_hypotheses:
        hint = ""
        if all(isinstance(item, (list, tuple)) and len(item) == n_hypotheses for item in items):
            hint = "; these look like streams: list(zip(*references)) makes them parallel"
        raise ValueError(
            f"references must have one item per hypothesis: found {len(items)} for {n_hypotheses} hypotheses{hint}"
        )
    if are_texts(items, tokens):
        streams = [to_texts(items, "references")]
        return check_segments(Segments([hypothesis_texts, *streams], ArgumentNames(parallel=True, flat=True)))
    lists = [[item] if item is None or is_text(item, tokens) else to_texts(item, f"references[{row}]")
             for row, item in enumerate(items)]  # fmt: skip
    most = max(1, *map(len, lists))
    streams = [[item[number] if number < len(item) else None for item in lists] for number in range(most)]
    return check_segments(Segments([hypothesis_texts, *streams], ArgumentNames(parallel=True)))


def read_arguments(hypotheses: Any, references: Any) -> tuple[list[Any], bool, list[Any]]:
    """The hypotheses, whether they are lists of tokens, and the items of the references."""
    texts, items = to_texts(hypotheses, "hypotheses"), to_stream(references, "references")
    check_has_references(items, texts)
    return texts, holds_tokens(texts), items


def segments_from_sentence(hypothesis: Any, references: Any, *, words_only: bool = False) -> Segments:
    """Convert one hypothesis with its reference or list of references. With `words_only`, no token has a space."""
    if hypothesis is None or isinstance(hypothesis, bytes):
        raise_not_text(hypothesis, "hypothesis")
    hypothesis, references = to_plain(hypothesis, "hypothesis"), to_plain(references, "references")
    tokens = isinstance(hypothesis, (list, tuple))
    if isinstance(references, bytes):
        raise_not_text(references, "references")
    flat = is_text(references, tokens) and not (tokens and len(references) == 0)
    texts = [references] if flat else to_texts(references, "references")
    check_has_references(texts, [hypothesis])
    if tokens and words_only:
        check_tokens(hypothesis, "hypothesis")
        for number, text in enumerate(texts):
            check_tokens(text, "references" if flat else f"references[{number}]")
    return check_segments(Segments([[hypothesis], *([text] for text in texts)], ArgumentNames(flat=flat, single=True)))


sentence_of_words = partial(segments_from_sentence, words_only=True)


def check_tokens(tokens: Any, name: str) -> None:
    """ValueError for a list whose strings are no tokens but texts: they would match only as a whole."""
    if not isinstance(tokens, (list, tuple)) or not tokens or type(tokens[0]) is not str:
        return
    for number, token in enumerate(tokens):
        if type(token) is str and " " in token:
            raise ValueError(
                f"{name}[{number}] is {token!r}, which has a space: a list has the tokens of one text; pass the text "
                "itself, or split it into tokens"
            )


def check_has_references(references: list[Any], hypotheses: list[Any]) -> None:
    if not references and hypotheses:
        raise ValueError("references is empty: pass at least one reference for every hypothesis")


def check_same_length(hypotheses: list[Any], stream: list[Any], name: str) -> None:
    if len(stream) != len(hypotheses):
        raise ValueError(f"{name} has {len(stream)} segments but hypotheses has {len(hypotheses)}")


def check_segments(segments: Segments) -> Segments:
    """Return the segments; ValueError if there are none, or if one has no reference."""
    if not len(segments):
        raise ValueError("hypotheses is empty: at least one segment is needed")
    streams = segments.streams[1:]
    if None in streams[0]:
        for row, references in enumerate(zip(*streams, strict=True)):
            if all(text is None for text in references):
                title = "the hypothesis" if segments.names.single else f"hypotheses[{row}]"
                raise ValueError(f"{title} has no reference: at least one must not be None")
    return segments
