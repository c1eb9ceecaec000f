"""Every public function with all of its options, called on one log: what the promise tests compare with ==.

A log is a dict of arrays `label score prob group pred target forecast`, and `weight` where weights are wanted.
`tests/test_common.py` fails if a registered function is missing here.
"""

import inspect
import warnings
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import fastmetrics as fm

Log = dict[str, Any]


@dataclass(frozen=True)
class Call:
    """How a function is called: the name of its second argument, and the options worth trying."""

    second: str
    column: str
    grouped: bool = False
    weighted: bool = True
    options: list[dict[str, Any]] = field(default_factory=lambda: [{}])
    returns: type = float
    first: str = "label"  # the column that is y_true; empty where the function takes none


def of_numbers(options: list[dict[str, Any]] | None = None, weighted: bool = True) -> Call:
    """A function of targets and predictions that are numbers."""
    return Call("y_pred", "forecast", weighted=weighted, options=options or [{}], first="target")


def of_lists(options: list[dict[str, Any]] | None = None, returns: type = float) -> Call:
    """A function of ranked lists. Their weights are those of lists: tests of their own know what these are."""
    return Call("y_score", "score", grouped=True, weighted=False, options=options or [{}], returns=returns)


GAUC_OPTIONS = [
    {"weight": weight, "single_class": policy}
    for weight in ("impressions", "uniform", "positives", "pairs")
    for policy in ("skip", "half")
]
ECE_OPTIONS = [{"strategy": strategy, "norm": n} for strategy in ("uniform", "quantile") for n in ("l1", "l2", "max")]
EER_METHODS = ("interpolate", "mean", "max", "convex_hull")
ECE_OPTIONS += [{"sampling_rate": 0.25, "strategy": strategy} for strategy in ("uniform", "quantile")]
SAMPLED = {"sampling_rate": 0.25}
EPS_AND_RATE = {"eps": 1e-7, "sampling_rate": 0.25}
NLL_OPTIONS = [{"eps": 1e-7}, {"eps": 1e-7, "reduction": "sum"}]
CURVE_OPTIONS = [{}, {"n_bins": 10, "strategy": "quantile"}, {"n_bins": 20_000}, SAMPLED]

# Of two labels, and of both: one more row of a label must show, whatever was predicted for it.
OF_LABELS = [{"average": "macro"}, {"average": "weighted", "zero_division": 1}]
F_OF_MEANS = {"average": "macro", "macro": "f_of_means"}
LABELS = {"labels": [0, 1]}  # both, also where one does not occur

NORMALIZE = (None, "true", "pred", "all")

