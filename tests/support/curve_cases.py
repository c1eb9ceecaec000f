"""Labelled scores for the tests of curves: small ones by hypothesis, and many rows with every kind of score."""

import warnings
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import fastmetrics as fm
import strategies
from fastmetrics._core.rows import SERIAL_ROWS

# The short way, one range, the last row that is one, the first that is not, several buckets.
SIZES = [1024, 1025, 5000, SERIAL_ROWS, SERIAL_ROWS + 1, 200_003]
BIG = 200_003


@st.composite
def weighted_scores(draw, both_classes=True, max_size=25):
    """(y_true, y_score, weights): none, integers, some of them zero, or floats, some far apart."""
    y_true, y_score = draw(strategies.labelled_scores(both_classes=both_classes, max_size=max_size))
    kind = draw(st.sampled_from(["none", "integers", "reals", "far apart"]))
    if kind == "none":
        return y_true, y_score, None
    value = {
        "integers": st.integers(0, 5),
        "reals": st.one_of(st.just(0.0), st.floats(0.001, 10.0)),
        # More bits between the greatest and the least than int64 has.
        "far apart": st.sampled_from([0.0, 2.0**-60, 1.0, 3.0, 2.0**40 + 1]),
    }[kind]
    weights = np.array(draw(st.lists(value, min_size=len(y_true), max_size=len(y_true))), np.float64)
    weights[:2] = 2.0**-60 if kind == "far apart" else 1.0
    return y_true, y_score, weights


def scores_of(kind, rows, seed=0, dtype="float64"):
    """Scores of many rows: every kind takes another way to the buckets."""
    generator = np.random.default_rng(seed)
    uniform = generator.random(rows)
    values = {
        "shuffled": uniform,
        "sorted": np.sort(uniform),
        "descending": np.sort(uniform)[::-1].copy(),
        "tied": np.round(uniform, 2),
        "two scores": np.round(uniform),
        "constant": np.full(rows, 0.25),
        # Nearly all in one place, and a few that make the range wide.
        "clustered": np.where(uniform < 0.999, 1.0 + uniform * 1e-9, generator.standard_normal(rows) * 1e30),
        "one heavy tie": np.where(uniform < 0.7, 0.5, generator.random(rows)),
        "infinities": np.select([uniform < 0.05, uniform > 0.95], [-np.inf, np.inf], np.round(uniform, 3)),
        "zeros of both signs": np.where(uniform < 0.5, np.where(uniform < 0.25, 0.0, -0.0), np.round(uniform - 0.7, 4)),
    }[kind]
    return values.astype(dtype)


KINDS = [
    "shuffled", "sorted", "descending", "tied", "two scores", "constant", "clustered", "one heavy tie", "infinities",
    "zeros of both signs",
]  # fmt: skip


def labels_of(rows, share, seed=1):
    """Labels with so many positives; both classes are there."""
    labels = (np.random.default_rng(seed).random(rows) < share).astype(np.int8)
    labels[:2] = [1, 0]
    return labels


def case_of(kind, rows, share, dtype="float64"):
    """(y_true, y_score) that have to do with each other."""
    scores = scores_of(kind, rows, dtype=dtype)
    ranks = np.argsort(np.argsort(scores, kind="stable"), kind="stable") / rows
    noise = np.random.default_rng(2).random(rows)
    labels = (noise < 2 * share * ranks).astype(np.int8)
    labels[:2] = [1, 0]
    return labels, scores


def counts_by_score(y_true, y_score):
    """(thresholds, false positives, true positives) of every distinct score, descending, as integers: a plain sort."""
    order = np.argsort(-y_score.astype(np.float64), kind="stable")
    scores, labels = y_score[order].astype(np.float64) + 0.0, np.asarray(y_true)[order].astype(np.int64)
    last = np.flatnonzero(np.append(scores[1:] != scores[:-1], True))
    tps = np.cumsum(labels)[last]
    return scores[last], last + 1 - tps, tps


def floats(values):
    """Fractions, each rounded once; None is NaN."""
    return np.array([np.nan if value is None else float(value) for value in values])


def quietly(function, *arguments, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return function(*arguments, **options)


def same(values, expected):
    """Arrays, or tuples of arrays and numbers, equal to the last bit."""
    if isinstance(values, tuple):
        assert len(values) == len(expected)
        for value, own in zip(values, expected, strict=True):
            same(value, own)
        return
    np.testing.assert_array_equal(values, expected)


def whole(weights):
    return None if weights is None else [Fraction(weight) for weight in weights.tolist()]


def finite_ranks(scores):
    """Dense ranks: the same order and ties without infinities, which scikit-learn refuses."""
    return np.unique(scores.astype(np.float64), return_inverse=True)[1].astype(np.float64)


def in_another_way(function, y_true, y_score, **options):
    """The value of the same rows by ways that a caller would not notice: long, threads, order, type, layout."""
    order = np.random.default_rng(len(y_true)).permutation(len(y_true))
    return {
        "the long way": function(y_true, y_score, n_threads=1, **options),
        "threads": function(y_true, y_score, n_threads=3, **options),
        "shuffled": function(y_true[order], y_score[order], **options),
        "lists": function(y_true.tolist(), y_score, **options),
        "float labels": function(y_true.astype(np.float32), y_score, **options),
        "signed labels": function(2 * y_true.astype(np.int64) - 1, y_score, **options),
        "strided": function(np.repeat(y_true, 2)[::2], np.repeat(y_score, 2)[::2], **options),
        "positive label": function(y_true, y_score, pos_label=1, **options),
        "weights of one": function(y_true, y_score, sample_weight=np.ones(len(y_true)), **options),
    }


FUNCTIONS = {
    "average_precision_score": {},
    "ks_statistic": {},
    "roc_curve": {},
    "precision_recall_curve": {},
    "det_curve": {},
    "far_frr_curve": {},
    "lift_curve": {},
    **{f"equal_error_rate {method}": {"method": method} for method in ("interpolate", "mean", "max", "convex_hull")},
}


def call_of(name):
    """The function of a name above and its options."""
    return getattr(fm, name.split()[0]), FUNCTIONS[name]
