"""Logs of two partitions: labels of several types, and what the registry has for them."""

from typing import Any

import numpy as np

import fastmetrics as fm

CITIES = np.array(["köln", "ulm", "", "rom", "a city with a longer name", "oslo\u0301", "Ulm", "🐈"])


def partition_columns(rows: int, seed: int = 0) -> dict[str, Any]:
    """Classes that are texts, clusters that are integers and follow them or not, and a second clustering of texts."""
    chance = np.random.default_rng(seed)
    classes = chance.integers(0, len(CITIES), rows)
    clusters = np.where(chance.random(rows) < 0.7, classes // 2, chance.integers(-2, 9, rows)) * 10**12
    rough = np.where(chance.random(rows) < 0.9, clusters, 7).astype(str)
    return {"class": CITIES[classes], "cluster": clusters, "rough": rough}


def partition_metrics() -> list[str]:
    """Every registered metric of partitions, by default and otherwise."""
    return [spec.name for spec in fm.describe_metrics() if spec.target == "partition"] + VARIANTS


# Options beside the defaults.
VARIANTS = [
    "nmi(average_method=max)",
    "ami(average_method=min)",
    "ami(average_method=geometric)",
    "v_measure(beta=0.25)",
]
