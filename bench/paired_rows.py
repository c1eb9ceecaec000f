"""Rows of `bench.paired`: what is timed, and the data it is timed on.

Both checkouts run this file, whatever their layout. It therefore imports only `fastmetrics` itself, NumPy, pyarrow and
the generators of data of this folder, which import NumPy and pyarrow. The data depend on seeds and on the size alone.

A row names its data, and a function that binds them to a call without arguments. The call is timed. `answer` turns what
the call returns into plain values, which must be equal in both checkouts; it is not timed.
"""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import SimpleNamespace as Data
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

import fastmetrics as fm
from bench import texts, workloads
from bench.detections import as_columns, boxes_workload
from bench.workloads import SEED

ENGINE_METRICS = ["auc", "gauc", "logloss", "ne", "copc"]
SLICED_METRICS = ["auc", "gauc", "logloss"]
RANKING_METRICS = ["ndcg@10", "map@10", "mrr", "hr@10", "p@5", "recall@50"]
TREC_MEASURES = ["map", "ndcg_cut.10", "recip_rank"]
ROUGE_TYPES = ["rouge1", "rouge2", "rougeL"]
CLICK_COLUMNS = {"label": "click", "score": "pctr", "group": "user_id"}
BATCH_ROWS = 1 << 16
SMALL_ROWS = 100
MASK_HEIGHT, MASK_WIDTH = 480, 640
N_MASK_CATEGORIES = 20


def unchanged(answer: Any) -> Any:
    return answer


class Row(NamedTuple):
    """One measurement."""

    name: str
    data: str
    bind: Callable[[Data], Callable[[], Any]]
    answer: Callable[[Any], Any] = unchanged


# --- data -------------------------------------------------------------------------------------------------------------


def clicks_data(rows: int, folder: Path) -> Data:
    data = workloads.clicks(rows)
    return Data(
        float32=(data.labels, data.scores32),
        float64=(data.labels, data.probabilities),
        tied=(data.labels, workloads.tied(data)),
        ordered=workloads.in_score_order(data),
        clustered=(data.labels, workloads.clustered(data)),
        weights=np.random.default_rng(SEED + 6).random(rows),
    )