FUNCTIONS = {
    "roc_auc_score": Call("y_score", "score", options=[{}, {"max_fpr": 0.1}]),
    "ks_statistic": Call("y_score", "score"),
    "partial_auc_score": Call("y_score", "score", options=[{"max_fpr": 0.1}, {"max_fpr": 0.5, "standardize": True}]),
    "average_precision_score": Call("y_score", "score"),
    "roc_curve": Call("y_score", "score", options=[{}, {"drop_intermediate": False}], returns=tuple),
    "precision_recall_curve": Call("y_score", "score", options=[{}, {"drop_intermediate": True}], returns=tuple),
    "det_curve": Call("y_score", "score", options=[{}, {"drop_intermediate": True}], returns=tuple),
    "far_frr_curve": Call("y_score", "score", returns=tuple),
    "equal_error_rate": Call(
        "y_score", "score", options=[{"method": method} for method in EER_METHODS], returns=fm.EqualErrorRate
    ),
    "lift_curve": Call("y_score", "score", returns=tuple),
    "best_threshold": Call(
        "y_score",
        "score",
        options=[{"metric": "f1"}, {"metric": "mcc"}, {"metric": "youden"}],
        returns=fm.BestThreshold,
    ),
    "log_loss": Call("y_proba", "prob", options=[{"eps": 1e-7}, {"eps": 1e-7, "normalize": False}, EPS_AND_RATE]),
    "d2_log_loss_score": Call("y_proba", "prob", options=[{"eps": 1e-7}]),
    "clipped_rows": Call("y_proba", "prob", options=[{"eps": 0.1}, {"eps": 0.1, **SAMPLED}], returns=int),
    "brier_score_loss": Call("y_proba", "prob", options=[{}, {"scale_by_half": False}, SAMPLED]),
    "d2_brier_score": Call("y_proba", "prob"),
    "normalized_entropy": Call("y_prob", "prob", options=[{"eps": 1e-7}, {"base_rate": 0.1, **EPS_AND_RATE}]),
    "negative_log_likelihood": Call("y_prob", "prob", options=NLL_OPTIONS, first=""),
    "copc": Call("y_prob", "prob", options=[{}, SAMPLED]),
    "pcoc": Call("y_prob", "prob", options=[{}, SAMPLED]),
    "expected_calibration_error": Call("y_prob", "prob", options=ECE_OPTIONS),
    "calibration_curve": Call("y_prob", "prob", weighted=False, options=CURVE_OPTIONS, returns=tuple),
    "gauc_score": Call("y_score", "score", grouped=True, options=GAUC_OPTIONS),
    "auc_by_group": Call("y_score", "score", grouped=True, returns=fm.GroupTable),
    "ndcg_score": of_lists([{}, {"k": 3, "gain": "exp2", "empty": "skip"}, {"k": 2, "ideal": "k"}]),
    "dcg_score": of_lists([{}, {"k": 3, "gain": "exp2"}]),
    "ideal_dcg": of_lists([{}, {"k": 3}]),
    "cumulative_gain": of_lists([{}, {"k": 3, "ties": "optimistic"}]),
    "mean_average_precision": of_lists([{}, {"k": 3, "normalize": "hits"}]),
    "average_precision_at_k": of_lists([{"k": 4}, {"k": 2, "normalize": "relevant"}]),
    "mean_reciprocal_rank": of_lists([{}, {"ties": "pessimistic"}]),
    "mind_mrr": of_lists(),
    "expected_reciprocal_rank": of_lists([{}, {"k": 3, "max_grade": 2}]),
    "rank_biased_precision": of_lists([{}, {"p": 0.5, "k": 4}]),
    "hit_rate": of_lists([{"k": 2}, {"k": 3, "average": "micro"}]),
    "precision_at_k": of_lists([{"k": 2}, {"k": 5, "short_list": "n"}]),
    "recall_at_k": of_lists([{"k": 2}]),
    "f1_at_k": of_lists([{"k": 3}]),
    "r_precision": of_lists(),
    "bpref": of_lists(),
    "auc_at_k": of_lists([{"k": 3, "empty": "skip"}]),
    "ranking_by_group": of_lists([{"metrics": ["ndcg@3", "map", "hr(average=micro)@2"]}], fm.RankingTable),
    "accuracy_score": Call("y_pred", "pred", options=[{}, {"normalize": False}]),
    "zero_one_loss": Call("y_pred", "pred", options=[{}, {"normalize": False}]),
    "hamming_loss": Call("y_pred", "pred"),
    "balanced_accuracy_score": Call("y_pred", "pred", options=[{}, {"adjusted": True}]),
    "matthews_corrcoef": Call("y_pred", "pred"),
    "cohen_kappa_score": Call("y2", "pred", options=[{}, {"weights": "linear"}, {"weights": "quadratic"}]),
    "confusion_matrix": Call("y_pred", "pred", options=[{"normalize": n} for n in NORMALIZE], returns=np.ndarray),
    "multilabel_confusion_matrix": Call("y_pred", "pred", returns=np.ndarray),
    "top_k_accuracy_score": Call("y_score", "prob", options=[{"k": 1}, {"k": 1, "normalize": False}]),
    "precision_score": Call("y_pred", "pred", options=OF_LABELS),
    "recall_score": Call("y_pred", "pred", options=OF_LABELS),
    "f1_score": Call("y_pred", "pred", options=[{}, F_OF_MEANS, *OF_LABELS]),
    "fbeta_score": Call("y_pred", "pred", options=[{"beta": 0.5}, {"beta": 3, **F_OF_MEANS}]),
    "precision_recall_fscore_support": Call("y_pred", "pred", options=OF_LABELS, returns=tuple),
    "jaccard_score": Call("y_pred", "pred", options=[{}, *OF_LABELS]),
    "jaccard_distance": Call("y_pred", "pred", options=[{}, *OF_LABELS]),
    "specificity_score": Call("y_pred", "pred", options=[{}, *OF_LABELS]),
    "geometric_mean_score": Call("y_pred", "pred", options=[{}, *OF_LABELS]),
    "class_likelihood_ratios": Call("y_pred", "pred", options=[LABELS], returns=tuple),
    "classification_report": Call(
        "y_pred", "pred", weighted=False, options=[LABELS, {"output_dict": True, **LABELS}], returns=str
    ),
    "xauc": Call("y_score", "forecast", first="target"),
    "errors_by_group": Call("y_pred", "forecast", grouped=True, returns=fm.ErrorTable, first="target"),
    "mean_squared_error": of_numbers(),
    "root_mean_squared_error": of_numbers(),
    "mean_absolute_error": of_numbers(),
    "mean_absolute_percentage_error": of_numbers(),
    "mean_squared_log_error": of_numbers(),
    "root_mean_squared_log_error": of_numbers(),
    "mean_pinball_loss": of_numbers([{}, {"alpha": 0.1}]),
    "median_absolute_error": of_numbers(),
    "max_error": of_numbers(weighted=False),
    "r2_score": of_numbers(),
    "explained_variance_score": of_numbers(),
    "d2_absolute_error_score": of_numbers(),
    "d2_pinball_score": of_numbers([{"alpha": 0.25}]),
    "mean_tweedie_deviance": of_numbers([{"power": power} for power in (-1, 0, 1.5, 3)]),
    "mean_poisson_deviance": of_numbers(),
    "mean_gamma_deviance": of_numbers(),
    "d2_tweedie_score": of_numbers([{"power": power} for power in (0, 1, 2)]),
}
# Of points, not of rows: nothing that is promised for rows can be asked of them.
OF_POINTS = {"auc"}
# Of files, not of columns; their own tests are in test_trec.py and test_trec_files.py.
OF_FILES = {"evaluate_trec", "read_qrels", "read_run", "trec_measure_names"}
# Of rows that are sets of labels, which no log has: tests/test_label_ranking.py asks them for what is promised.
OF_SETS = {"coverage_error", "label_ranking_average_precision_score", "label_ranking_loss"}
# Of two tables or of lists, joined by item: tests/test_evaluate_ranking.py and tests/test_recommendations.py.
OF_RUNS = {"compare_runs", "evaluate_ranking", "evaluate_recommendations"}
# They take texts: tests of their own.
OF_TEXTS = {
    "compare_texts",
    "corpus_bleu",
    "corpus_chrf",
    "corpus_meteor",
    "corpus_nist",
    "corpus_ter",
    "perplexity",
    "read_segments",
    "rouge_score",
    "segment_statistics",
    "sentence_bleu",
    "sentence_chrf",
    "sentence_meteor",
    "sentence_nist",
    "sentence_ter",
    "token_nll",
    "tokenize",
}
# Of two columns of labels that have no names in common: tests of their own.
OF_PARTITIONS: set[str] = {
    "adjusted_mutual_info_score",
    "adjusted_rand_score",
    "completeness_score",
    "contingency_matrix",
    "fowlkes_mallows_score",
    "homogeneity_completeness_v_measure",
    "homogeneity_score",
    "mutual_info_score",
    "normalized_mutual_info_score",
    "pair_confusion_matrix",
    "pair_jaccard_score",
    "purity_score",
    "rand_score",
    "v_measure_score",
    *(),
}
# Of points in space and their clusters: tests of their own.
OF_FEATURES: set[str] = {
    "calinski_harabasz_score",
    "davies_bouldin_score",
    "silhouette_samples",
    "silhouette_score",
    *(),
}
# Of boxes and masks: tests of their own.
OF_BOXES: set[str] = {
    "box_iou",
    "coco_map",
    "decode_masks",
    "encode_masks",
    "mask_areas",
    "mask_iou",
    "voc_map",
    *(),
}
UNGROUPED = [name for name, call in FUNCTIONS.items() if not call.grouped]
GROUPED = [name for name, call in FUNCTIONS.items() if call.grouped]
# Tests of significance and intervals: of samples, counts and p-values. Tests of their own.
OF_TESTS: set[str] = {
    "benjamini_hochberg",
    "chi2_test",
    "delong_test",
    "mcnemar_test",
    "paired_t_test",
    "tukey_hsd",
    "two_proportion_test",
    "wilcoxon",
    "holm",
    "sign_flip_test",
    "roc_auc_interval",
    *(),
}
OF_LISTS = [name for name, call in FUNCTIONS.items() if call.grouped and not call.weighted]
WEIGHTED = [name for name, call in FUNCTIONS.items() if call.weighted]
OF_CLASSES = [name for name, call in FUNCTIONS.items() if call.first == "label"]
OF_NUMBERS = [name for name, call in FUNCTIONS.items() if call.first == "target"]
# Undefined, or unable to tell which label is which, without both: an error.
NEED_BOTH = {"clipped_rows", "det_curve", "log_loss", "top_k_accuracy_score"}
OF_PROBABILITIES = [name for name, call in FUNCTIONS.items() if call.column == "prob"]


