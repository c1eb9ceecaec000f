"""Numbers with attributes: they are floats everywhere, and pickles and copies keep the attributes."""

import copy
import math
import pickle

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import make_scorer
from sklearn.model_selection import cross_val_score

import fastmetrics as fm
from fastmetrics._core.results.number_with_parts import maker
from fastmetrics.metrics.curves.eer import EqualErrorRate

Y, S = [0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.6, 0.7]
SENTENCES = ["the cat sat on the mat"], [["the cat sat on a mat"]]
NUMBERS = {
    "EqualErrorRate": lambda: fm.equal_error_rate(Y, S),
    "EqualErrorRate of many rows": lambda: fm.equal_error_rate(Y * 1000, S * 1000),
    "EqualErrorRate of weights": lambda: fm.equal_error_rate(Y, S, sample_weight=[1.0, 2, 3, 4, 5, 6]),
    "BestThreshold": lambda: fm.best_threshold(Y, S, metric="mcc"),
    "BestThreshold of an order": lambda: fm.ScoreOrder(Y, S).best_threshold(),
    "BleuScore": lambda: fm.corpus_bleu(*SENTENCES),
    "ChrfScore": lambda: fm.corpus_chrf(*SENTENCES),
    "TerScore": lambda: fm.corpus_ter(*SENTENCES),
    "NistScore": lambda: fm.corpus_nist(*SENTENCES),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_number_is_a_float_and_keeps_its_parts(name):
    number = NUMBERS[name]()
    assert type(number).__name__ == name.split()[0]
    assert isinstance(number, float)
    assert type(float(number)) is float
    assert math.isfinite(number)
    assert np.mean([number, number]) == float(number)
    assert np.asarray(number).dtype == np.float64
    assert f"{number:.3f}" == f"{float(number):.3f}"
    parts = {part: getattr(number, part) for part in type(number).__annotations__}
    assert parts
    for other in (pickle.loads(pickle.dumps(number)), copy.copy(number), copy.deepcopy(number)):
        assert type(other) is type(number)
        assert other == number
        assert {part: getattr(other, part) for part in parts} == parts
        assert repr(other) == repr(number)
    assert all(f"{part}={value!r}" in repr(number) for part, value in parts.items())
    with pytest.raises(AttributeError, match="immutable"):
        setattr(number, next(iter(parts)), 1.0)
    with pytest.raises(AttributeError, match="immutable"):
        number.other = 1.0
    with pytest.raises(AttributeError, match="immutable"):
        delattr(number, next(iter(parts)))


def test_the_short_way_makes_the_same_numbers():
    made, plain = maker(EqualErrorRate, "threshold")(0.25, 3.0), EqualErrorRate(0.25, 3.0)
    assert (type(made), made, made.threshold) == (type(plain), plain, plain.threshold)


@pytest.mark.parametrize("function", [fm.equal_error_rate, fm.best_threshold])
def test_scorers_of_scikit_learn(function):
    generator = np.random.default_rng(3)
    columns, labels = generator.normal(size=(200, 3)), generator.integers(0, 2, 200)
    scorer = make_scorer(function, response_method="predict_proba", greater_is_better=False)
    scores = cross_val_score(LogisticRegression(), columns, labels, scoring=scorer, cv=3)
    assert scores.dtype == np.float64
    assert ((scores > -1) & (scores < 0)).all()
