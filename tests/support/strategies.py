"""Hypothesis strategies and builders of labeled scores: many ties, extreme values, one class, every dtype."""

from collections.abc import Sequence

import numpy as np
from hypothesis import strategies as st

from fastmetrics.testing.sample_logs import click_log as click_log

LABEL_DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
SIGNED_LABEL_DTYPES = ["int8", "int16", "int32", "int64", "float32", "float64"]
SCORE_DTYPES = ["float32", "float64"]

# Sizes around the borders of words, vectors and blocks.
EDGE_SIZES = [1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257]

EXTREME_SCORES = [
    float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0,
    float(np.nextafter(1.0, 2.0)), float(np.nextafter(1.0, 0.0)),
    5e-324, -5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -1.7976931348623157e308,
]  # fmt: skip
EXTREME_SCORES_FLOAT32 = [
    float("inf"), float("-inf"), 0.0, -0.0, 1.0, -1.0,
    float(np.nextafter(np.float32(1.0), np.float32(2.0))), float(np.nextafter(np.float32(1.0), np.float32(0.0))),
    float(np.float32(1e-45)), -float(np.float32(1e-45)), float(np.finfo(np.float32).tiny),
    float(np.finfo(np.float32).max), float(np.finfo(np.float32).min),
]  # fmt: skip

EXTREME_PROBABILITIES = [0.0, 1.0, 0.5, 5e-324, 2.0**-52, 1.0 - 2.0**-53, 1.0 - 2.0**-52, 1e-20, 0.1, 0.3, 1 / 3, 2 / 3]


def any_score(dtype: str) -> st.SearchStrategy[float]:
    width = 32 if dtype == "float32" else 64
    extremes = EXTREME_SCORES_FLOAT32 if dtype == "float32" else EXTREME_SCORES
    return st.one_of(st.sampled_from(extremes), st.floats(allow_nan=False, width=width))


@st.composite
def scores(draw: st.DrawFn, size: int, dtype: str = "float64") -> np.ndarray:
    """Scores from a pool: with a small pool most rows are ties, with a large one few are."""
    pool = draw(st.lists(any_score(dtype), min_size=1, max_size=draw(st.sampled_from([1, 2, 4, 12, 40]))))
    picks = draw(st.lists(st.integers(0, len(pool) - 1), min_size=size, max_size=size))
    return np.array([pool[pick] for pick in picks], dtype=dtype)


@st.composite
def probabilities(draw: st.DrawFn, size: int, dtype: str = "float64") -> np.ndarray:
    width = 32 if dtype == "float32" else 64
    value = st.one_of(st.sampled_from(EXTREME_PROBABILITIES), st.floats(0.0, 1.0, width=width))
    pool = draw(st.lists(value, min_size=1, max_size=draw(st.sampled_from([1, 3, 40]))))
    picks = draw(st.lists(st.integers(0, len(pool) - 1), min_size=size, max_size=size))
    return np.array([pool[pick] for pick in picks], dtype=dtype)


def labels(size: int, both_classes: bool = False) -> st.SearchStrategy[np.ndarray]:
    """Labels 0 and 1. With both_classes, the first two rows are a positive and a negative (size >= 2)."""
    drawn = st.lists(st.integers(0, 1), min_size=size, max_size=size)
    if both_classes:
        drawn = drawn.map(lambda values: [1, 0, *values[2:]])
    return drawn.map(lambda values: np.array(values, dtype=np.int8))


@st.composite
def labeled_scores(
    draw: st.DrawFn, min_size: int = 2, max_size: int = 40, both_classes: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(y_true, y_score) of float32 or float64."""
    size = draw(st.integers(min_size, max_size))
    dtype = draw(st.sampled_from(SCORE_DTYPES))
    return draw(labels(size, both_classes)), draw(scores(size, dtype))


@st.composite
def labeled_probabilities(
    draw: st.DrawFn, min_size: int = 2, max_size: int = 40, both_classes: bool = True
) -> tuple[np.ndarray, np.ndarray]:
    """(y_true, y_proba) of float32 or float64."""
    size = draw(st.integers(min_size, max_size))
    dtype = draw(st.sampled_from(SCORE_DTYPES))
    return draw(labels(size, both_classes)), draw(probabilities(size, dtype))


def integer_weights(size: int) -> st.SearchStrategy[np.ndarray]:
    return st.lists(st.sampled_from([0, 1, 1, 2, 3, 1000, 2**31]), min_size=size, max_size=size).map(
        lambda values: np.array(values, dtype=np.float64)
    )


def real_weights(size: int) -> st.SearchStrategy[np.ndarray]:
    value = st.one_of(st.just(0.0), st.floats(1e-6, 1e6))
    return st.lists(value, min_size=size, max_size=size).map(lambda values: np.array(values, dtype=np.float64))


@st.composite
def grouped_scores(draw: st.DrawFn, min_size: int = 1, max_size: int = 40) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(y_true, y_score, groups): few groups, so that most have several rows and some have one class."""
    y_true, y_score = draw(labeled_scores(min_size, max_size, both_classes=False))
    key = st.sampled_from([0, 1, 2, 5, -1, 2**62, -(2**63)])
    groups = draw(st.lists(key, min_size=len(y_true), max_size=len(y_true)))
    return y_true, y_score, np.array(groups, dtype=np.int64)


def shuffled(arrays: Sequence[np.ndarray], seed: int) -> list[np.ndarray]:
    """The same rows in another order."""
    order = np.random.default_rng(seed).permutation(len(arrays[0]))
    return [array[order] for array in arrays]
