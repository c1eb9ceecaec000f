"""Rows of `bench.paired`: what is timed.

Both checkouts run this file, whatever their layout. So it and the files of this folder that it needs import only
`fastmetrics` itself, NumPy and pyarrow.

A row names its data (`paired_data.py`), and a function that binds them to a call without arguments. The call is timed.
`answer` turns what the call returns into plain values (`paired_calls.py`), which must be equal in both checkouts; it is
not timed.
"""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace as Data
from typing import Any, NamedTuple

import fastmetrics as fm
from bench.paired_calls import (
    SLICED_METRICS,
    coco_values,
    comparison_values,
    encoded,
    filled,
    four_of_one_order,
    group_values,
    halves,
    in_a_loop,
    in_batches,
    mask_rows,
    merged,
    ranking_values,
    report_values,
    restored_values,
    rouge_values,
    significance_values,
    trec_values,
    tukey_values,
    voc_values,
)

ENGINE_METRICS = ["auc", "gauc", "logloss", "ne", "copc"]
RANKING_METRICS = ["ndcg@10", "map@10", "mrr", "hr@10", "p@5", "recall@50"]
TREC_METRICS = ["map", "ndcg_cut.10", "recip_rank"]
ROUGE_TYPES = ["rouge1", "rouge2", "rougeL"]
CLICK_COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}


def unchanged(answer: Any) -> Any:
    return answer


class Row(NamedTuple):
    """One measurement."""

    name: str
    data: str
    bind: Callable[[Data], Callable[[], Any]]
    answer: Callable[[Any], Any] = unchanged


