"""The public names. `python tools/generate.py` writes this file from the `__all__` of the modules.

Type checkers and editors read it, and so does fastmetrics/__init__.py: a name's module is imported at the first use.
"""

from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from fastmetrics._core.comparison.sample_sizes import sample_size
from fastmetrics._core.comparison.test_results import Estimate
from fastmetrics._core.comparison.test_results import SignificanceResult
from fastmetrics._core.metric_spec import MetricSpec
from fastmetrics._core.registry.metric_table import MetricTable
from fastmetrics._core.registry.metric_table import list_metrics
from fastmetrics._core.registry.parsed_metric import Metric
from fastmetrics._core.undefined import UndefinedMetricWarning
from fastmetrics._version import __version__
from fastmetrics.engine.accumulator import Accumulator
from fastmetrics.engine.compare import compare
from fastmetrics.engine.compare_reports import compare_reports
from fastmetrics.engine.evaluate import evaluate
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.plan.tasks import Task
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.results.result import Result
from fastmetrics.engine.training_metrics import TrainingMetrics
from fastmetrics.metrics.calibration.calibration_curve import calibration_curve
from fastmetrics.metrics.calibration.copc import copc
from fastmetrics.metrics.calibration.copc import pcoc
from fastmetrics.metrics.calibration.expected_calibration_error import expected_calibration_error
from fastmetrics.metrics.classification.accuracy import accuracy_score
from fastmetrics.metrics.classification.accuracy import zero_one_loss
from fastmetrics.metrics.classification.balanced_accuracy import balanced_accuracy_score
from fastmetrics.metrics.classification.classification_report import classification_report
from fastmetrics.metrics.classification.cohen_kappa import cohen_kappa_score
from fastmetrics.metrics.classification.confusion_matrix import confusion_matrix
from fastmetrics.metrics.classification.confusion_matrix import multilabel_confusion_matrix
from fastmetrics.metrics.classification.geometric_mean import geometric_mean_score
from fastmetrics.metrics.classification.hamming_loss import hamming_loss
from fastmetrics.metrics.classification.jaccard import jaccard_distance
from fastmetrics.metrics.classification.jaccard import jaccard_score
from fastmetrics.metrics.classification.likelihood_ratios import class_likelihood_ratios
from fastmetrics.metrics.classification.matthews_corrcoef import matthews_corrcoef
from fastmetrics.metrics.classification.precision_recall_fscore import f1_score
from fastmetrics.metrics.classification.precision_recall_fscore import fbeta_score
from fastmetrics.metrics.classification.precision_recall_fscore import precision_recall_fscore_support
from fastmetrics.metrics.classification.precision_recall_fscore import precision_score
from fastmetrics.metrics.classification.precision_recall_fscore import recall_score
from fastmetrics.metrics.classification.specificity import specificity_score
from fastmetrics.metrics.classification.top_k_accuracy import top_k_accuracy_score
from fastmetrics.metrics.clustering.calinski_harabasz import calinski_harabasz_score
from fastmetrics.metrics.clustering.contingency import contingency_matrix
from fastmetrics.metrics.clustering.davies_bouldin import davies_bouldin_score
from fastmetrics.metrics.clustering.entropy import entropy
from fastmetrics.metrics.clustering.fowlkes_mallows import fowlkes_mallows_score
from fastmetrics.metrics.clustering.mutual_info import adjusted_mutual_info_score
from fastmetrics.metrics.clustering.mutual_info import expected_mutual_information
from fastmetrics.metrics.clustering.mutual_info import mutual_info_score
from fastmetrics.metrics.clustering.mutual_info import normalized_mutual_info_score
from fastmetrics.metrics.clustering.pair_confusion_matrix import pair_confusion_matrix
from fastmetrics.metrics.clustering.pair_jaccard import pair_jaccard_score
from fastmetrics.metrics.clustering.purity import purity_score
from fastmetrics.metrics.clustering.rand_index import adjusted_rand_score
from fastmetrics.metrics.clustering.rand_index import rand_score
from fastmetrics.metrics.clustering.silhouette import silhouette_samples
from fastmetrics.metrics.clustering.silhouette import silhouette_score
from fastmetrics.metrics.clustering.v_measure import completeness_score
from fastmetrics.metrics.clustering.v_measure import homogeneity_completeness_v_measure
from fastmetrics.metrics.clustering.v_measure import homogeneity_score
from fastmetrics.metrics.clustering.v_measure import v_measure_score
from fastmetrics.metrics.curves.auc import auc
from fastmetrics.metrics.curves.auc import partial_auc_score
from fastmetrics.metrics.curves.auc import roc_auc_score
from fastmetrics.metrics.curves.average_precision import average_precision_score
from fastmetrics.metrics.curves.best_threshold import BestThreshold
from fastmetrics.metrics.curves.best_threshold import best_threshold
from fastmetrics.metrics.curves.confusion_matrix_at_thresholds import confusion_matrix_at_thresholds
from fastmetrics.metrics.curves.det_curve import det_curve
from fastmetrics.metrics.curves.eer import EqualErrorRate
from fastmetrics.metrics.curves.eer import equal_error_rate
from fastmetrics.metrics.curves.far_frr_curve import far_frr_curve
from fastmetrics.metrics.curves.ks import ks_statistic
from fastmetrics.metrics.curves.lift import lift
from fastmetrics.metrics.curves.lift_curve import lift_curve
from fastmetrics.metrics.curves.metric_at_thresholds import metric_at_thresholds
from fastmetrics.metrics.curves.precision_recall_curve import precision_recall_curve
from fastmetrics.metrics.curves.roc_curve import roc_curve
from fastmetrics.metrics.curves.score_order import ScoreOrder
from fastmetrics.metrics.detection.box_iou import box_iou
from fastmetrics.metrics.detection.coco.coco_index import COCO
from fastmetrics.metrics.detection.coco.coco_map import coco_map
from fastmetrics.metrics.detection.coco.cocoeval import COCOeval
from fastmetrics.metrics.detection.coco.result import CategoryTable
from fastmetrics.metrics.detection.coco.result import CocoResult
from fastmetrics.metrics.detection.masks.mask import decode_masks
from fastmetrics.metrics.detection.masks.mask import encode_masks
from fastmetrics.metrics.detection.masks.mask import mask_areas
from fastmetrics.metrics.detection.masks.mask import mask_iou
from fastmetrics.metrics.detection.voc.voc_map import VocResult
from fastmetrics.metrics.detection.voc.voc_map import voc_map
from fastmetrics.metrics.probability.brier_score import brier_score_loss
from fastmetrics.metrics.probability.brier_score import d2_brier_score
from fastmetrics.metrics.probability.hinge_loss import hinge_loss
from fastmetrics.metrics.probability.log_loss import clipped_rows
from fastmetrics.metrics.probability.log_loss import d2_log_loss_score
from fastmetrics.metrics.probability.log_loss import log_loss
from fastmetrics.metrics.probability.negative_log_likelihood import negative_log_likelihood
from fastmetrics.metrics.probability.normalized_entropy import normalized_entropy
from fastmetrics.metrics.ranking.auc_at_k import auc_at_k
from fastmetrics.metrics.ranking.auc_by_group import GroupTable
from fastmetrics.metrics.ranking.auc_by_group import auc_by_group
from fastmetrics.metrics.ranking.bpref import bpref
from fastmetrics.metrics.ranking.dcg import cumulative_gain
from fastmetrics.metrics.ranking.dcg import dcg_score
from fastmetrics.metrics.ranking.dcg import ideal_dcg
from fastmetrics.metrics.ranking.err import expected_reciprocal_rank
from fastmetrics.metrics.ranking.gauc import gauc_score
from fastmetrics.metrics.ranking.hit_rate import hit_rate
from fastmetrics.metrics.ranking.label_ranking import coverage_error
from fastmetrics.metrics.ranking.label_ranking import label_ranking_average_precision_score
from fastmetrics.metrics.ranking.label_ranking import label_ranking_loss
from fastmetrics.metrics.ranking.mean_average_precision import average_precision_at_k
from fastmetrics.metrics.ranking.mean_average_precision import mean_average_precision
from fastmetrics.metrics.ranking.mrr import mean_reciprocal_rank
from fastmetrics.metrics.ranking.mrr import mind_mrr
from fastmetrics.metrics.ranking.ndcg import ndcg_score
from fastmetrics.metrics.ranking.precision_at_k import f1_at_k
from fastmetrics.metrics.ranking.precision_at_k import precision_at_k
from fastmetrics.metrics.ranking.precision_at_k import recall_at_k
from fastmetrics.metrics.ranking.r_precision import r_precision
from fastmetrics.metrics.ranking.ranking_by_group import ranking_by_group
from fastmetrics.metrics.ranking.rbp import rank_biased_precision
from fastmetrics.metrics.ranking.runs.compare_runs import compare_runs
from fastmetrics.metrics.ranking.runs.evaluate_ranking import evaluate_ranking
from fastmetrics.metrics.ranking.runs.evaluate_recommendations import evaluate_recommendations
from fastmetrics.metrics.ranking.runs.evaluate_trec import TrecResult
from fastmetrics.metrics.ranking.runs.evaluate_trec import evaluate_trec
from fastmetrics.metrics.ranking.runs.ranking_result import RankingResult
from fastmetrics.metrics.ranking.runs.ranking_result import RankingTable
from fastmetrics.metrics.ranking.runs.trec_files import TrecQrels
from fastmetrics.metrics.ranking.runs.trec_files import TrecRun
from fastmetrics.metrics.ranking.runs.trec_files import read_qrels
from fastmetrics.metrics.ranking.runs.trec_files import read_run
from fastmetrics.metrics.ranking.runs.trec_metric_names import trec_metric_names
from fastmetrics.metrics.regression.d2_pinball_score import d2_absolute_error_score
from fastmetrics.metrics.regression.d2_pinball_score import d2_pinball_score
from fastmetrics.metrics.regression.errors_by_group import ErrorTable
from fastmetrics.metrics.regression.errors_by_group import errors_by_group
from fastmetrics.metrics.regression.max_error import max_error
from fastmetrics.metrics.regression.mean_absolute_error import mean_absolute_error
from fastmetrics.metrics.regression.mean_absolute_percentage_error import mean_absolute_percentage_error
from fastmetrics.metrics.regression.mean_pinball_loss import mean_pinball_loss
from fastmetrics.metrics.regression.mean_squared_error import mean_squared_error
from fastmetrics.metrics.regression.mean_squared_error import root_mean_squared_error
from fastmetrics.metrics.regression.mean_squared_log_error import mean_squared_log_error
from fastmetrics.metrics.regression.mean_squared_log_error import root_mean_squared_log_error
from fastmetrics.metrics.regression.median_absolute_error import median_absolute_error
from fastmetrics.metrics.regression.r2_score import explained_variance_score
from fastmetrics.metrics.regression.r2_score import r2_score
from fastmetrics.metrics.regression.tweedie_deviance import d2_tweedie_score
from fastmetrics.metrics.regression.tweedie_deviance import mean_gamma_deviance
from fastmetrics.metrics.regression.tweedie_deviance import mean_poisson_deviance
from fastmetrics.metrics.regression.tweedie_deviance import mean_tweedie_deviance
from fastmetrics.metrics.regression.xauc import xauc
from fastmetrics.metrics.significance.chi2_test import chi2_test
from fastmetrics.metrics.significance.delong import AucInterval
from fastmetrics.metrics.significance.delong import delong_test
from fastmetrics.metrics.significance.delong import roc_auc_interval
from fastmetrics.metrics.significance.mcnemar_test import mcnemar_test
from fastmetrics.metrics.significance.multiple_testing import benjamini_hochberg
from fastmetrics.metrics.significance.multiple_testing import holm
from fastmetrics.metrics.significance.paired_t_test import paired_t_test
from fastmetrics.metrics.significance.sign_flip_test import sign_flip_test
from fastmetrics.metrics.significance.tukey_hsd import TukeyResult
from fastmetrics.metrics.significance.tukey_hsd import tukey_hsd
from fastmetrics.metrics.significance.two_proportion_test import two_proportion_test
from fastmetrics.metrics.significance.wilcoxon import wilcoxon
from fastmetrics.metrics.text.bleu import BleuScore
from fastmetrics.metrics.text.bleu import corpus_bleu
from fastmetrics.metrics.text.bleu import sentence_bleu
from fastmetrics.metrics.text.chrf import ChrfScore
from fastmetrics.metrics.text.chrf import corpus_chrf
from fastmetrics.metrics.text.chrf import sentence_chrf
from fastmetrics.metrics.text.compare_texts import SystemScore
from fastmetrics.metrics.text.compare_texts import TextComparison
from fastmetrics.metrics.text.compare_texts import compare_texts
from fastmetrics.metrics.text.inputs.segment_files import TextFile
from fastmetrics.metrics.text.inputs.segment_files import read_segments
from fastmetrics.metrics.text.meteor import MeteorScore
from fastmetrics.metrics.text.meteor import corpus_meteor
from fastmetrics.metrics.text.meteor import sentence_meteor
from fastmetrics.metrics.text.nist import NistScore
from fastmetrics.metrics.text.nist import corpus_nist
from fastmetrics.metrics.text.nist import sentence_nist
from fastmetrics.metrics.text.perplexity import perplexity
from fastmetrics.metrics.text.perplexity import token_nll
from fastmetrics.metrics.text.rouge import rouge_score
from fastmetrics.metrics.text.rouge_result import RougeResult
from fastmetrics.metrics.text.rouge_result import RougeScore
from fastmetrics.metrics.text.segment_statistics import SegmentStatistics
from fastmetrics.metrics.text.segment_statistics import segment_statistics
from fastmetrics.metrics.text.ter import TerScore
from fastmetrics.metrics.text.ter import corpus_ter
from fastmetrics.metrics.text.ter import sentence_ter
from fastmetrics.metrics.text.tokens.tokenizers import tokenize

