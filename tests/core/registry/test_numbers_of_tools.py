"""Names that are accepted have the number of their tool: those of the tools that are installed are compared."""

import numpy as np
import pytest
from core.registry.names_of_tools import RANX, SCIKIT_LEARN, TREC_EVAL

import fastmetrics as fm
from support.cases import each_case
from support.peers import peer, pytrec_eval

ROWS, CLASSES = 200, ("ant", "bee", "cat")
# Classes whose label is one of two, partitions, numbers above 0.
BINARY = ("accuracy", "balanced_accuracy", "average_precision", "f1", "jaccard", "precision", "recall", "roc_auc",
          "matthews_corrcoef")  # fmt: skip
NUMBERS = ("r2", "explained_variance", "d2_absolute_error_score")


@pytest.fixture(scope="module")
def log():
    random = np.random.default_rng(0)
    score = random.random(ROWS)
    label = (random.random(ROWS) < score).astype(np.int64)
    kind = random.integers(0, 3, ROWS)
    probabilities = random.random((ROWS, 3)) + 2 * np.eye(3)[kind] * random.random((ROWS, 1))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    columns = {f"p_{name}": probabilities[:, column] for column, name in enumerate(CLASSES)}
    amount = random.gamma(2.0, 3.0, ROWS) + 0.1
    return {
        "label": label, "score": score, "number": kind, "kind": np.array(CLASSES)[kind],
        "predicted": np.array(CLASSES)[probabilities.argmax(axis=1)], "amount": amount,
        "forecast": amount * random.uniform(0.5, 1.5, ROWS), "group": random.integers(0, 10, ROWS), **columns,
        "probabilities": probabilities,
    }  # fmt: skip


def ours(log, name, **columns):
    (value,) = fm.evaluate(log, [name], **columns).to_metrics().values()
    return value


def test_scorers_of_scikit_learn(log):
    """`get_scorer(name)` calls a function with labels, and predictions or scores; so does `evaluate`."""
    import sklearn.metrics

    named = [name for name, answer in SCIKIT_LEARN.items() if isinstance(answer, str) and "samples" not in name]
    for name in named:
        scorer = sklearn.metrics.get_scorer(name)
        score, options = scorer._score_func, dict(scorer._kwargs)
        if name.startswith("roc_auc_ov"):
            expected = score(log["number"], log["probabilities"], **options)
            columns = {"label": "number", "probabilities": [[f"p_{own}" for own in CLASSES]]}
        elif name in NUMBERS:
            expected = score(log["amount"], log["forecast"], **options)
            columns = {"label": "amount", "score": "forecast"}
        elif name in BINARY:
            needs_score = name in ("average_precision", "roc_auc")
            own = log["score"] if needs_score else log["score"] > 0.5
            options.pop("average", None)
            expected = score(log["label"], own, **options)
            columns = {"label": "label", "score": "score"}
        elif "_macro" in name or "_micro" in name or "_weighted" in name:
            expected = score(log["kind"], log["predicted"], **options)
            columns = {"label": "kind", "prediction": "predicted"}
        else:
            expected = score(log["kind"], log["predicted"], **options)
            columns = {"label": "kind", "score": "predicted"}
        found = ours({own: values for own, values in log.items() if own != "probabilities"}, name, **columns)
        assert found == pytest.approx(expected, rel=1e-12), name


def test_samples_of_scikit_learn():
    import sklearn.metrics

    random = np.random.default_rng(1)
    true, predicted = random.random((2, 50, 3)) < 0.5
    words = np.array(CLASSES)
    sets = {"true": [words[row].tolist() for row in true], "predicted": [words[row].tolist() for row in predicted]}
    for name in ("f1", "jaccard", "precision", "recall"):
        scorer = sklearn.metrics.get_scorer(f"{name}_samples")
        expected = scorer._score_func(true, predicted, zero_division=0, **scorer._kwargs)
        assert ours(sets, f"{name}_samples", label="true", prediction="predicted") == pytest.approx(expected)


def distinct_run():
    """Judgments of 0 to 3, and scores without ties: tools order ties in different ways."""
    random = np.random.default_rng(2)
    qrels, run = {}, {}
    for query in range(20):
        items = [f"d{number}" for number in range(25)]
        grades = random.integers(0, 4, 25) * (random.random(25) < 0.5)
        qrels[f"q{query}"] = {item: int(grade) for item, grade in zip(items[:20], grades, strict=False)} | {"d0": 1}
        run[f"q{query}"] = {item: float(own) for item, own in zip(items[3:], random.permutation(25), strict=False)}
    return qrels, run


@pytest.mark.peers
def test_measures_of_trec_eval():
    qrels, run = distinct_run()
    named = [name for name, answer in TREC_EVAL.items() if isinstance(answer, str) and "@" not in name]
    named = [name for name in named if name not in ("rbp.0.95", "dcg", "ideal_dcg")]
    asked = {name.rpartition("_")[0] + "." + name.rpartition("_")[2] if name[-1].isdigit() and "." not in name else name
             for name in named}  # fmt: skip
    per_query = pytrec_eval().RelevanceEvaluator(qrels, asked).evaluate(run)
    for name in named:
        shown = name.replace(".", "_")
        expected = np.mean([values[shown] for values in per_query.values()])
        found = fm.evaluate_ranking(run=run, qrels=qrels, metrics=name)
        assert found[name] == pytest.approx(expected, rel=1e-6), name


@pytest.mark.peers
@pytest.mark.filterwarnings("ignore:.*unsafe cast")
def test_measures_of_ranx():
    ranx = peer("ranx")
    qrels, run = distinct_run()
    binary = {query: {item: min(grade, 1) for item, grade in own.items() if grade} for query, own in qrels.items()}
    named = [name for name, answer in RANX.items() if isinstance(answer, str)]
    for name in named:
        judged = binary if name.startswith("rbp") else qrels
        expected = ranx.evaluate(ranx.Qrels(judged), ranx.Run(run), name)
        found = fm.evaluate_ranking(run=run, qrels=judged, metrics=name)
        assert found[name] == pytest.approx(expected, rel=1e-6), name
    line = RANX["map@5"].line
    by_relevant = fm.evaluate_ranking(run=run, qrels=qrels, metrics=line)[line]
    assert by_relevant == pytest.approx(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "map@5"), rel=1e-6)


@each_case(
    ("name", "value"),
    [
        # Average precision of one list, relevant at ranks 1 and 4 of the first 3, R = 5 (Buckley and Voorhees, 2005).
        ("map_cut_3", 1 / 5),
        ("map@3", 1 / 3),
    ],
)
def test_a_cut_is_of_trec_eval(name, value):
    qrels = {"q": {"a": 1, "d": 1, "x": 1, "y": 1, "z": 1}}
    run = {"q": {"a": 4.0, "b": 3.0, "c": 2.0, "d": 1.0}}
    assert fm.evaluate_ranking(run=run, qrels=qrels, metrics=name)[name] == value