def part(divisor: int, *columns: Any) -> list[Any]:
    """The first rows, for functions that would take seconds for all."""
    return [column[: len(column) // divisor] for column in columns]


def of(name: str, columns: str, **options: Any) -> Callable[[Data], Callable[[], Any]]:
    """A function of the package, called with the named columns."""
    return lambda data: partial(getattr(fm, name), *getattr(data, columns), **options)


def evaluation(source: str, metrics: Any, **options: Any) -> Callable[[Data], Callable[[], Any]]:
    return lambda data: partial(fm.evaluate, getattr(data, source), metrics, **options)


def area_rows() -> list[Row]:
    name = "roc_auc_score"
    return [
        Row("roc_auc_score float32", "clicks", of(name, "float32")),
        Row("roc_auc_score float32, one thread", "clicks", of(name, "float32", n_threads=1)),
        Row("roc_auc_score float64", "clicks", of(name, "float64")),
        Row("roc_auc_score three-digit scores", "clicks", of(name, "tied")),
        Row("roc_auc_score sorted scores", "clicks", of(name, "ordered")),
        Row("roc_auc_score clustered scores", "clicks", of(name, "clustered")),
        Row("roc_auc_score weighted", "clicks", lambda d: partial(fm.roc_auc_score, *d.float64,
                                                                  sample_weight=d.weights)),
        Row("ScoreOrder: AUC, AP, EER and KS", "clicks", lambda d: partial(four_of_one_order, *d.float64)),
        Row("average_precision_score", "clicks", of("average_precision_score", "float64")),
        Row("equal_error_rate", "clicks", of("equal_error_rate", "float32")),
        Row("ks_statistic", "clicks", of("ks_statistic", "float32")),
        Row("log_loss", "clicks", of("log_loss", "float64")),
        Row("log_loss, one thread", "clicks", of("log_loss", "float64", n_threads=1)),
        Row("log_loss weighted", "clicks", lambda d: partial(fm.log_loss, *d.float64, sample_weight=d.weights)),
        Row("brier_score_loss", "clicks", of("brier_score_loss", "float64")),
        Row("normalized_entropy", "clicks", of("normalized_entropy", "float64")),
        Row("expected_calibration_error", "clicks", of("expected_calibration_error", "float64")),
        Row("calibration_curve", "clicks", of("calibration_curve", "float64")),
        Row("copc", "clicks", of("copc", "float64")),
        Row("roc_curve", "curves", of("roc_curve", "float64")),
        Row("precision_recall_curve", "curves", of("precision_recall_curve", "float64")),
        Row("det_curve", "curves", of("det_curve", "float32")),
    ]  # fmt: skip


def group_rows() -> list[Row]:
    def gauc(groups: str, **options: Any) -> Callable[[Data], Callable[[], Any]]:
        return lambda data: partial(fm.gauc_score, *data.columns, getattr(data, groups), **options)

    names = {
        "mean_average_precision": {"k": 10}, "mean_reciprocal_rank": {}, "hit_rate": {"k": 10},
        "recall_at_k": {"k": 50},
    }  # fmt: skip
    return [
        Row("gauc_score int64 ids", "users", gauc("ids")),
        Row("gauc_score int64 ids, one thread", "users", gauc("ids", n_threads=1)),
        Row("gauc_score Arrow string ids", "users", gauc("names")),
        Row("gauc_score weighted", "users",
            lambda d: partial(fm.gauc_score, *part(20, *d.columns, d.ids), sample_weight=part(20, d.weights)[0])),
        Row("auc_by_group", "users", lambda d: partial(fm.auc_by_group, *d.columns, d.ids), group_values),
        Row("ndcg_score k=10 of clicks", "lists", of("ndcg_score", "clicks", k=10)),
        Row("ndcg_score k=10 of grades", "lists", of("ndcg_score", "grades", k=10)),
        *(Row(f"{name} by group", "lists", of(name, "grades", **options)) for name, options in names.items()),
        Row("evaluate, six ranking metrics", "lists",
            evaluation("log", RANKING_METRICS, label="label", score="score", group="list"), report_values),
        Row("ndcg_score of matrices", "lists", of("ndcg_score", "matrices")),
        Row("label_ranking_average_precision_score", "lists",
            of("label_ranking_average_precision_score", "label_sets")),
        Row("evaluate_ranking of dicts", "runs", of("evaluate_ranking", "nested", metrics=["ndcg@10", "map", "mrr"]),
            ranking_values),
        Row("evaluate_ranking of tables", "runs", of("evaluate_ranking", "tables", metrics=["ndcg@10", "map", "mrr"]),
            ranking_values),
        Row("evaluate_recommendations", "runs",
            of("evaluate_recommendations", "recommendations", metrics=["ndcg@10", "map", "mrr"]), ranking_values),
        Row("compare_runs, t test", "runs", of("compare_runs", "compared", metrics=["map", "ndcg@10"], test="t"),
            comparison_values),
        Row("compare_runs, sign-flip test", "runs", of("compare_runs", "compared", metrics=["map", "ndcg@10"]),
            comparison_values),
        Row("evaluate_trec of files", "trec", of("evaluate_trec", "paths", metrics=TREC_METRICS), trec_values),
        Row("evaluate_trec of files, one thread", "trec",
            of("evaluate_trec", "paths", metrics=TREC_METRICS, n_threads=1), trec_values),
    ]  # fmt: skip


def class_rows() -> list[Row]:
    return [
        Row("confusion_matrix int8", "classes", of("confusion_matrix", "binary")),
        Row("confusion_matrix 100 classes", "classes", of("confusion_matrix", "hundred")),
        Row("confusion_matrix NumPy strings", "classes", of("confusion_matrix", "texts")),
        Row("accuracy_score int8", "classes", of("accuracy_score", "binary")),
        Row("f1_score int8", "classes", of("f1_score", "binary")),
        Row("matthews_corrcoef 100 classes", "classes", of("matthews_corrcoef", "hundred")),
        Row("cohen_kappa_score 100 classes", "classes", of("cohen_kappa_score", "hundred")),
        Row("classification_report 100 classes", "classes", of("classification_report", "hundred")),
        Row("classification_report NumPy strings", "classes", of("classification_report", "texts")),
        Row("precision_recall_fscore_support Arrow strings", "classes",
            of("precision_recall_fscore_support", "arrow_texts")),
        Row("root_mean_squared_error", "errors", of("root_mean_squared_error", "columns")),
        Row("mean_absolute_error", "errors", of("mean_absolute_error", "columns")),
        Row("r2_score", "errors", of("r2_score", "columns")),
        Row("median_absolute_error", "errors", of("median_absolute_error", "columns")),
        Row("xauc", "errors", lambda d: partial(fm.xauc, *part(8, *d.columns))),
        Row("errors_by_group", "errors", lambda d: partial(fm.errors_by_group, *part(2, *d.columns, d.groups)),
            lambda table: [table.group, table.n, table.bias, table.mae, table.mse]),
    ]  # fmt: skip


def text_rows() -> list[Row]:
    tokenizers = ("13a", "intl", "char", "alphanumeric")
    loops = {"sentence_bleu": 500, "sentence_chrf": 500}
    return [
        Row("corpus_bleu 13a", "texts", of("corpus_bleu", "pairs")),
        Row("corpus_bleu 13a, one thread", "texts", of("corpus_bleu", "pairs", n_threads=1)),
        Row("corpus_bleu of tokens", "texts", of("corpus_bleu", "tokens")),
        Row("corpus_chrf", "texts", of("corpus_chrf", "pairs")),
        Row("corpus_chrf, words too", "texts", of("corpus_chrf", "pairs", word_order=2)),
        Row("corpus_ter", "texts", of("corpus_ter", "few")),
        Row("corpus_nist", "texts", of("corpus_nist", "pairs")),
        Row("corpus_meteor, exact and stem", "texts", of("corpus_meteor", "pairs", modules=("exact", "stem"))),
        Row("rouge_score 1, 2 and L", "texts", of("rouge_score", "pairs", types=ROUGE_TYPES), rouge_values),
        Row("rouge_score stemmed", "texts", of("rouge_score", "pairs", types=ROUGE_TYPES, stem=True), rouge_values),
        *(Row(f"{name}, a loop", "texts", lambda d, name=name, n=n: partial(in_a_loop, getattr(fm, name), d.pairs, n))
          for name, n in loops.items()),
        *(Row(f"tokenize {name}", "texts", lambda d, name=name: partial(fm.tokenize, d.pairs[1], name))
          for name in tokenizers),
        Row("compare_texts, bootstrap", "texts", of("compare_texts", "systems"), comparison_values),
        Row("compare_texts, randomization", "texts", of("compare_texts", "systems", test="randomization"),
            comparison_values),
        Row("evaluate, bleu, chrf and rougeL of Parquet", "texts", evaluation("path", ["bleu", "chrf", "rougeL"]),
            report_values),
    ]  # fmt: skip


def partition_rows() -> list[Row]:
    return [
        Row("adjusted_rand_score 100 x 100", "partitions", of("adjusted_rand_score", "few")),
        Row("adjusted_rand_score Arrow strings", "partitions", of("adjusted_rand_score", "texts")),
        Row("adjusted_rand_score many labels", "partitions", of("adjusted_rand_score", "many")),
        Row("mutual_info_score 100 x 100", "partitions", of("mutual_info_score", "few")),
        Row("adjusted_mutual_info_score 1,000 x 1,000", "partitions", of("adjusted_mutual_info_score", "thousand")),
        Row("silhouette_score float64", "partitions", of("silhouette_score", "points")),
        Row("silhouette_score float32", "partitions", of("silhouette_score", "points32")),
        Row("davies_bouldin_score", "partitions", of("davies_bouldin_score", "points")),
        Row("evaluate, ari and nmi of Parquet", "partitions", evaluation("path", ["ari", "nmi"]), report_values),
    ]


def detection_rows() -> list[Row]:
    return [
        Row("coco_map of dicts", "detections", of("coco_map", "dicts"), coco_values),
        Row("coco_map of arrays", "detections", of("coco_map", "columns"), coco_values),
        Row("coco_map of arrays, one thread", "detections", of("coco_map", "columns", n_threads=1), coco_values),
        Row("coco_map of JSON files", "detections", of("coco_map", "paths"), coco_values),
        Row("voc_map", "detections", of("voc_map", "voc", box="xywh"), voc_values),
        Row("box_iou 2,000 x 3,000", "detections", of("box_iou", "boxes", box="xyxy")),
        Row("encode_masks of polygons", "masks", lambda d: partial(encoded, d.polygons)),
        Row("mask_iou 1,000 x 1,000", "masks",
            lambda d: partial(fm.mask_iou, encoded(d.polygons[:1000]), encoded(d.moved[:1000]))),
        Row("decode_masks", "masks", lambda d: partial(fm.decode_masks, encoded(d.polygons[:200]))),
        Row("coco_map of masks", "masks", lambda d: partial(fm.coco_map, *mask_rows(d), iou_type="segm"), coco_values),
    ]  # fmt: skip


def significance_rows() -> list[Row]:
    return [
        Row("delong_test", "significance", of("delong_test", "models"), significance_values),
        Row("roc_auc_interval", "significance", lambda d: partial(fm.roc_auc_interval, *d.models[:2]),
            lambda found: (found.auc, found.ci_low, found.ci_high)),
        Row("sign_flip_test", "significance", lambda d: partial(fm.sign_flip_test, d.differences), significance_values),
        Row("chi2_test 2 x 2", "significance", lambda d: partial(fm.chi2_test, d.table), significance_values),
        Row("mcnemar_test", "significance", lambda d: partial(fm.mcnemar_test, d.table), significance_values),
        Row("paired_t_test of 40 pairs", "significance", of("paired_t_test", "pairs"), significance_values),
        Row("wilcoxon of 40 pairs", "significance", of("wilcoxon", "pairs"), significance_values),
        Row("tukey_hsd of 10 systems", "significance", of("tukey_hsd", "samples"), tukey_values),
    ]  # fmt: skip


def engine_rows() -> list[Row]:
    models = {"label": "click", "group": "user_id", "score": ["a", "b", "c"], "by": "channel"}
    states = {"label": "click", "score": "a", "group": "user_id"}
    resampled = {**CLICK_COLUMNS, "ci": 0.95}
    return [
        Row("evaluate, five metrics of Parquet", "log", evaluation("path", ENGINE_METRICS, **CLICK_COLUMNS),
            report_values),
        Row("evaluate, five metrics of Parquet, one thread", "log",
            evaluation("path", ENGINE_METRICS, **CLICK_COLUMNS, n_threads=1), report_values),
        Row("evaluate, logloss of Parquet", "log", evaluation("path", ["logloss"], label="click", score="pctr"),
            report_values),
        Row("evaluate, five metrics of CSV", "log", evaluation("csv_path", ENGINE_METRICS, **CLICK_COLUMNS),
            report_values),
        Row("evaluate with a spill file", "log",
            lambda d: partial(fm.evaluate, d.short_path, SLICED_METRICS, **CLICK_COLUMNS, memory_limit=d.limit,
                              spill_dir=d.folder), report_values),
        Row("evaluate of 3 scores x 64 slices", "sliced", evaluation("path", SLICED_METRICS, **models), report_values),
        Row("evaluate of an Arrow table", "sliced", evaluation("table", SLICED_METRICS, **states), report_values),
        Row("Accumulator in batches of 64k", "sliced", lambda d: partial(in_batches, d.batches), report_values),
        Row("Accumulator.to_bytes", "sliced", lambda d: filled(d.table).to_bytes, restored_values),
        Row("Accumulator.from_bytes, merge, result", "sliced", lambda d: partial(merged, halves(d.table)),
            report_values),
        Row("evaluate, gauc with ci by user", "replicates", evaluation("log", ["gauc"], **resampled), report_values),
        Row("evaluate, auc with ci by user", "replicates", evaluation("log", ["auc"], **resampled, unit="user_id"),
            report_values),
        Row("evaluate, logloss with ci by user", "replicates",
            evaluation("log", ["logloss"], **resampled, unit="user_id", replicates=200), report_values),
        Row("compare two models, gauc and logloss", "replicates",
            lambda d: partial(fm.compare, d.short_log, ["gauc", "logloss"], score=["pctr", "other"], label="click",
                              group="user_id", replicates=200), comparison_values),
    ]  # fmt: skip


def small_rows() -> list[Row]:
    """Calls of a few microseconds, which a training loop feels."""
    functions = {
        "classes": ["accuracy_score", "classification_report", "cohen_kappa_score", "confusion_matrix", "f1_score",
                    "matthews_corrcoef", "adjusted_rand_score"],
        "scores": ["average_precision_score", "brier_score_loss", "calibration_curve", "log_loss",
                   "normalized_entropy", "precision_recall_curve", "roc_auc_score", "roc_curve"],
        "values": ["max_error", "mean_squared_error", "r2_score"],
        "sets": ["label_ranking_loss", "ndcg_score"],
        "boxes": ["box_iou"],
    }  # fmt: skip
    return [
        *(
            Row(f"small: {name}", "small", of(name, columns))
            for columns, names in functions.items()
            for name in names
        ),
        Row("small: gauc_score", "small", lambda d: partial(fm.gauc_score, *d.scores, d.users)),
        Row("small: sentence_bleu", "small", of("sentence_bleu", "sentence")),
        Row("small: evaluate of a dict", "small", evaluation("log", ENGINE_METRICS, **CLICK_COLUMNS), report_values),
    ]


ROWS = [
    *area_rows(), *group_rows(), *class_rows(), *text_rows(), *partition_rows(), *detection_rows(),
    *significance_rows(), *engine_rows(), *small_rows(),
]  # fmt: skip
