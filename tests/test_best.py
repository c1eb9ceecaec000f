"""Which value of a metric is better: the registry says it, and a perfect prediction has it."""

import math

import pytest

import fastmetrics as fm
from fastmetrics._core import registry

SPECS = {spec.name: spec for spec in fm.describe_metrics()}
GOALS = {"one": 1.0, "zero": 0.0}
# Beside a perfect prediction a bad one. Both have every class, so that nothing is undefined.
CLASSES = {"label": [0, 1, 0, 1, 1, 0], "good": [0.1, 0.9, 0.2, 0.8, 0.9, 0.1], "bad": [0.8, 0.3, 0.6, 0.2, 0.9, 0.7]}
NUMBERS = {"label": [1.0, 2.0, 4.0, 8.0], "good": [1.1, 2.0, 4.0, 8.0], "bad": [3.0, 3.0, 2.0, 1.0]}
GRADES = {"label": [0, 2, 0, 1, 0, 0], "good": [0.1, 0.9, 0.2, 0.8, 0.1, 0.1], "bad": [0.8, 0.3, 0.6, 0.2, 0.9, 0.7]}
TEXTS = {"label": ["the cat sat on the mat today"], "good": ["the cat sat on the mat now"], "bad": ["a dog on a road"]}
PARTS = {"label": ["a", "a", "b", "b", "c", "c"], "good": [1, 1, 2, 2, 3, 3], "bad": [1, 2, 3, 1, 2, 3]}
LOGS = {"binary": CLASSES, "real": NUMBERS, "graded": GRADES, "text": TEXTS, "partition": PARTS}


@pytest.mark.parametrize("name", [name for name, spec in SPECS.items() if spec.name != "meteor"])
def test_the_better_model_has_the_better_value(name):
    spec = SPECS[name]
    group = "user" if spec.exchange == "group" else None
    log = LOGS[spec.target] | ({"user": [1] * 6} if group else {})
    metric = f"{spec.word}@4" if spec.cutoff == registry.REQUIRED else name
    report = fm.evaluate(log, [metric], label="label", score=["good", "bad"], group=group)
    good, bad = (report.value(metric, score=score) for score in ("good", "bad"))
    assert math.isfinite(good)
    assert math.isfinite(bad)
    if spec.best == "highest":
        assert good >= bad
    elif spec.best == "lowest":
        assert good <= bad
    elif spec.best in GOALS:
        assert abs(good - GOALS[spec.best]) < abs(bad - GOALS[spec.best])
    else:
        assert good == bad


def test_an_unknown_word_is_refused():
    with pytest.raises(ValueError, match="best must be one of"):
        registry.metric(
            "nonsense", exchange="none", statistics=tuple, function=None, undefined="never", best="biggest"
        )