__all__ = [
    "Accumulator", "AucInterval", "BestThreshold", "BleuScore", "COCO", "COCOeval", "CategoryTable", "ChrfScore",
    "CocoResult", "Comparison", "Difference", "EqualErrorRate", "ErrorTable", "Estimate", "Evaluation", "GroupTable",
    "MeteorScore", "Metric", "MetricSpec", "MetricTable", "NistScore", "RankingResult", "RankingTable", "Report",
    "Result", "RougeResult", "RougeScore", "ScoreOrder", "SegmentStatistics", "SignificanceResult", "SystemScore",
    "Task", "TerScore", "TextComparison", "TextFile", "TrainingMetrics", "TrecQrels", "TrecResult", "TrecRun",
    "TukeyResult", "UndefinedMetricWarning", "VocResult", "__version__", "accuracy_score", "adjusted_mutual_info_score",
    "adjusted_rand_score", "auc", "auc_at_k", "auc_by_group", "average_precision_at_k", "average_precision_score",
    "balanced_accuracy_score", "benjamini_hochberg", "best_threshold", "box_iou", "bpref", "brier_score_loss",
    "calibration_curve", "calinski_harabasz_score", "chi2_test", "class_likelihood_ratios", "classification_report",
    "clipped_rows", "coco_map", "cohen_kappa_score", "compare", "compare_reports", "compare_runs", "compare_texts",
    "completeness_score", "confusion_matrix", "confusion_matrix_at_thresholds", "contingency_matrix", "copc",
    "corpus_bleu", "corpus_chrf", "corpus_meteor", "corpus_nist", "corpus_ter", "coverage_error", "cumulative_gain",
    "d2_absolute_error_score", "d2_brier_score", "d2_log_loss_score", "d2_pinball_score", "d2_tweedie_score",
    "davies_bouldin_score", "dcg_score", "decode_masks", "delong_test", "det_curve", "encode_masks", "entropy",
    "equal_error_rate", "errors_by_group", "evaluate", "evaluate_ranking", "evaluate_recommendations", "evaluate_trec",
    "expected_calibration_error", "expected_mutual_information", "expected_reciprocal_rank", "explained_variance_score",
    "f1_at_k", "f1_score", "far_frr_curve", "fbeta_score", "fowlkes_mallows_score", "gauc_score",
    "geometric_mean_score", "hamming_loss", "hinge_loss", "hit_rate", "holm", "homogeneity_completeness_v_measure",
    "homogeneity_score", "ideal_dcg", "jaccard_distance", "jaccard_score", "ks_statistic",
    "label_ranking_average_precision_score", "label_ranking_loss", "lift", "lift_curve", "list_metrics", "log_loss",
    "mask_areas", "mask_iou", "matthews_corrcoef", "max_error", "mcnemar_test", "mean_absolute_error",
    "mean_absolute_percentage_error", "mean_average_precision", "mean_gamma_deviance", "mean_pinball_loss",
    "mean_poisson_deviance", "mean_reciprocal_rank", "mean_squared_error", "mean_squared_log_error",
    "mean_tweedie_deviance", "median_absolute_error", "metric_at_thresholds", "mind_mrr", "multilabel_confusion_matrix",
    "mutual_info_score", "ndcg_score", "negative_log_likelihood", "normalized_entropy", "normalized_mutual_info_score",
    "pair_confusion_matrix", "pair_jaccard_score", "paired_t_test", "partial_auc_score", "pcoc", "perplexity",
    "precision_at_k", "precision_recall_curve", "precision_recall_fscore_support", "precision_score", "purity_score",
    "r2_score", "r_precision", "rand_score", "rank_biased_precision", "ranking_by_group", "read_qrels", "read_run",
    "read_segments", "recall_at_k", "recall_score", "roc_auc_interval", "roc_auc_score", "roc_curve",
    "root_mean_squared_error", "root_mean_squared_log_error", "rouge_score", "sample_size", "segment_statistics",
    "sentence_bleu", "sentence_chrf", "sentence_meteor", "sentence_nist", "sentence_ter", "sign_flip_test",
    "silhouette_samples", "silhouette_score", "specificity_score", "token_nll", "tokenize", "top_k_accuracy_score",
    "trec_metric_names", "tukey_hsd", "two_proportion_test", "v_measure_score", "voc_map", "wilcoxon", "xauc",
    "zero_one_loss",
]
