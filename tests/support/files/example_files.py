"""The files that examples of help pages name."""

import gzip
import json
import shutil
from pathlib import Path

import numpy as np

from support.files.command_files import annotated_image, write_command_files

ROWS = 400
TEXTS = ("the cat sat on the mat", "a dog is in the garden of the school", "we read the long report today")
PLUGIN = '''
from fastmetrics.extend import Positive, Real, RowStatistic, divide, metric


class Rewards(RowStatistic):
    __slots__ = ()
    sums = ("reward", "propensity")

    def terms(self, columns):
        return {"reward": columns.reward, "propensity": columns.propensity}


@metric(
    "snips", exchange="none", statistics=Rewards(), direction="maximize",
    roles={"reward": Real(), "propensity": Positive()},
)
def snips(parameters, sums):
    """Rewards by propensities."""
    return divide(sums["reward"], sums["propensity"])
'''


def columns_of_log() -> dict[str, object]:
    """All columns that examples name."""
    chance = np.random.default_rng(5)
    label = np.arange(ROWS) % 2
    floats = {name: chance.random(ROWS) for name in ("p", "pctr", "a", "b", "old", "new", "porder", "revenue")}
    classes = np.array(["ant", "bee", "cat"])
    shares = chance.dirichlet((1, 1, 1), ROWS)
    return {
        **dict.fromkeys(("y", "z", "click", "order"), label),
        **floats,
        "user_id": np.arange(ROWS) // 8,
        "channel": classes[np.arange(ROWS) % 3],
        "country": classes[np.arange(ROWS) % 2],
        "day": np.arange(ROWS) // 50,
        "kind": classes[np.arange(ROWS) % 3],
        **{name: chance.integers(0, 4, ROWS) for name in ("k10", "k20")},
        "class": chance.integers(0, 3, ROWS),
        "predicted": chance.integers(0, 3, ROWS),
        **{f"p_{name}": shares[:, place] for place, name in enumerate(classes)},
    }


def write_example_files(folder: Path) -> Path:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    write_command_files(folder)
    table = pa.table(columns_of_log())
    (folder / "day=1").mkdir()
    names = ("clicks", "log", "a", "b", "images", "points", "day=1/part", "today", "yesterday")
    for name in names:
        pq.write_table(table, folder / f"{name}.parquet")
    pyarrow.csv.write_csv(table, folder / "log.csv")
    lines = [TEXTS[place % 3] for place in range(30)]
    other = [TEXTS[place * 7 % 3] for place in range(30)]
    days = [place % 3 for place in range(30)]
    pq.write_table(pa.table({"reference": lines, "a": lines, "b": other, "day": days}), folder / "systems.parquet")
    write_texts(folder)
    write_boxes(folder)
    write_runs(folder)
    (folder / "my_metrics.py").write_text(PLUGIN)
    return folder


def write_texts(folder: Path) -> None:
    text = "".join(f"{line}\n" for line in TEXTS)
    for name in ("ref", "ref1", "ref2", "system", "first", "second", "third"):
        (folder / f"{name}.txt").write_text(text.replace("mat", f"mat {name}"))
    (folder / "ref2.txt.gz").write_bytes(gzip.compress(text.encode()))


def write_boxes(folder: Path) -> None:
    from xml.etree import ElementTree

    found = json.loads((folder / "detections.json").read_text())
    corners = [[0, 0, 10, 0, 10, 10, 0, 10]]
    masks = [{**one, "segmentation": corners} for one in found]
    truth = json.loads((folder / "instances.json").read_text())
    for one in truth["annotations"]:
        left, top, width, height = one["bbox"]
        one["segmentation"] = [[left, top, left + width, top, left + width, top + height, left, top + height]]
    (folder / "instances.json").write_text(json.dumps(truth))
    for name, rows in (("small", found), ("large", found), ("masks", masks)):
        (folder / f"{name}.json").write_text(json.dumps(rows))
    for name in ("VOC2007", "VOC2012"):
        (folder / name / "Annotations").mkdir(parents=True)
        ElementTree.ElementTree(annotated_image()).write(folder / name / "Annotations" / "000001.xml")
    (folder / "test.txt").write_text("000001\n")


def write_runs(folder: Path) -> None:
    judged = [f"q{query} 0 d{item} {(query + item) % 3}" for query in range(8) for item in range(6)]
    (folder / "qrels.txt").write_text("".join(f"{line}\n" for line in judged))
    for name, factor in (("bm25", 7), ("dense", 3), ("rerank", 5)):
        rows = [f"q{q} Q0 d{d} 1 {(q * factor + d * 3) % 5}.5 {name}\n" for q in range(8) for d in range(6)]
        (folder / f"{name}.run").write_text("".join(rows))
    (folder / "bm25.run.gz").write_bytes(gzip.compress((folder / "bm25.run").read_bytes()))
    shutil.rmtree(folder / "voc")
