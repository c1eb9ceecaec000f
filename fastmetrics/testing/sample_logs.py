"""Logs that the checks read: seeded, a few thousand rows, with ties, text in several scripts, and two partitions."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

Log = dict[str, Any]

SUBJECTS = ["The cat", "Der Hund", "Кошка", "他", "A naïve Über-dog", "It's", "x", "The U.S.", "İstanbul"]
VERBS = ["sat", "SITS", "сидит", "坐在", "was sitting", "runs,", "ran ,", "cats running", "ΣΟΦΟΣ"]
ENDS = ["on the mat.", "auf der Matte!", "垫子上。", "at 3.50 (or so)", "", "again and again and again", "🐈"]
CITIES = np.array(["köln", "ulm", "", "rom", "a city with a longer name", "oslo\u0301", "Ulm", "🐈"])


def text_columns(rows: int, seed: int = 0) -> dict[str, Any]:
    """Return references, and similar or different hypotheses of two systems, some of them empty."""
    chance = random.Random(seed)

    def sentence() -> str:
        return chance.choice("  \n").join(map(chance.choice, (SUBJECTS, VERBS, ENDS)))

    references = [sentence() for _ in range(rows)]
    hypotheses = []
    for text in references:
        words = text.split()
        words[chance.randrange(len(words))] = chance.choice(ENDS)
        hypotheses.append(chance.choice([text, " ".join(words), " ".join(words), " ".join(words[1:]), sentence()]))
    worse = [chance.choice([text, sentence(), ""]) for text in hypotheses]
    return {"reference": np.array(references), "hypothesis": np.array(hypotheses), "worse": np.array(worse)}


def partition_columns(rows: int, seed: int = 0) -> dict[str, Any]:
    """Classes (texts), clusters (integers) that mostly follow the classes, and a second clustering (texts)."""
    generator = np.random.default_rng(seed)
    classes = generator.integers(0, len(CITIES), rows)
    clusters = np.where(generator.random(rows) < 0.7, classes // 2, generator.integers(-2, 9, rows)) * 10**12
    rough = np.where(generator.random(rows) < 0.9, clusters, 7).astype(str)
    return {"class": CITIES[classes], "cluster": clusters, "rough": rough}


def click_log(
    rows: int, users: int = 50, seed: int = 0, dtype: str = "float64", levels: int | None = 1000
) -> dict[str, np.ndarray]:
    """A seeded log with the columns `label score prob group target forecast pred grade`.

    `prob` is roughly calibrated and has ties (`levels` different values; None: few ties). `target` and `forecast` are
    positive numbers of a few digits, for metrics of numbers. `pred` has predictions 0 and 1. `grade` has relevance
    grades 0 to 3, most of them 0.
    """
    generator = np.random.default_rng(seed)
    probability = generator.beta(1.0, 6.0, rows)
    if levels is not None:
        probability = np.round(probability * levels) / levels
    label = (generator.random(rows) < probability).astype(np.int8)
    if rows >= 2:
        label[:2] = [1, 0]
    score = (probability * 4.0 - 2.0 + np.round(generator.normal(0.0, 0.3, rows), 1)).astype(dtype)
    group = np.minimum(generator.pareto(0.8, rows) * 3, users - 1).astype(np.int64)
    target = (0.5 + np.round(probability + generator.gamma(1.0, 3.0, rows), 1)).astype(dtype)
    forecast = np.round(target * generator.lognormal(0.0, 0.3, rows) + 0.1, 2).astype(dtype)
    pred = (probability >= 0.15).astype(np.int8)
    return {
        "label": label, "score": score, "prob": probability.astype(dtype), "group": group, "target": target,
        "forecast": forecast, "pred": pred, "grade": np.where(label, 1 + np.arange(rows) % 3, 0).astype(dtype),
    }  # fmt: skip


def class_columns(rows: int, seed: int = 5) -> dict[str, np.ndarray]:
    """Return labels of five classes and their numbers, predictions, most of which are right, and probabilities."""
    generator = np.random.default_rng(seed)
    kinds = np.array(["ant", "bee", "cat", "", "никто"])
    kind = np.minimum(generator.geometric(0.4, rows) - 1, 4)
    guess = np.where(generator.random(rows) < 0.7, kind, generator.integers(0, 5, rows))
    chances = generator.dirichlet(np.ones(5), rows)
    chances[np.arange(rows), guess] += 1.0
    chances = generator.multinomial(64, chances / 2) / 64  # with ties
    return {
        "kind": kinds[kind], "guess": kinds[guess], "kind_number": kind,
        **{f"chance_{number}": chances[:, number].copy() for number in range(5)},
    }  # fmt: skip


def set_columns(rows: int, seed: int = 7) -> dict[str, np.ndarray]:
    """Return sets of labels, some of them empty, predicted sets that share most labels with them, and scores."""
    generator = np.random.default_rng(seed)
    tags = np.array(["", "bee", "cat", "köln", "cat and bee", "музыка"])
    true = generator.random((rows, 6)) < (0.6, 0.4, 0.3, 0.2, 0.2, 0.05)
    predicted = true ^ (generator.random((rows, 6)) < 0.2)
    columns: dict[str, np.ndarray] = {}
    for name, chosen in (("tags", true), ("predicted_tags", predicted)):
        columns[name] = np.empty(rows, object)
        columns[name][:] = [tags[row].tolist() for row in chosen]
    # The same sets as numbers, and a score for each label, with ties.
    columns["tag_numbers"], columns["tag_scores"] = np.empty(rows, object), np.empty(rows, object)
    columns["tag_numbers"][:] = [np.flatnonzero(row).tolist() for row in true]
    columns["tag_scores"][:] = (true + generator.integers(0, 16, (rows, 6)) / 8).tolist()
    return columns


def kind_columns(rows: int, seed: int) -> dict[str, np.ndarray]:
    """Three columns of each kind of numbers and keys."""
    generator = np.random.default_rng(seed + 1)
    columns: dict[str, np.ndarray] = {}
    for number in range(3):
        columns |= {
            f"binary_{number}": generator.integers(0, 2, rows),
            f"real_{number}": np.round(generator.normal(0.0, 2.0, rows), 2),
            f"nonnegative_{number}": np.round(generator.exponential(3.0, rows), 1),
            f"positive_{number}": np.round(generator.exponential(1.0, rows), 2) + 0.125,
            f"probability_{number}": np.round(generator.random(rows), 3),
            f"key_{number}": generator.zipf(1.5, rows) % 50,
        }
    return columns


def sample_log(rows: int, seed: int = 11) -> Log:
    """A log with the columns of all targets, `weight` (0 to 3, equal for the rows of a group), and `slice`.

    It also has three columns of each kind of numbers and keys, such as `binary_0`, for metrics with other roles.
    """
    log = click_log(rows, seed=seed) | text_columns(rows) | partition_columns(rows) | kind_columns(rows, seed)
    log |= class_columns(rows) | set_columns(rows)
    return {**log, "weight": (log["group"] % 4).astype(np.float64), "slice": np.arange(rows) * 7 % 5 % 3}


def select(log: Log, rows: Any) -> Log:
    """Some rows of a log, or all of them in another order."""
    return {name: column[rows] for name, column in log.items()}
