"""Every public function that reads a file answers alike to a path at which there is none."""

import importlib
import inspect
from pathlib import Path

import pytest

import fastmetrics as fm
from fastmetrics._core.suggestions import PUBLIC_MODULES

# Types of parameters in which a path is read, and names of parameters with another meaning, which have own answers.
READ = {"PathLike", "Path", "Log", "RankedRows", "FoundBoxes"}
WRITTEN_OR_SEARCHED = {"spill_dir", "wordnet", "Accumulator.save"}
ROWS = {"image": ["a"], "category": ["c"], "box": [[0, 0, 1, 1]], "score": [0.5]}
QRELS = {"q": {"d": 1}}
COLUMNS = {"label": "y", "score": "s"}
LOG = {"y": [0, 1], "s": [0.1, 0.2]}

# Each reads one file; `path` is that of one that is missing.
CALLS = {
    "Accumulator.load(path)": fm.Accumulator.load,
    "Accumulator.update(batch)": lambda path: fm.Accumulator(["auc"], **COLUMNS).update(path),
    "COCO(annotation_file)": fm.COCO,
    "COCO.loadRes(resFile)": lambda path: fm.COCO().loadRes(path),
    "Comparison.from_json(source)": lambda path: fm.Comparison.from_json(Path(path)),
    "Evaluation.run(data)": lambda path: fm.Evaluation(["auc"], **COLUMNS).run(path),
    "Report.from_json(source)": lambda path: fm.Report.from_json(Path(path)),
    "TextComparison.from_json(source)": lambda path: fm.TextComparison.from_json(Path(path)),
    "coco_map(detections)": lambda path: fm.coco_map(ROWS, path),
    "coco_map(ground_truth)": lambda path: fm.coco_map(path, ROWS),
    "compare(against)": lambda path: fm.compare(LOG, ["auc"], **COLUMNS, against=path),
    "compare(data)": lambda path: fm.compare(path, ["auc"], label="y", score=["a", "b"]),
    "compare_runs(qrels)": lambda path: fm.compare_runs(path, {"a": QRELS, "b": QRELS}),
    "compare_runs(runs)": lambda path: fm.compare_runs(QRELS, {"a": QRELS, "b": path}),
    "evaluate(data)": lambda path: fm.evaluate(path, ["auc"], **COLUMNS),
    "evaluate_ranking(qrels)": lambda path: fm.evaluate_ranking(path, QRELS),
    "evaluate_ranking(run)": lambda path: fm.evaluate_ranking(QRELS, path),
    "evaluate_trec(qrels)": lambda path: fm.evaluate_trec(path, "run.trec"),
    "evaluate_trec(run)": lambda path: fm.evaluate_trec("one.qrels", path),
    "read_qrels(path)": fm.read_qrels,
    "read_run(path)": fm.read_run,
    "read_segments(source)": fm.read_segments,
    "voc_map(detections)": lambda path: fm.voc_map(ROWS, path),
    "voc_map(ground_truth)": lambda path: fm.voc_map(path, ROWS),
    "voc_map(images)": lambda path: fm.voc_map(ROWS, ROWS, images=path),
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("clicks.txt", "other.txt"):
        Path(name).touch()
    Path("run.trec").write_text("q Q0 d 1 1.0 tag\n")
    Path("one.qrels").write_text("q 0 d 1\n")


@pytest.mark.parametrize("call", CALLS)
def test_missing_files(call):
    with pytest.raises(FileNotFoundError) as caught:
        CALLS[call]("click.txt")
    assert str(caught.value).endswith("there is no file click.txt; did you mean clicks.txt?")
    with pytest.raises(FileNotFoundError, match=r"there is no file none/a\.txt: there is no folder none either$"):
        CALLS[call]("none/a.txt")


def parameters_that_read():
    """Every parameter of a public function, class or method that takes a path to read, as "function(parameter)"."""
    for module in map(importlib.import_module, ("fastmetrics", *(f"fastmetrics.{name}" for name in PUBLIC_MODULES))):
        for name in module.__all__:
            own = getattr(module, name)
            found = {name: own}
            if inspect.isclass(own):
                found |= {f"{name}.{method}": getattr(own, method) for method in dir(own) if method[0] != "_"}
            for title, function in found.items():
                yield from parameters_of(title, function)


def parameters_of(title, function):
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return
    for parameter in signature.parameters.values():
        words = str(parameter.annotation).replace("|", " ").replace("[", " ").replace(".", " ").split()
        is_read = not READ.isdisjoint(words)
        if is_read and not {parameter.name, title} & WRITTEN_OR_SEARCHED and ".to_" not in title:
            yield f"{title}({parameter.name})"


def test_no_function_that_reads_is_forgotten():
    missing = set(parameters_that_read()) - set(CALLS)
    assert not missing
