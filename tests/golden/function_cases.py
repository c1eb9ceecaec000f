"""Calls of the public functions of columns: every one with its options, with weights, and with several types."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

import fastmetrics as fm
from golden import data

Cases = dict[str, Callable[[], Any]]
ROWS = 84


class Function(NamedTuple):
    """The columns a function takes, whether it takes weights, and the options to call it with."""

    columns: list[str]
    options: list[dict[str, Any]]
    weighted: bool = True


def of_scores(*options: dict[str, Any], weighted: bool = True) -> Function:
    return Function(["label", "score"], list(options) or [{}], weighted)


def of_probabilities(*options: dict[str, Any], weighted: bool = True) -> Function:
    return Function(["label", "prob"], list(options) or [{}], weighted)


def of_predictions(*options: dict[str, Any], weighted: bool = True) -> Function:
    return Function(["label", "pred"], list(options) or [{}], weighted)


def of_numbers(*options: dict[str, Any], weighted: bool = True) -> Function:
    return Function(["target", "forecast"], list(options) or [{}], weighted)


def of_lists(*options: dict[str, Any]) -> Function:
    return Function(["grade", "score", "group"], list(options) or [{}], False)


def of_partitions(*options: dict[str, Any]) -> Function:
    return Function(["class", "cluster"], list(options) or [{}], False)


AVERAGES = ({}, {"average": "macro"}, {"average": "weighted", "zero_division": 1}, {"average": "micro"})
SAMPLED = {"sampling_rate": 0.25}

FUNCTIONS = {
    "roc_auc_score": of_scores({}, {"max_fpr": 0.1}),
    "ks_statistic": of_scores(),
    "partial_auc_score": of_scores({"max_fpr": 0.1}, {"max_fpr": 0.5, "standardize": True}),
    "average_precision_score": of_scores(),
    "roc_curve": of_scores({}, {"drop_intermediate": False}),
    "precision_recall_curve": of_scores({}, {"drop_intermediate": True}),
    "det_curve": of_scores({}, {"drop_intermediate": True}),
    "far_frr_curve": of_scores(),
    "equal_error_rate": of_scores(*({"method": name} for name in ("interpolate", "mean", "max", "convex_hull"))),
    "lift_curve": of_scores(),
    "lift": of_scores({}, {"q": 0.25}),
    "confusion_matrix_at_thresholds": of_scores(),
    "hinge_loss": of_scores(),
    "best_threshold": of_scores(
        {"metric": "f1"}, {"metric": "mcc"}, {"metric": "youden"}, {"metric": "fbeta", "beta": 2.0}
    ),
    "log_loss": of_probabilities({}, {"eps": 1e-7}, {"normalize": False}, SAMPLED),
    "d2_log_loss_score": of_probabilities({}, {"eps": 1e-3}),
    "clipped_rows": of_probabilities({"eps": 0.1}, {"eps": 0.1, **SAMPLED}),
    "brier_score_loss": of_probabilities({}, {"scale_by_half": False}, SAMPLED),
    "d2_brier_score": of_probabilities(),
    "normalized_entropy": of_probabilities({}, {"base_rate": 0.1}, {"eps": 0.1, **SAMPLED}),
    "negative_log_likelihood": Function(["prob"], [{}, {"reduction": "sum"}, {"eps": 0.1}]),
    "copc": of_probabilities({}, SAMPLED),
    "pcoc": of_probabilities({}, SAMPLED),
    "expected_calibration_error": of_probabilities(
        *({"strategy": strategy, "norm": norm} for strategy in ("uniform", "quantile") for norm in ("l1", "l2", "max")),
        {"n_bins": 4, **SAMPLED},
    ),
    "calibration_curve": of_probabilities({}, {"n_bins": 10, "strategy": "quantile"}, SAMPLED, weighted=False),
    "gauc_score": Function(
        ["label", "score", "group"],
        [
            {"weight": weight, "single_class": policy}
            for weight in ("impressions", "uniform", "positives", "pairs")
            for policy in ("skip", "half")
        ],
    ),
    "auc_by_group": Function(["label", "score", "group"], [{}]),
    "ndcg_score": of_lists(
        {}, {"k": 3, "gain": "exp2", "empty": "skip"}, {"k": 2, "ideal": "k"}, {"k": 5, "ties": "pessimistic"}
    ),
    "dcg_score": of_lists({}, {"k": 3, "gain": "exp2"}, {"log_base": 10}),
    "ideal_dcg": of_lists({}, {"k": 3}),
    "cumulative_gain": of_lists({}, {"k": 3, "ties": "optimistic"}),
    "mean_average_precision": of_lists({}, {"k": 3, "normalize": "hits"}, {"relevance_level": 2}),
    "average_precision_at_k": of_lists({"k": 4}, {"k": 2, "normalize": "relevant"}),
    "mean_reciprocal_rank": of_lists({}, {"ties": "pessimistic"}, {"k": 2}),
    "mind_mrr": of_lists(),
    "expected_reciprocal_rank": of_lists({}, {"k": 3, "max_grade": 3}),
    "rank_biased_precision": of_lists({}, {"p": 0.5, "k": 4, "gain": "linear"}),
    "hit_rate": of_lists({"k": 2}, {"k": 3, "average": "micro"}),
    "precision_at_k": of_lists({"k": 2}, {"k": 5, "short_list": "n"}),
    "recall_at_k": of_lists({"k": 2}, {"k": 2, "empty": "skip"}),
    "f1_at_k": of_lists({"k": 3}),
    "r_precision": of_lists(),
    "bpref": of_lists({}, {"empty": "skip"}),
    "auc_at_k": of_lists({"k": 3}, {"k": 3, "empty": "skip"}),
    "ranking_by_group": of_lists({"metrics": ["ndcg@3", "map", "hr(average=micro)@2", "err@2"]}),
    "accuracy_score": of_predictions({}, {"normalize": False}),
    "zero_one_loss": of_predictions({}, {"normalize": False}),
    "hamming_loss": of_predictions(),
    "balanced_accuracy_score": of_predictions({}, {"adjusted": True}),
    "matthews_corrcoef": of_predictions(),
    "cohen_kappa_score": of_predictions({}, {"weights": "linear"}, {"weights": "quadratic"}),
    "confusion_matrix": of_predictions(*({"normalize": how} for how in (None, "true", "pred", "all"))),
    "multilabel_confusion_matrix": of_predictions(),
    "top_k_accuracy_score": of_probabilities({"k": 1}, {"k": 1, "normalize": False}),
    "precision_score": of_predictions(*AVERAGES),
    "recall_score": of_predictions(*AVERAGES),
    "f1_score": of_predictions(*AVERAGES, {"average": "macro", "macro": "f_of_means"}),
    "fbeta_score": of_predictions({"beta": 0.5}, {"beta": 3, "average": "macro"}),
    "precision_recall_fscore_support": of_predictions(*AVERAGES),
    "jaccard_score": of_predictions(*AVERAGES),
    "jaccard_distance": of_predictions(*AVERAGES),
    "specificity_score": of_predictions(*AVERAGES),
    "geometric_mean_score": of_predictions({}, {"average": "macro"}, {"correction": 0.01}),
    "class_likelihood_ratios": of_predictions({}, {"labels": [0, 1]}),
    "classification_report": of_predictions({}, {"output_dict": True}, {"digits": 4}, weighted=False),
    "xauc": of_numbers(),
    "errors_by_group": Function(["target", "forecast", "group"], [{}]),
    "mean_squared_error": of_numbers(),
    "root_mean_squared_error": of_numbers(),
    "mean_absolute_error": of_numbers(),
    "mean_absolute_percentage_error": of_numbers(),
    "mean_squared_log_error": of_numbers(),
    "root_mean_squared_log_error": of_numbers(),
    "mean_pinball_loss": of_numbers({}, {"alpha": 0.1}),
    "median_absolute_error": of_numbers(),
    "max_error": of_numbers(weighted=False),
    "r2_score": of_numbers({}, {"force_finite": False}),
    "explained_variance_score": of_numbers(),
    "d2_absolute_error_score": of_numbers(),
    "d2_pinball_score": of_numbers({"alpha": 0.25}),
    "mean_tweedie_deviance": of_numbers(*({"power": power} for power in (-1, 0, 1, 1.5, 2, 3))),
    "mean_poisson_deviance": of_numbers(),
    "mean_gamma_deviance": of_numbers(),
    "d2_tweedie_score": of_numbers(*({"power": power} for power in (0, 1, 2))),
    "adjusted_mutual_info_score": of_partitions(
        *({"average_method": how} for how in ("arithmetic", "geometric", "min", "max"))
    ),
    "adjusted_rand_score": of_partitions(),
    "completeness_score": of_partitions(),
    "contingency_matrix": of_partitions({}, {"eps": 0.5}, {"sparse": True}),
    "fowlkes_mallows_score": of_partitions(),
    "homogeneity_completeness_v_measure": of_partitions({}, {"beta": 0.25}),
    "homogeneity_score": of_partitions(),
    "mutual_info_score": of_partitions(),
    "normalized_mutual_info_score": of_partitions(
        *({"average_method": how} for how in ("arithmetic", "geometric", "min", "max"))
    ),
    "pair_confusion_matrix": of_partitions(),
    "pair_jaccard_score": of_partitions(),
    "purity_score": of_partitions(),
    "rand_score": of_partitions(),
    "v_measure_score": of_partitions({}, {"beta": 0.25}),
}
# Other types of the same columns: a label, a score or a group at a time.
LABEL_TYPES = ["int64", "bool", "float32", "float64", "uint8"]
SCORE_TYPES = ["float32", "float16"]


def call(name: str, log: data.Columns, options: dict[str, Any]) -> Callable[[], Any]:
    columns = [log[column] for column in FUNCTIONS[name].columns]
    return lambda: getattr(fm, name)(*columns, **options)


def function_cases() -> Cases:
    log = data.click_log(ROWS)
    cases: Cases = {}
    for name, function in FUNCTIONS.items():
        for options in function.options:
            key = f"{name} {options or ''}".strip()
            cases[key] = call(name, log, options)
            if function.weighted:
                for weight in ("whole", "weight"):
                    cases[f"{key} {weight}"] = call(name, log, {**options, "sample_weight": log[weight]})
        first = function.options[0]
        for title, changed in typed_logs(log, function.columns).items():
            cases[f"{name} of {title}"] = call(name, changed, first)
        for title, changed in edge_logs(log, function.columns[0]).items():
            cases[f"{name} of {title}"] = call(name, changed, first)
        cases[f"{name} with threads"] = call(name, data.click_log(3000, 7), {**first, "n_threads": 2})
    return cases | of_classes(log) | of_ranked_lists(log)


def typed_logs(log: data.Columns, columns: list[str]) -> dict[str, data.Columns]:
    """The same rows in other types and containers."""
    label, score = columns[0], columns[1] if len(columns) > 1 else columns[0]
    logs = {
        "lists": {**log, **{name: log[name].tolist() for name in columns}},
        "Arrow columns": {**log, **{name: pa.array(log[name]) for name in columns}},
        "columns in big-endian order and steps": {
            **log,
            **{name: np.repeat(log[name].astype(log[name].dtype.newbyteorder(">")), 2)[::2] for name in columns},
        },
    }
    if label in ("label", "grade"):
        logs |= {f"{name} labels": {**log, label: log[label].astype(name)} for name in LABEL_TYPES}
    if label == "label":
        logs["texts as labels"] = {**log, **{name: np.array(["no", "yes"])[log[name]] for name in ("label", "pred")}}
        logs["signed labels"] = {**log, "label": log["label"] * 2 - 1, "pred": log["pred"] * 2 - 1}
        objects = {name: np.array(["no", "yes"])[log[name]].astype(object) for name in ("label", "pred")}
        logs["objects as labels"] = {**log, **objects}
    if score in ("score", "prob", "forecast"):
        logs |= {f"{name} scores": {**log, score: log[score].astype(name)} for name in SCORE_TYPES}
        logs["target and scores of float32"] = {
            **log,
            score: log[score].astype("float32"),
            "target": log["target"].astype("float32"),
        }
    if "group" in columns:
        logs["text groups"] = {**log, "group": np.char.add("user ", log["group"].astype(str))}
        logs["int8 groups"] = {**log, "group": log["group"].astype(np.int8)}
    return logs


def edge_logs(log: data.Columns, first: str) -> dict[str, data.Columns]:
    """Where definitions end: one class, one row, no row, all scores equal, a NaN."""
    logs = {
        "one class": {**log, "label": np.ones_like(log["label"]), "grade": np.zeros_like(log["grade"])},
        "one row": {name: column[:1] for name, column in log.items()},
        "no rows": {name: column[:0] for name, column in log.items()},
        "equal scores": {**log, "score": np.zeros(ROWS), "prob": np.full(ROWS, 0.5), "forecast": np.full(ROWS, 2.0)},
    }
    missing = {name: log[name].astype(np.float64) for name in ("score", "prob", "forecast")}
    for column in missing.values():
        column[5] = np.nan
    logs["a NaN"] = {**log, **missing}
    if first == "target":
        logs["equal targets"] = {**log, "target": np.full(ROWS, 3.0)}
    return logs


def of_classes(log: data.Columns) -> Cases:
    """Labels of more than two classes, several columns, several outputs, labels that are sets."""
    true, pred = log["multi"], log["multi_pred"]
    names = ["accuracy_score", "balanced_accuracy_score", "matthews_corrcoef", "cohen_kappa_score", "hamming_loss"]
    names += ["confusion_matrix", "multilabel_confusion_matrix", "classification_report", "zero_one_loss"]
    cases: Cases = {f"{name} of three classes": lambda name=name: getattr(fm, name)(true, pred) for name in names}
    averaged = ["precision_score", "recall_score", "f1_score", "jaccard_score", "jaccard_distance"]
    averaged += ["specificity_score", "geometric_mean_score"]
    for name in averaged:
        for average in ("macro", "micro", "weighted", None):
            cases[f"{name} of three classes {average}"] = lambda name=name, average=average: getattr(fm, name)(
                true, pred, average=average
            )
        cases[f"{name} of two of three classes"] = lambda name=name: getattr(fm, name)(
            true, pred, average="macro", labels=[0, 1]
        )
    shares = np.stack([data.integers(ROWS, 900 + place, 30) + 1 for place in range(3)], axis=1).astype(np.float64)
    shares = np.stack([16.0 - shares[:, 1] / 4 - shares[:, 2] / 4, shares[:, 1] / 4, shares[:, 2] / 4], axis=1) / 16.0
    for name in ("log_loss", "brier_score_loss", "d2_log_loss_score", "d2_brier_score"):
        cases[f"{name} of three classes"] = lambda name=name: getattr(fm, name)(true, shares)
    for k in (1, 2):
        cases[f"top_k_accuracy_score of three classes {k}"] = lambda k=k: fm.top_k_accuracy_score(true, shares, k=k)
    for options in (
        {"multi_class": "ovr"},
        {"multi_class": "ovo"},
        {"multi_class": "ovr", "average": "weighted"},
        {"multi_class": "ovr", "average": None},
    ):
        cases[f"roc_auc_score of three classes {options}"] = lambda options=options: fm.roc_auc_score(
            true, shares, **options
        )
    sets = np.stack([data.integers(ROWS, 910 + place, 2) for place in range(3)], axis=1)
    chosen = np.stack([data.integers(ROWS, 920 + place, 2) for place in range(3)], axis=1)
    for name in ("roc_auc_score", "average_precision_score"):
        for average in ("macro", "micro", "weighted", "samples", None):
            cases[f"{name} of sets {average}"] = lambda name=name, average=average: getattr(fm, name)(
                sets, shares, average=average
            )
    for name in ("coverage_error", "label_ranking_average_precision_score", "label_ranking_loss"):
        for weight in (None, "whole"):
            cases[f"{name} {weight}"] = lambda name=name, weight=weight: getattr(fm, name)(
                sets, shares, sample_weight=None if weight is None else log[weight]
            )
        cases[f"{name} of one row"] = lambda name=name: getattr(fm, name)([[1, 0, 0]], [[0.5, 0.5, 0.25]])
    for name in ("accuracy_score", "hamming_loss", "zero_one_loss", "multilabel_confusion_matrix"):
        cases[f"{name} of sets"] = lambda name=name: getattr(fm, name)(sets, chosen)
    cases["multilabel_confusion_matrix of rows of sets"] = lambda: fm.multilabel_confusion_matrix(
        sets, chosen, samplewise=True
    )
    for average in ("macro", "samples"):
        cases[f"f1_score of sets {average}"] = lambda average=average: fm.f1_score(sets, chosen, average=average)
    columns = [np.stack([log[name], log[name][::-1]], axis=1) for name in ("target", "forecast")]
    for name in ("mean_squared_error", "mean_absolute_error", "r2_score", "explained_variance_score"):
        for how in ("uniform_average", "raw_values", [0.25, 0.75]):
            cases[f"{name} of two outputs {how}"] = lambda name=name, how=how: getattr(fm, name)(
                *columns, multioutput=how
            )
    return cases


def of_ranked_lists(log: data.Columns) -> Cases:
    """Lists given by offsets, as a matrix, with weights of lists, and ties that items break."""
    names = {name: function.options[0] for name, function in FUNCTIONS.items() if function.columns[0] == "grade"}
    del names["ranking_by_group"]
    offsets = np.array([0, 5, 5, 20, 21, 60, ROWS])
    matrices = [log[name].reshape(-1, 12) for name in ("grade", "score")]
    items = np.array([f"item {number}" for number in data.integers(ROWS, 930, 50)])
    weights = np.array([1.0, 2.0, 0.5, 3.0, 1.0, 0.25, 1.5])
    cases: Cases = {}
    for name, options in names.items():
        function = getattr(fm, name)
        cases[f"{name} by offsets"] = lambda function=function, options=options: function(
            log["grade"], log["score"], offsets=offsets, **options
        )
        cases[f"{name} of a matrix"] = lambda function=function, options=options: function(*matrices, **options)
        cases[f"{name} of a matrix with weights"] = lambda function=function, options=options: function(
            *matrices, sample_weight=weights, **options
        )
        cases[f"{name} with items"] = lambda function=function, options=options: function(
            log["grade"], log["score"], log["group"], items=items, **{**options, "ties": "docid"}
        )
        if "k" in options:
            cases[f"{name} of several k"] = lambda function=function, options=options: function(
                log["grade"], log["score"], log["group"], **{**options, "k": [1, 2, 5]}
            )
    return cases
