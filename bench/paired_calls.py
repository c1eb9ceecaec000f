"""Calls of `bench.paired` that are more than one function, and answers as plain values for the comparison."""

from collections.abc import Callable
from types import SimpleNamespace as Data
from typing import Any

import pyarrow as pa

import fastmetrics as fm
from bench.paired_data import MASK_HEIGHT, MASK_WIDTH, N_MASK_CATEGORIES

SLICED_METRICS = ["auc", "gauc", "logloss"]


# --- answers as plain values ------------------------------------------------------------------------------------------


def report_values(report: Any) -> list[Any]:
    """Signatures are left out: they name the version."""
    return [
        [one.metric, one.score, dict(one.slice), one.value, one.interval, one.standard_error] for one in report.results
    ]


def comparison_values(comparison: Any) -> list[Any]:
    return [
        [one.metric, one.baseline_value, one.other_value, one.difference, one.pvalue, one.interval, one.won, one.lost]
        for one in comparison
    ]


def significance_values(result: Any) -> tuple[Any, ...]:
    return result.statistic, result.pvalue, result.interval


def tukey_values(result: Any) -> list[Any]:
    return [significance_values(one) for one in result.results]


def ranking_values(result: Any) -> list[float]:
    return list(result.values.values())


def trec_values(result: Any) -> list[float]:
    return [result[name] for name in ("map", "ndcg_cut_10", "recip_rank")]


def rouge_values(result: Any) -> list[Any]:
    return [
        [result[name].fmeasure, *(result[name].precisions, result[name].recalls, result[name].fmeasures)]
        for name in result
    ]


def voc_values(result: Any) -> float:
    return result.map


def coco_values(result: Any) -> Any:
    return result.stats


def group_values(table: Any) -> list[Any]:
    return [table.group, table.auc, table.n, table.n_positives]


# --- calls of more than one function ----------------------------------------------------------------------------------


def four_of_one_order(y_true: Any, y_score: Any) -> tuple[Any, ...]:
    order = fm.ScoreOrder(y_true, y_score)
    return (
        order.roc_auc_score(),
        order.average_precision_score(),
        order.equal_error_rate(),
        order.ks_statistic(),
    )


def in_a_loop(function: Callable[..., Any], columns: Any, n: int) -> list[float]:
    return [float(function(*pair)) for pair in zip(*(column[:n] for column in columns), strict=True)]


def in_batches(batches: list[pa.RecordBatch]) -> Any:
    accumulator = fm.Accumulator(SLICED_METRICS, label="click", score="a", group="user_id")
    for batch in batches:
        accumulator.update(batch)
    return accumulator.result()


def filled(table: pa.Table) -> Any:
    accumulator = fm.Accumulator(SLICED_METRICS, label="click", score="a", group="user_id")
    accumulator.update(table)
    return accumulator


def merged(states: list[bytes]) -> Any:
    first, *others = (fm.Accumulator.from_bytes(state) for state in states)
    for other in others:
        first.merge(other)
    return first.result()


def halves(table: pa.Table) -> list[bytes]:
    n = table.num_rows // 2
    return [filled(table[:n]).to_bytes(), filled(table[n:]).to_bytes()]


def restored_values(state: bytes) -> list[Any]:
    return report_values(fm.Accumulator.from_bytes(state).result())


def encoded(polygons: Any) -> Any:
    return fm.encode_masks(polygons, size=(MASK_HEIGHT, MASK_WIDTH))


def mask_rows(data: Data) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Ground truth and detections of `coco_map`."""
    places = list(zip(data.images, data.categories, strict=True))
    truth, found = encoded(data.polygons), encoded(data.moved)
    areas = fm.mask_areas(truth).tolist()
    annotations = [
        {"image_id": image, "category_id": category, "segmentation": mask, "area": area, "iscrowd": 0, "id": number + 1}
        for number, ((image, category), mask, area) in enumerate(zip(places, truth, areas, strict=True))
    ]
    detections = [
        {"image_id": image, "category_id": category, "segmentation": mask, "score": score}
        for (image, category), mask, score in zip(places, found, data.scores, strict=True)
    ]
    truth_rows = {
        "images": [{"id": each, "height": MASK_HEIGHT, "width": MASK_WIDTH} for each in sorted(set(data.images))],
        "categories": [{"id": each, "name": f"category {each}"} for each in range(1, N_MASK_CATEGORIES + 1)],
        "annotations": annotations,
    }
    return truth_rows, detections
