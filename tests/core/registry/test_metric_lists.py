"""What every entry point takes as metrics: strings with commas, lists, iterators, `Metric` and public functions."""

import functools

import numpy as np

import fastmetrics as fm
from fastmetrics._core.registry import list_metrics_of, split_metrics
from support.cases import assert_raises, each_case

LOG = {
    "y": [1, 0, 1, 0, 1, 1], "p": [0.9, 0.3, 0.4, 0.6, 0.2, 0.7], "q": [0.8, 0.3, 0.5, 0.6, 0.1, 0.9],
    "u": [1, 1, 2, 2, 3, 3],
}  # fmt: skip
COLUMNS = {"label": "y", "score": "p", "group": "u"}
WANTED = ["auc", "logloss", "ndcg@2", "gauc"]
SPELLINGS = {
    "text": lambda: "auc, logloss,ndcg@2,gauc",
    "list": lambda: WANTED,
    "tuple": lambda: tuple(WANTED),
    "generator": lambda: (name for name in WANTED),
    "dict keys": lambda: dict.fromkeys(WANTED).keys(),
    "array": lambda: np.array(WANTED),
    "functions": lambda: [fm.roc_auc_score, fm.log_loss, "ndcg@2", fm.gauc_score],
    "mixture": lambda: iter([fm.roc_auc_score, "log_loss,ndcg_cut_2", fm.Metric.gauc()]),
}


def by_evaluate(metrics):
    return fm.evaluate(LOG, metrics, **COLUMNS)


def by_compare(metrics):
    return fm.compare(LOG, metrics, label="y", score=["p", "q"], group="u")


def by_evaluation(metrics):
    return fm.Evaluation(metrics, **COLUMNS).run(LOG)


def by_toml(metrics):
    return fm.Evaluation.from_toml(fm.Evaluation(metrics, **COLUMNS).to_toml()).run(LOG)


def by_task(metrics):
    return fm.evaluate(LOG, tasks={"click": fm.Task(metrics=metrics, **COLUMNS)})


def by_accumulator(metrics):
    state = fm.Accumulator(metrics, **COLUMNS)
    state.update(LOG)
    return state.result()


def by_training(metrics):
    training = fm.TrainingMetrics(metrics)
    for _ in range(2):  # two epochs
        training.reset()
        training.update(label=LOG["y"], score=LOG["p"], group=LOG["u"])
    return training.result()


def by_plan(metrics):
    return fm.Evaluation(metrics, **COLUMNS).plan()


ENTRY_POINTS = (by_evaluate, by_compare, by_evaluation, by_toml, by_task, by_accumulator, by_training, by_plan)


def names_of(result):
    if hasattr(result, "evaluation") and result.evaluation is not None and result.evaluation.metrics is not None:
        return list(result.evaluation.metrics)
    return list(dict.fromkeys(one.metric for one in result))


@each_case("spelling", SPELLINGS)
@each_case("entry_point", ENTRY_POINTS)
def test_every_entry_point_takes_every_spelling(spelling, entry_point):
    if entry_point is by_plan:
        assert entry_point(SPELLINGS[spelling]()).question == entry_point(WANTED).question
        return
    assert names_of(entry_point(SPELLINGS[spelling]())) == WANTED


@each_case(
    ("text", "names"),
    [
        ("auc", ["auc"]),
        (" auc , gauc(weight=pairs, single_class=half) ", ["auc", "gauc(weight=pairs, single_class=half)"]),
        ("ndcg(group=[user, day])@10,auc", ["ndcg(group=[user, day])@10", "auc"]),
        ("ndcg@5,10,map", ["ndcg@5", "ndcg@10", "map"]),
        ("P.5,10", ["P.5", "P.10"]),
        ("lift@1%,5%", ["lift@1%", "lift@5%"]),
        ("auc,,gauc", ["auc", "", "gauc"]),
    ],
)
def test_texts_are_split_at_commas(text, names):
    assert split_metrics(text) == names


@each_case(
    ("metrics", "error", "message"),
    [
        ([], ValueError, "metrics is empty: name at least one"),
        (iter(()), ValueError, "metrics is empty"),
        (3, TypeError, "metrics must be a list of metric strings; found int"),
        (["auc", 3], TypeError, "found 3, of type int, at place 1"),
        (b"auc", TypeError, "found bytes"),
        ({"auc": 1}, TypeError, "found dict"),
        ([None], TypeError, "found None"),
        (fm.auc, ValueError, "the function auc, which is no metric of a log; 'auc' is, whose function is roc_auc"),
        (fm.hit_rate, ValueError, "the function hit_rate, which needs a cutoff: write 'hr@10'"),
        (fm.auc_at_k, ValueError, "which needs a cutoff: write 'auc@10'"),
        (fm.rouge_score, ValueError, "of several metrics: write one of 'rouge1', 'rouge2', 'rougeL', 'rougeLsum'"),
        (fm.wilcoxon, ValueError, "the function wilcoxon, which is no metric of a log$"),
        (functools.partial(fm.f1_score), ValueError, "the function partial, which is no metric of a log"),
    ],
)
def test_what_is_no_list_of_metrics(metrics, error, message):
    assert_raises(error, message, list_metrics_of, metrics)
    if metrics != []:
        return
    assert_raises(error, message, fm.evaluate, LOG, metrics, **COLUMNS)


def test_every_public_function_of_a_metric_stands_for_it():
    for spec in fm.list_metrics().values():
        functions = [own.function for own in fm.list_metrics().values()]
        if spec.function is None or functions.count(spec.function) > 1 or spec.cutoff == "required":
            continue
        assert list_metrics_of([spec.function]) == [spec.base_name]


@each_case(
    ("columns", "expected"),
    [
        ({"label": "y", "score": "p"}, ["ap", "auc", "brier", "copc", "ctr", "ece", "ks", "logloss", "ne"]),
        (COLUMNS, ["ap", "auc", "brier", "copc", "ctr", "ece", "gauc", "ks", "logloss", "ne"]),
        ({"label": "y", "prediction": "y"}, ["accuracy", "balanced_accuracy", "gmean", "kappa", "mcc"]),
        ({"label": "y", "probabilities": [["p", "q"]]}, ["ap", "auc", "brier", "ece", "logloss"]),
        ({"label": "y", "roles": {"prediction": "y"}}, ["accuracy", "balanced_accuracy", "gmean", "kappa", "mcc"]),
    ],
)
def test_no_metrics_are_the_default_ones(columns, expected):
    question = fm.Evaluation(**columns)
    assert list(question.metrics) == list(fm.Evaluation(expected, **columns).metrics)
    assert question == fm.Evaluation(None, **columns) == fm.Evaluation(expected, **columns)
    state = fm.Accumulator(**columns)
    assert state.evaluation == question
    tasks = fm.Evaluation(tasks={"one": fm.Task(**columns), "two": fm.Task(metrics="auc", label="y", score="p")}).tasks
    assert tasks["one"].metrics == question.metrics
    assert tasks["two"].metrics == ("auc",)


def test_no_metrics_of_the_other_entry_points():
    report = by_evaluate(None)
    assert names_of(report) == names_of(by_training(None)) == names_of(by_toml(None))
    compared = list(dict.fromkeys(one.metric for one in by_compare(None)))
    assert compared == [name for name in names_of(report) if name != "ctr"]  # no value of it is better
    from fastmetrics.cli.logs.log_evaluation import read_metrics

    assert names_of(report) == read_metrics(None, grouped=True)
    assert compared == read_metrics(None, grouped=True, compared=True)
