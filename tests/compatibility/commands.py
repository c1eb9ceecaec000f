"""Command lines, run in this process on files that are written from the same data each time: output and exit code."""

import io
import json
import re
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from compatibility import data
from compatibility.encoding import without_version
from compatibility.object_cases import found_masks
from compatibility.run_cases import write_trec
from fastmetrics.cli import main

COLUMNS = "200"  # how wide the output is
LOG = ["log.parquet", "--label", "label", "--score", "prob", "--group", "group"]
MODELS = [*LOG, "--score", "second", "--replicates", "20"]
TEXT_FILES = ["ref.txt", "-i", "good.txt"]
WITHOUT_WORDNET = ["-m", "exact,stem"]

COMMANDS: dict[str, list[str]] = {
    "version": ["--version"],
    "evaluate": ["evaluate", *LOG],
    "evaluate slices": ["evaluate", *LOG, "--by", "by", "--metrics", "auc,gauc,logloss"],
    "evaluate several": [
        "evaluate", *LOG, "--score", "second", "--label", "other", "--metrics", "auc,f1(threshold=0.2)",
    ],
    "evaluate weights": ["evaluate", *LOG, "--weight", "weight", "--metrics", "auc,ece(bins=4)"],
    "evaluate intervals": [
        "evaluate", *LOG, "--ci", "90", "--replicates", "20", "--seed", "3", "--metrics", "auc,gauc,ndcg@3",
    ],
    "evaluate delong": ["evaluate", *LOG[:5], "--ci", "95", "--ci-method", "delong", "--metrics", "auc"],
    "evaluate numbers": ["evaluate", "log.csv", "--label", "target", "--score", "forecast", "--metrics", "rmse,mae,r2"],
    "evaluate texts": ["evaluate", "log.parquet", "--metrics", "bleu,chrf"],
    "evaluate partitions": ["evaluate", "log.parquet", "--label", "class", "--metrics", "ari,nmi"],
    "evaluate JSON": ["evaluate", *LOG, "--metrics", "auc,gauc,map", "--by", "day", "--json", "-"],
    "evaluate undefined": ["evaluate", "one_class.parquet", *LOG[1:], "--metrics", "auc,logloss"],
    "evaluate no such file": ["evaluate", "nothing.parquet", *LOG[1:]],
    "evaluate no such column": ["evaluate", "log.parquet", "--label", "label", "--score", "nothing"],
    "evaluate no such metric": ["evaluate", *LOG, "--metrics", "nothing"],
    "evaluate no such option": ["evaluate", *LOG, "--nothing"],
    "evaluate no interval": ["evaluate", *LOG, "--ci-method", "normal"],
    "no such command": ["nothing"],
    "compare": ["compare", *MODELS, "-m", "auc,gauc,logloss"],
    "compare slices": ["compare", *MODELS, "-m", "auc", "--by", "day", "--correction", "benjamini-hochberg"],
    "compare JSON": ["compare", *MODELS, "--metric", "gauc", "--json", "-"],
    "compare gate that fails": ["compare", *MODELS, "-m", "auc", "--fail-if", "auc drops 0.001"],
    "compare gate that holds": ["compare", *MODELS, "-m", "auc", "--fail-if", "auc rises 1%"],
    "trec": ["trec", "qrels", "run"],
    "trec queries": ["trec", "qrels", "run", "-q", "-m", "map", "-m", "P.5,10", "-m", "ndcg_cut.3"],
    "trec queries only": ["trec", "qrels", "run", "-q", "-n", "-m", "recip_rank"],
    "trec complete": ["trec", "qrels", "run", "-c", "-l", "2", "-M", "4", "-m", "official"],
    "trec judged": ["trec", "qrels", "run", "-J", "-m", "all_trec"],
    "trec two runs": ["trec", "qrels", "run", "other", "-m", "map", "-m", "bpref"],
    "coco": ["coco", "truth.json", "found.json"],
    "coco classes": ["coco", "truth.json", "found.json", "--per-class"],
    "coco masks": ["coco", "truth.json", "masks.json", "--iou-type", "segm", "--format", "coco"],
    "coco options": [
        "coco", "truth.json", "found.json", "--max-detections", "1,5,20", "--iou-thresholds", "0.5,0.7",
        "--class-agnostic",
    ],
    "coco two": ["coco", "truth.json", "found.json", "fewer.json"],
    "voc": ["voc", "VOC", "results"],
    "voc voc11": [
        "voc", "VOC", "results", "--interpolation", "voc11", "--iou-threshold", "0.3", "--difficult", "count",
    ],
    "bleu": ["bleu", *TEXT_FILES],
    "bleu options": ["bleu", *TEXT_FILES, "-tok", "intl", "-s", "floor", "-lc", "-w", "4"],
    "bleu segments": ["bleu", *TEXT_FILES, "-sl"],
    "bleu score": ["bleu", *TEXT_FILES, "-b", "-w", "9"],
    "bleu two references": ["bleu", "ref.txt", "bad.txt", "-i", "good.txt"],
    "bleu two systems": ["bleu", "ref.txt", "-i", "good.txt", "bad.txt"],
    "chrf": ["chrf", *TEXT_FILES],
    "chrf words": ["chrf", *TEXT_FILES, "-cw", "2"],
    "nist": ["nist", *TEXT_FILES],
    "ter": ["ter", *TEXT_FILES],
    "rouge": ["rouge", *TEXT_FILES],
    "rouge options": ["rouge", *TEXT_FILES, "-t", "rougeL,rouge1", "--stem", "--beta", "2"],
    "meteor": ["meteor", *TEXT_FILES, *WITHOUT_WORDNET],
    "meteor corpus": ["meteor", *TEXT_FILES, *WITHOUT_WORDNET, "--average", "corpus"],
    "sample-log exists": ["sample-log", "log.parquet", "--rows", "5"],
}  # fmt: skip
OF_TEXTS = ["bleu", "chrf", "nist", "ter", "rouge", "meteor"]
FORMATS = {
    "trec": ["table", "csv", "markdown", "json"],
    "coco": ["coco", "csv", "markdown", "json"],
    "voc": ["csv", "markdown", "json"],
    **{name: ["csv", "markdown", "json"] for name in OF_TEXTS},
}
COMMANDS |= {f"{name} {form}": [*COMMANDS[name], "--format", form] for name, forms in FORMATS.items() for form in forms}
COMMANDS |= {f"bleu two systems {form}": [*COMMANDS["bleu two systems"], "-f", form] for form in FORMATS["bleu"]}

