"""``fastmetrics coco``: pycocotools' lines, tables, JSON, errors, exit codes."""

import csv
import io
import json
import math
import re
from contextlib import redirect_stdout

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import assert_refused, run, run_subprocess

pytest.importorskip("typer")
pytest.importorskip("rich")

NAMES = ["person", "car", "traffic light", "kite", "wombat"]  # no wombat is in any image


def corners(box):
    """The box as a polygon."""
    x, y, width, height = box
    return [x, y, x + width, y, x + width, y + height, x, y + height]


def annotations(seed=0, n_images=12, max_side=70.0):
    """Objects with sides up to `max_side` pixels: none is large by COCO's ranges."""
    rng = np.random.default_rng(seed)
    rows = []
    for number in range(1, 80):
        box = [*rng.integers(0, 200, 2).tolist(), *rng.integers(4, max_side, 2).tolist()]
        rows.append(
            {"id": number, "image_id": int(rng.integers(n_images)), "category_id": int(rng.integers(1, len(NAMES))),
             "bbox": box, "area": box[2] * box[3], "iscrowd": int(rng.random() < 0.05),
             "segmentation": [corners(box)]}
        )  # fmt: skip
    return {
        "info": {},
        "images": [{"id": image, "height": 300, "width": 300} for image in range(n_images)],
        "categories": [{"id": number, "name": name} for number, name in enumerate(NAMES, start=1)],
        "annotations": rows,
    }


def detections(truth, seed, noise):
    rng = np.random.default_rng(seed)
    found = []
    for row in truth["annotations"] * 2:
        box = (np.array(row["bbox"]) + rng.normal(0, noise, 4)).round(2)
        box[2:] = np.maximum(box[2:], 1)
        own = {"image_id": row["image_id"], "category_id": row["category_id"], "bbox": box.tolist()}
        found.append({**own, "score": round(float(rng.random()), 3)})
    return found


@pytest.fixture
def folder(tmp_path):
    truth = annotations()
    for name, data in (
        ("gt.json", truth),
        ("sharp.json", detections(truth, 1, 1.5)),
        ("blurred.json", detections(truth, 2, 5)),
    ):
        (tmp_path / name).write_text(json.dumps(data), encoding="utf-8")
    return tmp_path


def result_of(folder, name, **options):
    return fm.coco_map(folder / "gt.json", folder / name, **options)


