"""Data of the rows of `bench.paired`: columns, tables and files, which depend on seeds and on the size alone."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace as Data
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from bench import texts, workloads
from bench.detections import as_columns, boxes_workload
from bench.workloads import SEED

BATCH_ROWS = 1 << 16
SMALL_ROWS = 100
MASK_HEIGHT, MASK_WIDTH = 480, 640
N_MASK_CATEGORIES = 20


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
        nested=(qrels, run),
        tables=(ranking_table(qrels, "relevance"), ranking_table(run, "score")),
        compared=({query: qrels[query] for query in few}, {
            "first": {query: run[query] for query in few}, "second": {query: other[query] for query in few}
        }),
        recommendations=(relevant, recommended),
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
    with qrels.open("w") as judgments, run.open("w") as lines:
        for query in range(301, 301 + max(2, rows // 10_000)):
            items = random.choice(9_000_000, 1100, replace=False).tolist()
            scores = (30.0 - 0.02 * np.arange(1000) + 0.01 * random.random(1000)).tolist()
            for rank, (item, score) in enumerate(zip(items, scores, strict=False), start=1):
                lines.write(f"{query}\tQ0\tDOC-{item:07d}\t{rank}\t{score:.4f}\tbench-run\n")
            judged = [*random.permutation(items[:1000])[:100].tolist(), *items[1000:]]
            for item, grade in zip(judged, random.integers(0, 4, 200).tolist(), strict=True):
                judgments.write(f"{query} 0 DOC-{item:07d} {grade}\n")
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
