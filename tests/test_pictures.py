"""Pictures of logs: points of the exact curves, from any order of rows; what is said where there is none."""

import pickle

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics._core.pictures import FINENESS, MOST_POINTS, known_pictures

CURVES = ("roc", "pr", "det", "lift")


def make_log(rows, seed=0, ties=0):
    rng = np.random.default_rng(seed)
    z = rng.normal(size=rows)
    y = (rng.random(rows) < 1 / (1 + np.exp(1 - z))).astype(np.int8)
    y[:2] = 0, 1
    scores = {"a": z + rng.normal(size=rows), "b": z + 2 * rng.normal(size=rows)}
    scores = {name: 1 / (1 + np.exp(-own)) for name, own in scores.items()}
    if ties:
        scores = {name: np.round(own * ties) / ties for name, own in scores.items()}
    return {"y": y, **scores, "user": rng.integers(0, max(1, rows // 20), rows)}


def pictures_of(log, metrics="auc,ap", scores="a", **options):
    return fm.evaluate(log, metrics, label="y", score=scores, curves=True, **options)


def test_points_are_points_of_the_exact_curves():
    for log in (make_log(6), make_log(500, 1, ties=10), make_log(3000, 2)):
        y, a = log["y"], log["a"]
        found = pictures_of(log).pictures
        fpr, tpr, _ = fm.roc_curve(y, a, drop_intermediate=False)
        roc = found["roc"].lines[0]
        assert set(zip(roc.x.tolist(), roc.y.tolist(), strict=True)) <= set(
            zip(fpr.tolist(), tpr.tolist(), strict=True)
        )
