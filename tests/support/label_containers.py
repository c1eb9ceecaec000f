"""Columns of labels of every type and in every container, and strategies for pairs of such columns."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

from fastmetrics._core.columns import class_labels
from support.peers import pandas, polars

Convert = Callable[[np.ndarray], Any]

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64", "longdouble"]
WORDS = np.array(["", "a", "a b", "b", "bee", "zebra", "zebra2", "Ä", "ß", "日本", "a long label, longer than others"])


def words(codes: np.ndarray) -> np.ndarray:
    return WORDS[codes]


NUMBERS: dict[str, Convert] = {
    **{dtype: lambda codes, dtype=dtype: codes.astype(dtype) for dtype in INTEGERS + FLOATS},
    "list": np.ndarray.tolist,
    "tuple": lambda codes: tuple(codes.tolist()),
    "byte-swapped": lambda codes: codes.astype(">i4"),
    "strided": lambda codes: np.repeat(codes, 3)[::3],
    "column": lambda codes: codes.reshape(-1, 1),
    "floats, strided": lambda codes: np.repeat(codes.astype(float), 2)[::2],
    "pandas": lambda codes: pandas().Series(codes),
    "pandas Int64": lambda codes: pandas().Series(codes, dtype="Int64"),
    "pandas category": lambda codes: pandas().Series(codes).astype("category"),
    "pandas arrow": lambda codes: pandas().Series(codes, dtype="int64[pyarrow]"),
    "pandas frame": lambda codes: pandas().DataFrame({"label": codes}),
    "polars": lambda codes: polars().Series(codes),
    "arrow": pa.array,
    "chunked": lambda codes: pa.chunked_array([codes[:1], codes[1:]]),
}
TEXTS: dict[str, Convert] = {
    "U": words,
    "U, wider": lambda codes: words(codes).astype("U50"),
    "U, strided": lambda codes: np.repeat(words(codes), 3)[::3],
    "U, byte-swapped": lambda codes: words(codes).astype(words(codes).dtype.newbyteorder()),
    "object": lambda codes: words(codes).astype(object),
    "StringDType": lambda codes: words(codes).astype(np.dtypes.StringDType()),
    "text list": lambda codes: words(codes).tolist(),
    "pandas str": lambda codes: pandas().Series(words(codes)),
    "pandas string": lambda codes: pandas().Series(words(codes), dtype="string[python]"),
    "pandas string[pyarrow]": lambda codes: pandas().Series(words(codes), dtype="string[pyarrow]"),
    "pandas ArrowDtype": lambda codes: pandas().Series(words(codes), dtype=pandas().ArrowDtype(pa.large_string())),
    "pandas object": lambda codes: pandas().Series(words(codes).astype(object), dtype=object),
    "pandas text category": lambda codes: pandas().Series(words(codes)).astype("category"),
    "pandas unused categories": lambda codes: pandas().Series(pandas().Categorical(words(codes), WORDS[::-1])),
    "pandas index": lambda codes: pandas().Index(words(codes)),
    "polars String": lambda codes: polars().Series(words(codes)),
    "polars Categorical": lambda codes: polars().Series(words(codes), dtype=polars().Categorical),
    "polars Enum": lambda codes: polars().Series(words(codes), dtype=polars().Enum(WORDS.tolist())),
    "arrow text": lambda codes: pa.array(words(codes)),
    "arrow large": lambda codes: pa.array(words(codes), pa.large_string()),
    "arrow view": lambda codes: pa.array(words(codes), pa.string_view()),
    "arrow dictionary": lambda codes: pa.array(words(codes)).dictionary_encode(),
    "arrow text chunks": lambda codes: pa.chunked_array([words(codes)[:1], words(codes)[1:1], words(codes)[1:]]),
    "arrow dictionary chunks": lambda codes: pa.chunked_array(
        [pa.array(words(codes)[:1]).dictionary_encode(), pa.array(words(codes)[1:], pa.string()).dictionary_encode()]
    ),
    "arrow slice": lambda codes: pa.array(np.concatenate([["x"], words(codes)])).slice(1),
}


@st.composite
def codes(draw: st.DrawFn, max_rows: int = 30, max_label: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of int64 in [0, max_label], often of one or two labels, often equal."""
    rows = draw(st.integers(1, max_rows))
    label = st.integers(0, draw(st.sampled_from([0, 1, 1, 2, max_label])))
    true = draw(st.lists(label, min_size=rows, max_size=rows))
    pred = draw(st.one_of(st.just(true), st.lists(label, min_size=rows, max_size=rows)))
    return np.array(true, np.int64), np.array(pred, np.int64)


@st.composite
def pairs(draw: st.DrawFn, max_rows: int = 30) -> tuple[Any, Any, np.ndarray, np.ndarray]:
    """Two columns of labels in containers of one kind, and their labels as arrays."""
    true, pred = draw(codes(max_rows))
    kind = draw(st.sampled_from(["numbers", "texts", "far apart", "bool"]))
    if kind == "bool":
        true, pred = true > 0, pred > 0
        return true, pred, true, pred
    if kind == "far apart":
        far_apart = np.array([-(2**63), -7, 0, 5, 10**6, 2**40, 2**63 - 1])
        return far_apart[true], far_apart[pred], far_apart[true], far_apart[pred]
    containers, labels_of = (NUMBERS, lambda column: column) if kind == "numbers" else (TEXTS, words)
    first, second = (containers[draw(st.sampled_from(sorted(containers)))] for _ in range(2))
    return first(true), second(pred), labels_of(true), labels_of(pred)


def weights(rows: int) -> st.SearchStrategy[Any]:
    """None, integers, or real numbers; at least one weight is positive."""
    whole = st.lists(st.integers(0, 3), min_size=rows, max_size=rows).map(lambda w: np.array([*w[:-1], w[-1] + 1]))
    value = st.one_of(st.sampled_from([0.0, 1e-300, 1e300, 0.1, 0.1, 1 / 3, 2.0**-1074]), st.floats(0.0, 1e9))
    real = st.lists(value, min_size=rows, max_size=rows).map(lambda w: np.array([*w[:-1], w[-1] or 0.5]))
    return st.one_of(st.none(), whole, real)


class LabelPair(NamedTuple):
    """Two checked columns of labels with the same encoding.

    `true` and `pred` are integer codes into the sorted `classes`. For "multilabel-indicator" they are C-contiguous
    uint8 matrices of 0 and 1, and `classes` are the numbers of the columns.
    """

    kind: str
    classes: np.ndarray
    true: np.ndarray
    pred: np.ndarray
    weights: np.ndarray | None
    rows: int


def encode_label_pair(y_true: Any, y_pred: Any, sample_weight: Any = None) -> LabelPair:
    """Encode two columns of labels with the labels of both as classes, with all checks of scikit-learn."""
    true, pred, shape = class_labels.check_pair(y_true, y_pred)
    rows = true.shape[0]
    weights = class_labels.as_label_weights(sample_weight, rows)
    if shape == class_labels.MULTILABEL:
        sets = class_labels.as_indicators(true), class_labels.as_indicators(pred)
        return LabelPair(class_labels.MULTILABEL, np.arange(true.shape[1]), *sets, weights, rows)
    classes, first, second = class_labels.match_columns(true, pred)
    return LabelPair(class_labels.column_kind(classes), classes, first, second, weights, rows)