TIMES = [
    (re.compile(r"(fastmetrics )\d[^\s:]*"), r"\1*"),
    (re.compile(r", [\d.,]+ (?:s|ms|min)\b(?:, [\d.]+[kMG]? rows/s)?"), ", * s"),
    (re.compile(r"\"(version|seconds)\": (?:\"[^\"]*\"|[-\d.e]+)"), r'"\1": *'),
]


class Done(NamedTuple):
    """What a command left behind."""

    code: int
    output: str


def write_inputs(folder: Path) -> None:
    """Every file that the commands read."""
    log = data.click_log(120, 9)
    pq.write_table(pa.table(log), folder / "log.parquet")
    pq.write_table(pa.table({**log, "label": log["label"] * 0}), folder / "one_class.parquet")
    numbers = zip(log["target"].tolist(), log["forecast"].tolist(), strict=True)
    lines = ["target,forecast", *(f"{target},{forecast}" for target, forecast in numbers)]
    (folder / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")
    write_trec(folder)
    write_trec(folder, 5, "other")
    write_trec(folder)
    texts = data.text_columns(25, 4)
    for name, column in (("ref", "reference"), ("good", "hypothesis"), ("bad", "worse")):
        (folder / f"{name}.txt").write_text("\n".join(texts[column].tolist()) + "\n", encoding="utf-8", newline="\n")
    truth, found = data.coco()
    files: dict[str, Any] = {"truth": truth, "found": found, "fewer": found[::2], "masks": found_masks(truth)}
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content), encoding="utf-8", newline="\n")
    write_voc(folder)


def write_voc(folder: Path) -> None:
    truth, found = data.voc()
    (folder / "VOC" / "Annotations").mkdir(parents=True)
    (folder / "results").mkdir()
    for image in sorted(set(truth["image"].tolist())):
        objects = [
            f"<object><name>{truth['category'][place]}</name><difficult>{int(truth['difficult'][place])}</difficult>"
            "<bndbox>"
            + "".join(
                f"<{corner}>{int(side)}</{corner}>"
                for corner, side in zip(("xmin", "ymin", "xmax", "ymax"), truth["box"][place], strict=True)
            )
            + "</bndbox></object>"
            for place in range(len(truth["image"]))
            if truth["image"][place] == image
        ]
        document = f"<annotation><filename>{image}.jpg</filename>{''.join(objects)}</annotation>"
        (folder / "VOC" / "Annotations" / f"{image}.xml").write_text(document, encoding="utf-8", newline="\n")
    for category in sorted(set(found["category"].tolist())):
        lines = [
            f"{found['image'][place]} {found['score'][place]} {' '.join(map(str, found['box'][place].tolist()))}\n"
            for place in range(len(found["image"]))
            if found["category"][place] == category
        ]
        (folder / "results" / f"comp4_det_test_{category}.txt").write_text(
            "".join(lines), encoding="utf-8", newline="\n"
        )


def run(name: str, folder: Path) -> Done:
    """One command; COLUMNS should be set, for what is no terminal is as wide as that."""
    with chdir(folder), redirect_stdout(io.StringIO()) as output, redirect_stderr(io.StringIO()):
        code = main(COMMANDS[name])
    text = without_version(output.getvalue())
    for pattern, replacement in TIMES:
        text = pattern.sub(replacement, text)
    return Done(code, text)
