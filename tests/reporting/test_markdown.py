"""Reports and comparisons as Markdown."""

import math

import fastmetrics as fm
from fastmetrics._core.comparison.comparison import Comparison
from fastmetrics._core.comparison.difference import Difference
from fastmetrics.engine.results.report import Report
from fastmetrics.engine.results.result import Result


def report(*results: Result) -> Report:
    return Report(results, rows=12, dropped={"null label": 2}, columns={"label": "y"}, version="1.0")


def test_a_row_for_each_metric():
    made = report(Result("auc", "p", {}, 2 / 3, "s", {"rows": 10}), Result("ks", "p", {}, math.nan, "s", {}, "a_b | c"))
    assert made.to_markdown(3).splitlines() == [
        "| metric | value | notes    |",
        "| ------ | ----: | -------- |",
        "| auc    | 0.667 |          |",
        "| ks     |   nan | a_b \\| c |",
        "",
        "- fastmetrics 1.0: 12 rows read, 2 dropped (null label: 2)",
        "- label y",
    ]
    assert "| 0.6666666666666666 |" in made.to_markdown()
    assert "| 0.6666666666666666 |" in made.to_markdown(17)


def test_slices_with_intervals():
    level = "s|ci:0.95|method:bootstrap"
    made = report(
        Result("auc", "p", {}, 0.75, level, {"rows": 1200}, interval=(0.7, 0.8)),
        Result("auc", "p", {"c": "*x*"}, 1 / 3, level, {"rows": 7}, interval=(0.3, 0.4)),
        Result("auc", "p", {"c": "y"}, math.nan, level, {"rows": 7}, "one class"),
    )
    assert made.to_markdown(4).splitlines()[:6] == [
        "| c     |  rows |       auc | 95 % interval  |",
        "| ----- | ----: | --------: | -------------- |",
        "| (all) | 1,200 |    0.7500 | 0.700 to 0.800 |",
        "| *x*   |     7 |    0.3333 | 0.300 to 0.400 |",
        "| y     |     7 | undefined |                |",
        "",
    ]
    assert "- auc: undefined in 1 of 3 rows of the table, one class" in made.to_markdown()


def test_a_comparison():
    decided = {"verdict": "better", "verdict_interval": (0.1, 0.2), "verdict_level": 0.95}
    one = Difference("auc", "old", "new", 0.5, 2 / 3, pvalue=0.01, adjusted_pvalue=0.02, **decided)
    made = Comparison([one], level=0.95, correction="holm", unit="user_id", version="1.0")
    lines = made.to_markdown(3).splitlines()
    assert lines[0].split("|")[1:5] == [" metric ", " old ", "   new ", " difference "]
    assert [cell.strip() for cell in lines[2].split("|")[1:7]] == [
        "auc", "0.5", "0.667", "+0.167", "better", "[+0.1, +0.2]",
    ]  # fmt: skip
    assert lines[4] == "- new is better: auc +0.17 (0.10 to 0.20)"
    assert lines[5].startswith("- fastmetrics 1.0: 1 difference, paired by user\\_id, decided together by")
    assert "+0.16666666666666663" in made.to_markdown()


def test_confusion_matrices_and_classes_have_titles():
    log = {"y": ["a", "a", "b"], "p": ["a", "b", "b"]}
    lines = fm.evaluate(log, "accuracy", label="y", prediction="p").to_markdown().splitlines()
    start = lines.index("confusion matrix: rows are labels (y), columns are predictions (p)")
    assert lines[start - 1 : start + 8] == [
        "",
        "confusion matrix: rows are labels (y), columns are predictions (p)",
        "",
        "| y   |   a |   b |",
        "| --- | --: | --: |",
        "| a   |   1 |   1 |",
        "| b   |   0 |   1 |",
        "",
        "p, by class",
    ]
