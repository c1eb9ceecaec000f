"""Evaluation metrics, exact, order-free and at memory speed.

This file only gathers the public names from the floors below, each at its first use: who counts labels loads neither
regression nor the engine.
"""

from importlib import import_module
from typing import TYPE_CHECKING

from fastmetrics._core import registry
from fastmetrics._core.registry import describe_metrics, list_metrics
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._version import __version__

if TYPE_CHECKING:
    from fastmetrics._core.comparison import Comparison, Difference
    from fastmetrics.engine.accumulator import Accumulator
    from fastmetrics.engine.comparing import compare
    from fastmetrics.engine.evaluate import evaluate
    from fastmetrics.engine.report import Report, Result
    from fastmetrics.metrics.calibration import *
    from fastmetrics.metrics.classification import *
    from fastmetrics.metrics.clustering import *
    from fastmetrics.metrics.curves import *
    from fastmetrics.metrics.detection import *
    from fastmetrics.metrics.probability import *
    from fastmetrics.metrics.ranking import *
    from fastmetrics.metrics.regression import *
    from fastmetrics.metrics.significance import *
    from fastmetrics.metrics.text import *

# Where the public names are; tests/test_common.py holds it against what each module says of itself.
NAMES = {
    "_core.comparison": ["Comparison", "Difference"],
    "engine.accumulator": ["Accumulator"],
    "engine.comparing": ["compare"],
    "engine.evaluate": ["evaluate"],
    "engine.report": ["Report", "Result"],
    "metrics.calibration": ["calibration_curve", "copc", "expected_calibration_error", "pcoc"],
    "metrics.classification": [
        "accuracy_score", "balanced_accuracy_score", "class_likelihood_ratios", "classification_report",
        "cohen_kappa_score", "confusion_matrix", "f1_score", "fbeta_score", "geometric_mean_score",
        "hamming_loss", "jaccard_distance", "jaccard_score", "matthews_corrcoef", "multilabel_confusion_matrix",
        "precision_recall_fscore_support", "precision_score", "recall_score", "specificity_score",
        "top_k_accuracy_score", "zero_one_loss",
    ],
    "metrics.clustering": [
        "adjusted_mutual_info_score",
        "adjusted_rand_score",
        "calinski_harabasz_score",
        "completeness_score",
        "contingency_matrix",
        "davies_bouldin_score",
        "fowlkes_mallows_score",
        "homogeneity_completeness_v_measure",
        "homogeneity_score",
        "mutual_info_score",
        "normalized_mutual_info_score",
        "pair_confusion_matrix",
        "pair_jaccard_score",
        "purity_score",
        "rand_score",
        "silhouette_samples",
        "silhouette_score",
        "v_measure_score",
    ],
    "metrics.curves": [
        "BestThreshold", "EqualErrorRate", "ScoreOrder", "auc", "average_precision_score", "best_threshold",
        "det_curve", "equal_error_rate", "far_frr_curve", "ks_statistic", "lift_curve", "partial_auc_score",
        "precision_recall_curve", "roc_auc_score", "roc_curve",
    ],
    "metrics.detection": [
        "COCO",
        "COCOeval",
        "CategoryTable",
        "CocoResult",
        "VocResult",
        "box_iou",
        "coco_map",
        "decode_masks",
        "encode_masks",
        "mask_areas",
        "mask_iou",
        "voc_map",
    ],
    "metrics.probability": [
        "brier_score_loss", "clipped_rows", "d2_brier_score", "d2_log_loss_score", "log_loss",
        "negative_log_likelihood", "normalized_entropy",
    ],
    "metrics.ranking": [
        "GroupTable", "RankingResult", "RankingTable", "TrecQrels", "TrecResult", "TrecRun", "auc_at_k",
        "auc_by_group", "average_precision_at_k", "bpref", "compare_runs", "coverage_error", "cumulative_gain",
        "dcg_score",
        "evaluate_ranking", "evaluate_recommendations", "evaluate_trec", "expected_reciprocal_rank", "f1_at_k",
        "gauc_score", "hit_rate", "ideal_dcg", "label_ranking_average_precision_score", "label_ranking_loss",
        "mean_average_precision", "mean_reciprocal_rank", "mind_mrr", "ndcg_score", "precision_at_k",
        "r_precision", "rank_biased_precision", "ranking_by_group", "read_qrels", "read_run", "recall_at_k",
        "trec_measure_names",
    ],
    "metrics.regression": [
        "ErrorTable", "d2_absolute_error_score", "d2_pinball_score", "d2_tweedie_score", "errors_by_group",
        "explained_variance_score", "max_error", "mean_absolute_error", "mean_absolute_percentage_error",
        "mean_gamma_deviance", "mean_pinball_loss", "mean_poisson_deviance", "mean_squared_error",
        "mean_squared_log_error", "mean_tweedie_deviance", "median_absolute_error", "r2_score",
        "root_mean_squared_error", "root_mean_squared_log_error", "xauc",
    ],
    "metrics.significance": [
        "AucInterval",
        "Estimate",
        "SignificanceResult",
        "benjamini_hochberg",
        "chi2_test",
        "delong_test",
        "mcnemar_test",
        "paired_t_test",
        "TukeyResult",
        "tukey_hsd",
        "two_proportion_test",
        "wilcoxon",
        "holm",
        "sign_flip_test",
        "roc_auc_interval",
    ],
    "metrics.text": [
        "BleuScore",
        "ChrfScore",
        "MeteorScore",
        "NistScore",
        "RougeResult",
        "RougeScore",
        "SegmentStatistics",
        "SystemScore",
        "TerScore",
        "TextComparison",
        "TextFile",
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
    ],
}  # fmt: skip
registry.FAMILIES += [f"{__name__}.{module}" for module in NAMES if module.startswith("metrics.")]
registry.PAGES["comparison"] = f"{__name__}.engine.comparison_page"

__all__ = [
    "Accumulator",
    "Comparison",
    "Difference",
    "Report",
    "Result",
    "UndefinedMetricWarning",
    "__version__",
    "compare",
    "describe_metrics",
    "evaluate",
    "list_metrics",
]

if not TYPE_CHECKING:  # else no misspelt name is an error to a type checker
    PLACES = {name: module for module, names in NAMES.items() for name in names}
    __all__ += [name for name in PLACES if name not in __all__]

    def __getattr__(name: str) -> object:
        if name not in PLACES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = import_module(f"{__name__}.{PLACES[name]}")
        globals().update({own: getattr(module, own) for own in NAMES[PLACES[name]]})
        return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
