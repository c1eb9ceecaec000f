"""Hypothesis strategies for the parity suite: labels of any kind, weights, and values of moderate size.

Up to 20 rows are drawn one by one, so that a failure shrinks. More rows come from a random seed. Weights are multiples
of 1/8: scikit-learn subtracts sums of weights, and with other weights its zeros may be 1e-17.
"""

from typing import Any

import numpy as np
from hypothesis import strategies as st

SIZES = [1, 2, 3, 3, 6, 6, 10, 10, 100]
INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["float16", "float32", "float64"]

# Pools of labels. Labels of one pool may occur in one column.
SMALL_POOLS = [[0, 1], [0, 1], [1, 0], [1], [0], [0, 1, 2], [0, 1, 2, 3], [3, 7], [2, 1, 5, 0]]
SIGNED_POOLS = [[-1, 1], [-1, 1], [-1, 0, 1], [-5, 3, 100, 0], [-1]]
FAR_POOLS = [[-(2**40), 5, 2**40], [2**40, 2**40 + 1], [1000, 100_000, 7], [-(2**62), 2**62]]
TEXT_POOLS = [["a", "b"], ["no", "yes"], ["b", "a", "c"], ["Yes", "yes", "no"], ["", "é", "zz", "Z"], ["a"], ["1", "0"]]


def draw_values(draw: st.DrawFn, values: list[Any], size: int) -> list[Any]:
    if size > 20:
        picks = np.random.default_rng(draw(st.integers(0, 2**16))).integers(0, len(values), size)
        return [values[pick] for pick in picks]
    return draw(st.lists(st.sampled_from(values), min_size=size, max_size=size))


def convert_to_kind(values: list[Any], kind: str) -> Any:
    """Convert a list of labels to a Python or NumPy container of the given kind."""
    if kind == "list":
        return list(values)
    if kind == "tuple":
        return tuple(values)
    if kind == "text":
        return np.array(values, dtype=str)
    return np.array(values, dtype=kind)


def kinds_of(pool: list[Any]) -> list[str]:
    """Return the kinds that can hold every label of the pool."""
    if isinstance(pool[0], str):
        return ["list", "tuple", "text", "text", "object"]
    if isinstance(pool[0], bool):
        return ["bool", "bool", "list"]
    kinds = ["list", "tuple", "int64", "int64", "float64"]
    widest = max(abs(value) for value in pool)
    kinds += ["bool"] if set(pool) <= {0, 1} else []
    kinds += [kind for kind in INTEGERS if all(np.iinfo(kind).min <= v <= np.iinfo(kind).max for v in pool)]
    kinds += [kind for kind, most in (("float16", 2**11), ("float32", 2**24)) if widest <= most]
    return [kind for kind in kinds if kind != "float64" or widest <= 2**53]


ANY_POOL = st.one_of(
    st.sampled_from(SMALL_POOLS),
    st.sampled_from(SIGNED_POOLS),
    st.sampled_from(FAR_POOLS),
    st.sampled_from(TEXT_POOLS),
    st.just([False, True]),
)


@st.composite
def label_pairs(draw: st.DrawFn, pools: st.SearchStrategy[list[Any]] = ANY_POOL) -> tuple[Any, Any, list[Any]]:
    """(y_true, y_pred, pool). Both columns use one pool; their kinds, and the labels they use, may differ."""
    pool = draw(pools)
    size = draw(st.sampled_from(SIZES))
    columns = []
    for _ in range(2):
        kind = draw(st.sampled_from(kinds_of(pool)))
        used_labels = draw(st.sampled_from([pool, pool, pool, pool[:1], pool[-2:]]))
        columns.append(convert_to_kind(draw_values(draw, used_labels, size), kind))
    return columns[0], columns[1], pool


@st.composite
def binary_labels(draw: st.DrawFn, size: int) -> tuple[Any, list[Any]]:
    """(y_true, its two labels). Most columns have both labels."""
    pool = draw(st.sampled_from([[0, 1], [0, 1], [0, 1], [-1, 1], [False, True], ["a", "b"], [3, 7], [1, 2]]))
    values = draw_values(draw, pool, size)
    if size > 1 and draw(st.integers(0, 9)):
        values[:2] = pool
    return convert_to_kind(values, draw(st.sampled_from(kinds_of(pool)))), pool


@st.composite
def weights(draw: st.DrawFn, size: int) -> Any:
    """None, or weights of one of many types. They are rarely all zero."""
    kind = draw(
        st.sampled_from([None, None, "int64", "float64", "float64", "float32", "uint8", "bool", "list", "ints"])
    )
    if kind is None:
        return None
    values = draw_values(draw, [1, 2, 3, 1, 0] if draw(st.booleans()) else [1, 2, 3, 5], size)
    if kind == "ints":
        return values
    if kind == "list":
        return [value / 8 for value in values]
    if kind in ("float32", "float64"):
        return np.array(values, dtype=kind) / 8
    return np.array(values).astype(kind)


def subset_of_labels(pool: list[Any]) -> st.SearchStrategy[Any]:
    """Values of `labels`: None, permutations, subsets, supersets; lists, arrays and tuples; rarely an absent label."""
    more: list[Any] = ["q", "A"] if isinstance(pool[0], str) else [4, 9]
    lists = st.one_of(
        st.permutations(pool),
        st.lists(st.sampled_from(pool), min_size=1, unique=True),
        st.permutations([*pool, more[0]]),
        st.just(sorted({*pool, *more})),
        st.just(more[:1]),
        st.just([pool[0], *pool]),
    )
    return st.one_of(st.none(), lists.map(list), lists.map(np.array), lists.map(tuple))


def floats_between(draw: st.DrawFn, low: float, high: float, size: int, levels: int | None = None) -> np.ndarray:
    """Values between two bounds. `levels` limits the number of distinct values, so that there are ties."""
    fractions = np.random.default_rng(draw(st.integers(0, 2**16))).random(size)
    if levels is not None:
        fractions = np.round(fractions * levels) / levels
    return np.asarray(low + fractions * (high - low))
