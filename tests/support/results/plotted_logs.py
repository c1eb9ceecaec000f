"""Logs of two models, and their reports with plots."""

import numpy as np

import fastmetrics as fm

NAMES = ["roc", "pr", "det", "lift", "calibration", "gauc-histogram"]


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


def report_of(log, metrics="auc,ap", score="a", **options):
    return fm.evaluate(log, metrics, label="y", score=score, curves=True, **options)
