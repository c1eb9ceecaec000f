"""``fastmetrics voc``: VOC's folders on the command line."""

import csv
import json

import pytest

import fastmetrics as fm
from support import command_line
from support.files.voc_folders import CLASSES, make, write_voc

pytest.importorskip("typer")
pytest.importorskip("rich")


def run(folder, *words):
    done = command_line.run("voc", *words, folder=folder)
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path):
    write_voc(tmp_path, *make(21))
    (tmp_path / "test.txt").write_text("000001\n000002\n")
    return tmp_path


def test_a_row_for_every_class(folder):
    result = fm.voc_map(folder / "VOC", folder / "results")
    code, out, errors = run(folder, "VOC", "results")
    assert (code, errors) == (0, "")
    head, *lines = out.splitlines()
    assert head.split() == ["class", "AP", "ground", "truths", "detections", "true", "positives"]
    rows = [line.split() for line in lines[: len(result.per_class) + 1]]
    assert [row[:2] for row in rows[:-1]] == [[name, f"{own.ap:.4f}"] for name, own in result.per_class.items()]
    assert rows[-1][:2] == ["mean", f"{result.map:.4f}"]
    assert lines[-1] == result.signature


def test_options_reach_the_function(folder):
    options = {"interpolation": "voc11", "iou_threshold": 0.25, "difficult": "count", "images": folder / "test.txt"}
    words = ["--interpolation", "voc11", "--iou-threshold", "0.25", "--difficult", "count", "--images", "test.txt"]
    result = fm.voc_map(folder / "VOC", folder / "results", **options)
    code, out, _ = run(folder, "VOC", "results/comp4_det_test_{}.txt", *words, "--json", "--threads", "1")
    document = json.loads(out)
    assert code == 0
    assert (document["map"], document["signature"]) == (result.map, result.signature)
    _, out, _ = run(folder, "VOC", "results", *words, "--format", "csv")
    assert [row["AP"] for row in csv.DictReader(out.splitlines())][-1] == repr(result.map)
    _, out, _ = run(folder, "VOC", "results", *words, "--format", "markdown")
    assert out.startswith("| class ")


def test_undefined_classes_and_errors(folder):
    (folder / "results" / "comp4_det_test_wombat.txt").write_text("000001 0.5 1 1 2 2\n")
    code, out, _ = run(folder, "VOC", "results")
    assert code == 0
    assert "– wombat: no ground truth, in no mean" in out
    (folder / "results" / f"comp4_det_test_{CLASSES[0]}.txt").write_text("000001 x 1 1 2 2\n")
    code, out, errors = run(folder, "VOC", "results")
    assert (code, out) == (1, "")
    assert "comp4_det_test_car.txt, line 1: score is not a number: 'x'" in " ".join(errors.split())
    assert run(folder, "VOC", "results", "--iou-threshold", "2")[0] == 1
    assert run(folder, "no", "results")[0] == 1
    assert run(folder, "VOC", "results", "--difficult", "no")[0] == 2