def curves_data(rows: int, folder: Path) -> Data:
    data = workloads.clicks(rows // 10)
    return Data(float32=(data.labels, data.scores32), float64=(data.labels, data.probabilities))


def users_data(rows: int, folder: Path) -> Data:
    data, numbers = workloads.clicks(rows), workloads.user_numbers(rows)
    return Data(
        columns=(data.labels, data.probabilities),
        ids=workloads.user_ids(numbers),
        names=workloads.user_names(numbers),
        weights=np.random.default_rng(SEED + 6).random(rows),
    )


def classes_data(rows: int, folder: Path) -> Data:
    random = np.random.default_rng(SEED + 11)

    def columns(n_rows: int, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
        labels = (n_classes * random.random(n_rows) ** 2).astype(np.int64)
        wrong = random.random(n_rows) < 0.3
        return labels, np.where(wrong, random.integers(0, n_classes, n_rows), labels)

    names = np.array([f"category_{number:02d}" for number in range(20)])
    named = tuple(names[column] for column in columns(rows // 10, 20))
    return Data(
        binary=tuple(column.astype(np.int8) for column in columns(rows, 2)),
        hundred=columns(rows, 100),
        texts=named,
        arrow_texts=tuple(pa.array(column) for column in named),
    )


def errors_data(rows: int, folder: Path) -> Data:
    random = np.random.default_rng(SEED + 20)
    seconds = np.exp(random.standard_normal(rows) + 3.0)
    forecasts = seconds * np.exp(0.4 * random.standard_normal(rows))
    return Data(columns=(seconds, forecasts), groups=random.integers(0, max(1, rows // 100), rows))


def lists_data(rows: int, folder: Path) -> Data:
    lists = workloads.judged_lists(rows)
    random = np.random.default_rng(SEED)
    shape = (rows // 100, 100)
    return Data(
        clicks=(lists.clicks, lists.scores, lists.lists),
        grades=(lists.grades, lists.scores, lists.lists),
        log={"label": lists.grades, "score": lists.scores, "list": lists.lists},
        matrices=(random.integers(0, 5, shape), random.random(shape)),
        label_sets=workloads.label_sets(rows // 100, 100),
    )


def runs_data(rows: int, folder: Path) -> Data:
    """Runs of 100 items a query as dicts and as tables. Ten retrieved and five other items are judged."""
    random = np.random.default_rng(SEED)
    n_queries = max(20, rows // 1000)
    run: dict[str, dict[str, float]] = {}
    other: dict[str, dict[str, float]] = {}
    qrels: dict[str, dict[str, int]] = {}
    for query in range(n_queries):
        items = [f"d{number}" for number in random.choice(100_000, 105, replace=False).tolist()]
        judged = [*random.choice(items[:100], 10, replace=False).tolist(), *items[100:]]
        qrels[f"q{query}"] = dict(zip(judged, random.integers(0, 4, len(judged)).tolist(), strict=True))
        for scores in (run, other):
            values = random.permutation(1 << 12)[:100] / (1 << 12)
            scores[f"q{query}"] = dict(zip(items[:100], values.tolist(), strict=True))
    few = list(qrels)[: max(10, n_queries // 3)]
    recommended = random.permuted(np.tile(np.arange(200), (n_queries, 1)), axis=1)[:, :100]
    relevant = [set(items.tolist()) for items in random.integers(0, 200, (n_queries, 10))]
    return Data(
        nested=(run, qrels),
        tables=(ranking_table(run, "score"), ranking_table(qrels, "relevance")),
        compared=({query: qrels[query] for query in few}, {
            "first": {query: run[query] for query in few}, "second": {query: other[query] for query in few}
        }),
        recommendations=(recommended, relevant),
    )  # fmt: skip


def ranking_table(rows: dict[str, dict[str, Any]], number: str) -> pa.Table:
    queries = [query for query, items in rows.items() for _ in items]
    items = [item for own in rows.values() for item in own]
    return pa.table(
        {"query": queries, "item": items, number: [value for own in rows.values() for value in own.values()]}
    )


def trec_data(rows: int, folder: Path) -> Data:
    """A run file of a thousand items for every query; one in ten is judged, and as many that were not retrieved."""
    random = np.random.default_rng(SEED)
    qrels, run = folder / "qrels.txt", folder / "bench.run"
    with qrels.open("w") as judgements, run.open("w") as lines:
        for query in range(301, 301 + max(2, rows // 10_000)):
            items = random.choice(9_000_000, 1100, replace=False).tolist()
            scores = (30.0 - 0.02 * np.arange(1000) + 0.01 * random.random(1000)).tolist()
            for rank, (item, score) in enumerate(zip(items, scores, strict=False), start=1):
                lines.write(f"{query}\tQ0\tDOC-{item:07d}\t{rank}\t{score:.4f}\tbench-run\n")
            judged = [*random.permutation(items[:1000])[:100].tolist(), *items[1000:]]
            for item, grade in zip(judged, random.integers(0, 4, 200).tolist(), strict=True):
                judgements.write(f"{query} 0 DOC-{item:07d} {grade}\n")
    return Data(paths=(qrels, run))


def texts_data(rows: int, folder: Path) -> Data:
    """Translations as lists, as lists of tokens and as a Parquet log; a part of them as two systems."""
    hypotheses, references = texts.translations(texts.n_segments(rows))
    compared = max(200, rows // 5000)
    better = np.random.default_rng(8).random(compared) < 0.02
    pairs = zip(hypotheses, references, better, strict=False)
    other = [reference if good else hypothesis for hypothesis, reference, good in pairs]
    path = folder / "texts.parquet"
    table = pa.table({"hypothesis": hypotheses, "reference": references})
    pyarrow.parquet.write_table(table, path, row_group_size=10_000)
    return Data(
        pairs=(hypotheses, references),
        tokens=tuple([text.split() for text in column] for column in (hypotheses, references)),
        few=tuple(column[: max(100, len(column) // 4)] for column in (hypotheses, references)),
        systems=({"first": hypotheses[:compared], "second": other}, references[:compared]),
        sentence=(hypotheses[0], references[0]),
        path=path,
    )


def partitions_data(rows: int, folder: Path) -> Data:
    random = np.random.default_rng(SEED + 40)

    def columns(n_rows: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
        classes = random.integers(0, n_labels, n_rows)
        other = random.integers(0, n_labels, n_rows)
        return classes, np.where(random.random(n_rows) < 0.5, (classes * 7 + 3) % n_labels, other)

    names = pa.array([f"cluster_{number:03d}" for number in range(100)])
    few = columns(rows, 100)
    path = folder / "partitions.parquet"
    pyarrow.parquet.write_table(pa.table(dict(zip(("label", "cluster"), few, strict=True))), path)
    n_points = max(500, rows // 1000)
    labels = random.integers(0, 10, n_points)
    points = random.normal(size=(10, 64))[labels] + random.normal(size=(n_points, 64))
    return Data(
        few=few,
        texts=tuple(names.take(pa.array(column)) for column in columns(rows // 10, 100)),
        many=columns(rows // 4, max(10, rows // 40)),
        thousand=columns(rows // 10, 1000),
        points=(points, labels),
        points32=(points.astype(np.float32), labels),
        path=path,
    )


def detections_data(rows: int, folder: Path) -> Data:
    workload = boxes_workload(max(50, rows // 4000))
    paths = folder / "truth.json", folder / "found.json"
    for path, content in zip(paths, workload, strict=True):
        path.write_text(json.dumps(content))
    truth, found = as_columns(workload.truth["annotations"]), as_columns(workload.found)
    voc_truth, voc_found = (
        {"image": own["image_id"], "category": own["category_id"], "box": own["bbox"]} for own in (truth, found)
    )
    corners = np.concatenate([found["bbox"][:, :2], found["bbox"][:, :2] + found["bbox"][:, 2:]], axis=1)
    return Data(
        dicts=workload,
        columns=(truth, found),
        voc=(voc_truth, voc_found | {"score": found["score"]}),
        boxes=(corners[:2000], corners[2000:5000]),
        paths=paths,
    )


def masks_data(rows: int, folder: Path) -> Data:
    """Polygons of 12 to 40 corners. Masks are made of them by every checkout itself."""
    random = np.random.default_rng(7)
    size = np.array([MASK_WIDTH, MASK_HEIGHT])
    polygons, moved, images = [], [], []
    for number in range(2000):
        angles = np.sort(random.random(int(random.integers(12, 41)))) * 2 * np.pi
        radius = np.exp(random.normal(0, 0.15, len(angles)))[:, None] * np.exp(random.uniform(2, 5, 2))
        points = random.random(2) * size + np.column_stack([np.cos(angles), np.sin(angles)]) * radius
        for into, shift in ((polygons, 0.0), (moved, 4.0)):
            into.append([np.clip(points + random.normal(0, shift, points.shape), 0, size).round(2).ravel().tolist()])
        images.append(number % 250 + 1)
    categories = random.integers(1, N_MASK_CATEGORIES + 1, len(polygons)).tolist()
    return Data(polygons=polygons, moved=moved, images=images, categories=categories,
                scores=random.random(len(polygons)).tolist())  # fmt: skip


def significance_data(rows: int, folder: Path) -> Data:
    random = np.random.default_rng(8)
    n = rows // 10
    labels = (random.random(n) < 0.05).astype(np.int64)
    common = random.standard_normal(n) + labels
    return Data(
        models=(labels, common + random.standard_normal(n), common + random.standard_normal(n)),
        differences=random.normal(0.004, 1.0, max(1000, rows // 100)),
        pairs=tuple(random.normal(0.3, 1.0, (2, 40))),
        samples=tuple(random.normal(size=(10, 50)) + np.linspace(0, 1, 10)[:, None]),
        table=np.array([[1320, 8680], [1200, 8800]]),
    )


def log_data(rows: int, folder: Path) -> Data:
    """A click log with columns that no metric needs, as Parquet; a part of it as CSV.

    The limit is 16 bytes a row of the short log. Half of it is less than the rows need, so they spill, except where the
    smallest limit that there can be, 1 MiB, is enough (below about 300,000 rows).
    """
    data, numbers = workloads.clicks(rows), workloads.user_numbers(rows)
    random = np.random.default_rng(SEED + 7)
    table = pa.table({
        "user_id": workloads.user_ids(numbers), "item_id": random.integers(0, 10_000, rows),
        "pctr": data.probabilities, "click": data.labels.astype(np.int8),
    })  # fmt: skip
    path, short_path, csv_path = folder / "clicks.parquet", folder / "short.parquet", folder / "clicks.csv"
    row_group = max(1000, rows // 10)
    pyarrow.parquet.write_table(table, path, row_group_size=row_group)
    pyarrow.parquet.write_table(table[: rows // 8], short_path, row_group_size=row_group)
    pyarrow.csv.write_csv(table[: rows // 20], csv_path)
    return Data(path=path, short_path=short_path, csv_path=csv_path, folder=folder, limit=max(1 << 20, 2 * rows))


def sliced_data(rows: int, folder: Path) -> Data:
    path = workloads.sliced_log(folder, rows // 8)
    table = pyarrow.parquet.read_table(path, columns=["user_id", "click", "a", "b"]).combine_chunks()
    return Data(path=path, table=table, batches=table.to_batches(max_chunksize=BATCH_ROWS))


def replicates_data(rows: int, folder: Path) -> Data:
    """Users with skills of their own, ten rows each."""
    random = np.random.default_rng(4)
    n = rows // 10
    user = random.integers(0, max(1, n // 10), n)
    click = (random.random(n) < 0.2).astype(np.int8)
    score = random.standard_normal(n) + click + 0.3 * random.standard_normal(int(user.max()) + 1)[user]
    other = score + 0.5 * random.standard_normal(n)
    pctr = (1.0 / (1.0 + np.exp(-column)) for column in (score, other))
    log = dict(zip(("user_id", "click", "pctr", "other"), (user, click, *pctr), strict=True))
    return Data(log=log, short_log={name: column[: n // 16] for name, column in log.items()})


def small_data(rows: int, folder: Path) -> Data:
    data = workloads.clicks(SMALL_ROWS)
    labels, scores = data.labels, data.probabilities
    users = np.arange(SMALL_ROWS) // 10
    return Data(
        scores=(labels, scores),
        classes=(labels, (scores >= np.median(scores)).astype(np.int64)),
        values=(0.01 + scores, 0.01 + scores[::-1].copy()),
        sets=workloads.label_sets(SMALL_ROWS, 10),
        users=users,
        log={"click": labels, "pctr": scores, "user_id": users},
        sentence=("the cat sat on the mat", "the cat sat on a mat"),
        boxes=(np.array([[0.0, 0.0, 10.0, 10.0]] * 10), np.array([[5.0, 5.0, 12.0, 12.0]] * 10)),
    )


DATA: dict[str, Callable[[int, Path], Data]] = {
    "clicks": clicks_data, "curves": curves_data, "users": users_data, "classes": classes_data, "errors": errors_data,
    "lists": lists_data, "runs": runs_data, "trec": trec_data, "texts": texts_data, "partitions": partitions_data,
    "detections": detections_data, "masks": masks_data, "significance": significance_data, "log": log_data,
    "sliced": sliced_data, "replicates": replicates_data, "small": small_data,
}  # fmt: skip


# --- answers as plain values ------------------------------------------------------------------------------------------


def report_values(report: Any) -> list[Any]:
    """Signatures are left out: they name the version."""
    return [
        [one.metric, one.score, dict(one.slice), one.value, one.interval, one.standard_error] for one in report.results
    ]


def comparison_values(comparison: Any) -> list[Any]:
    return [
        [one.metric, one.value_a, one.value_b, one.difference, one.pvalue, one.interval, one.won, one.lost]
        for one in comparison
    ]


def significance_values(result: Any) -> tuple[Any, ...]:
    return result.statistic, result.pvalue, result.ci


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
    return [table.group, table.auc, table.n, table.n_pos]


# --- calls of more than one function ----------------------------------------------------------------------------------


def four_of_one_order(y_true: Any, y_score: Any) -> tuple[Any, ...]:
    order = fm.ScoreOrder(y_true, y_score)
    return (
        order.roc_auc_score(),
        order.average_precision_score(),
        order.equal_error_rate().value,
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


# --- rows -------------------------------------------------------------------------------------------------------------


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
        Row("evaluate_trec of files", "trec", of("evaluate_trec", "paths", measures=TREC_MEASURES), trec_values),
        Row("evaluate_trec of files, one thread", "trec",
            of("evaluate_trec", "paths", measures=TREC_MEASURES, n_threads=1), trec_values),
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
        Row("compare_texts, randomisation", "texts", of("compare_texts", "systems", method="randomisation"),
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
            lambda found: (found.auc, found.low, found.high)),
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
            lambda d: partial(fm.compare, d.short_log, ["gauc", "logloss"], scores=["pctr", "other"], label="click",
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