def required(name: str) -> dict[str, Any]:
    """The options that have no default, as first listed."""
    parameters = inspect.signature(getattr(fm, name)).parameters.values()
    missing = {one.name for one in parameters if one.default is one.empty}
    return {option: value for option, value in FUNCTIONS[name].options[0].items() if option in missing}


def call(name: str, log: Log, **options: Any) -> Any:
    """One function on a log. `weight` in the log is passed on where the function takes weights."""
    how = FUNCTIONS[name]
    arguments = [log[how.first]] if how.first else []
    arguments += [log[how.column]] + ([log["group"]] if how.grouped else [])
    options = {**required(name), **options}
    if how.weighted and log.get("weight") is not None:
        options = {"sample_weight": log["weight"], **options}
    return getattr(fm, name)(*arguments, **options)


def exact(value: Any) -> Any:
    """A value as text that is equal only where every bit is."""
    if isinstance(value, float):
        return value.hex()
    if isinstance(value, np.ndarray):
        # The type may follow that of the input; the numbers are the same.
        items = value.astype(np.float64) if value.dtype.kind in "biuf" else value
        return [value.shape, [exact(item) for item in items.ravel().tolist()]]
    if isinstance(value, (tuple, list)):
        return [exact(item) for item in value]
    if isinstance(value, dict):
        return {key: exact(item) for key, item in value.items()}
    if value is None or isinstance(value, (int, str)):
        return value
    return {name: exact(getattr(value, name)) for name in value.__slots__}


def every_value(log: Log, names: list[str] | None = None, **options: Any) -> dict[str, Any]:
    """All values of all functions and options on a log. Undefined ones are NaN without their warning."""
    values = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        for name in FUNCTIONS if names is None else names:
            for choice in FUNCTIONS[name].options:
                values[f"{name}({choice})"] = exact(call(name, log, **choice, **options))
    return values


def mapped(log: Log, change: Any) -> Log:
    """The log with a change applied to every column."""
    return {name: change(column) for name, column in log.items()}


def with_weights(log: Log, seed: int = 0, integer: bool = True) -> Log:
    generator = np.random.default_rng(seed)
    rows = len(log["label"])
    weight = generator.integers(0, 5, rows).astype(np.float64) if integer else generator.random(rows)
    return {**log, "weight": weight}