def pycocotools_output(folder, name):
    """The text that pycocotools prints."""
    pytest.importorskip("pycocotools")
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    with redirect_stdout(io.StringIO()) as printed:
        truth = COCO(str(folder / "gt.json"))
        evaluation = COCOeval(truth, truth.loadRes(str(folder / name)), "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        printed.truncate(0)
        printed.seek(0)
        evaluation.summarize()
    return printed.getvalue()


@pytest.mark.parametrize("name", ["sharp.json", "blurred.json"])
def test_the_lines_of_pycocotools(folder, name):
    done = run("coco", "gt.json", name, "--format", "coco", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == pycocotools_output(folder, name)


def test_one_file(folder):
    result = result_of(folder, "sharp.json")
    done = run("coco", "gt.json", "sharp.json", folder=folder)
    assert (done.returncode, done.stderr) == (0, "")
    head, *rows, empty, note, without = done.stdout.splitlines()
    assert head.split() == ["IoU", "area", "detections", "value"]
    assert [row.split()[-1] for row in rows] == ["–" if math.isnan(own) else f"{own:.3f}" for own in result.stats]
    assert rows[0].split()[:4] == ["AP", "0.50:0.95", "all", "100"]
    assert rows[2].split()[:4] == ["AP", "0.75", "all", "100"]
    assert rows[6].split()[:4] == ["AR", "0.50:0.95", "all", "1"]
    assert rows[11].split() == ["AR", "0.50:0.95", "large", "100", "–"]
    assert empty == ""
    assert re.fullmatch(r"– AP large, AR large: no ground truth .*", note)
    assert without == "1 category is in no mean, without ground truth: wombat"


def test_categories(folder):
    result = result_of(folder, "sharp.json")
    done = run("coco", "gt.json", "sharp.json", "--per-class", folder=folder)
    lines = done.stdout.splitlines()
    start = next(place for place, line in enumerate(lines) if line.startswith("category"))
    assert re.split(r"  +", lines[start]) == ["category", "AP", "AP50", "AP75", "AR", "ground truths", "detections"]
    rows = [re.split(r"  +", line) for line in lines[start + 1 : start + 1 + len(NAMES)]]
    assert [row[0] for row in rows] == NAMES
    assert [row[1] for row in rows] == [f"{value:.4f}" for value in result.per_class["ap"][:-1]] + ["–"]
    assert rows[-1] == ["wombat", "–", "–", "–", "–", "0", "0"]
    done = run("coco", "gt.json", "sharp.json", "--per-class", "--format", "csv", folder=folder)
    table = list(csv.DictReader(done.stdout.splitlines()))
    assert [row["category"] for row in table] == NAMES
    wanted = ["" if math.isnan(value) else repr(value) for value in result.per_class["ap50"].tolist()]
    assert [row["ap50"] for row in table] == wanted


def test_several_files_side_by_side(folder):
    files = ["sharp.json", "blurred.json"]
    results = [result_of(folder, name) for name in files]
    done = run("coco", "gt.json", *files, folder=folder)
    head, *rows = done.stdout.splitlines()[:13]
    assert head.split() == ["IoU", "area", "detections", *files]
    assert results[0].stats[0] > results[1].stats[0]
    assert rows[0].split()[4:] == [f"{results[0].stats[0]:.3f}*", f"{results[1].stats[0]:.3f}"]
    done = run("coco", "gt.json", *files, "--format", "csv", folder=folder)
    table = list(csv.DictReader(done.stdout.splitlines()))
    for name, result in zip(files, results, strict=True):
        wanted = ["" if math.isnan(value) else repr(float(value)) for value in result.stats]
        assert [row[name] for row in table] == wanted
    done = run("coco", "gt.json", *files, "--per-class", "--format", "markdown", folder=folder)
    assert done.stdout.count("| category ") == 1
    assert f"**{results[0].stats[0]:.3f}**" in done.stdout


def test_json_has_all_digits(folder):
    result = result_of(folder, "sharp.json")
    for words in (["--json"], ["--format", "json"]):
        done = run("coco", "gt.json", "sharp.json", "--per-class", *words, folder=folder)
        document = json.loads(done.stdout)
        (system,) = document["systems"]
        assert (document["schema"], document["signature"]) == (1, result.signature)
        assert system["name"] == "sharp.json"
        assert system["stats"] == [None if math.isnan(value) else value for value in result.stats.tolist()]
        assert [row["name"] for row in system["per_class"]] == NAMES
        assert system["per_class"][-1]["ap"] is None
        assert system["coverage"]["without_ground_truth"] == ["wombat"]
    assert "per_class" not in run("coco", "gt.json", "sharp.json", "--json", folder=folder).stdout


def test_options_reach_the_function(folder):
    words = ["--max-detections", "1,2,300", "--iou-thresholds", "0.5,0.6", "--class-agnostic", "--threads", "1"]
    done = run("coco", "gt.json", "sharp.json", *words, "--json", folder=folder)
    options = {"max_detections": [1, 2, 300], "iou_thresholds": [0.5, 0.6], "class_agnostic": True}
    assert json.loads(done.stdout)["signature"] == result_of(folder, "sharp.json", **options).signature
    done = run("coco", "gt.json", "sharp.json", "--max-detections", "5", "--iou-thresholds", "0.5", folder=folder)
    assert done.stdout.splitlines()[1].split()[:4] == ["AP", "0.50", "all", "5"]


def test_no_detections(folder):
    (folder / "none.json").write_text("[]")
    done = run("coco", "gt.json", "none.json", folder=folder)
    assert done.returncode == 0, done.stderr
    assert {line.split()[-1] for line in done.stdout.splitlines()[1:13]} == {"0.000", "–"}


@each_case(
    ("words", "code", "message"),
    [
        (["no.json"], 1, "error: there is no file no.json"),
        (["broken.json"], 1, "error: broken.json is no JSON file"),
        (["nan.json"], 1, "error: nan.json"),
        (["stranger.json"], 1, "error: stranger.json"),
        (["sharp.json", "stranger.json"], 1, "error: stranger.json"),
        (["sharp.json", "--max-detections", "1,x"], 2, "type whole numbers separated by commas"),
        (["sharp.json", "--iou-thresholds", ""], 2, "type numbers separated by commas; found ''"),
        (["sharp.json", "--iou-type", "keypoints"], 2, "Invalid value for '--iou-type'"),
        (["sharp.json", "--threads", "0"], 2, "Invalid value for '--threads'"),
        (["sharp.json", "blurred.json", "--format", "coco"], 2, "type --format table"),
        (["sharp.json", "--per-class", "--format", "coco"], 2, "type --format table"),
        ([], 2, "Missing argument 'DT'"),
    ],
)
def test_errors_name_the_problem(folder, words, code, message):
    row = {"image_id": 1, "category_id": 1, "bbox": [0, 0, 1, 1], "score": 0.5}
    (folder / "broken.json").write_text("[{")
    (folder / "nan.json").write_text(json.dumps([row, {**row, "score": math.nan}]))
    (folder / "stranger.json").write_text(json.dumps([row, {**row, "image_id": 99}]))
    done = run("coco", "gt.json", *words, folder=folder)
    assert_refused(done, code, message)


def test_errors_of_annotations_name_their_file(folder):
    truth = json.loads((folder / "gt.json").read_text())
    truth["annotations"][3]["bbox"][2] = -1
    (folder / "bad.json").write_text(json.dumps(truth))
    done = run("coco", "bad.json", "sharp.json", folder=folder)
    assert done.returncode == 1
    assert done.stderr.startswith("error: bad.json")


def test_help_has_examples_that_work(folder):
    done = run("coco", "--help", folder=folder)
    assert done.returncode == 0
    typed = [line.split()[1:] for line in done.stdout.partition("Examples")[2].splitlines() if line.strip()]
    assert len(typed) >= 5
    (folder / "instances.json").write_bytes((folder / "gt.json").read_bytes())
    for name in ("detections", "small", "large"):
        (folder / f"{name}.json").write_bytes((folder / "sharp.json").read_bytes())
    masks = [{**row, "segmentation": [corners(row["bbox"])]} for row in json.loads((folder / "sharp.json").read_text())]
    (folder / "masks.json").write_text(json.dumps(masks))
    for arguments in typed:
        words = arguments[: arguments.index(">") if ">" in arguments else None]
        done = run(*words, folder=folder)
        assert done.returncode == 0, (words, done.stderr)


def test_a_subprocess_has_the_same_output(folder):
    for words, code in ((["sharp.json", "--per-class"], 0), (["no.json"], 1)):
        done, in_process = (call("coco", "gt.json", *words, folder=folder) for call in (run_subprocess, run))
        assert (done.returncode, done.stdout) == (code, in_process.stdout)
