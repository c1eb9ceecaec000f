"""Names that are accepted have the number of their tool: numbers frozen by tests/golden/other_software, with versions.

Where a name of ours, or one that several tools have, is another number in a tool, the table of names says which line
has the tool's number, and docs/definitions.md says it to readers.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from core.registry.names_of_tools import TOOLS, Shared

import fastmetrics as fm
from support.cases import each_case

FROZEN = json.loads((Path(__file__).parents[2] / "golden" / "other_software" / "tools.json").read_text())
NUMBERS = {tool: FROZEN[tool]["numbers"] for tool in FROZEN if tool in TOOLS}
EVERY_NUMBER = [
    (tool, kind, name, value)
    for tool, kinds in NUMBERS.items()
    for kind, values in kinds.items()
    if kind != "half"
    for name, value in values.items()
]
LOG = {name: np.array(column) for name, column in FROZEN["log"].items()}
LOG["class"] = (LOG["score"] > 0.5).astype(np.int64)
# Keras counts rows between 200 thresholds: its area is the exact one of scores that are rounded up to them.
LOG["between thresholds"] = np.ceil(199 * LOG["score"]).clip(1)
COLUMNS = {
    "binary": {"label": "label", "score": "score"},
    "classes": {"label": "label", "prediction": "class"},
    "numbers": {"label": "amount", "score": "forecast"},
    "grades": {"label": "grade", "score": "score", "group": "group"},
    "lists": {"label": "label", "score": "score", "group": "group"},
    "kinds": {"label": "kind", "prediction": "predicted"},
    "clusters": {"label": "kind", "score": "predicted"},
}
# Names that the kinds of their tool do not need: other spellings of a name that is compared, of the same class.
NOT_COMPARED = {
    ("Keras", "recall_1"): "the name of a second instance",
    ("MLflow", "rouge1"): "it is rouge-score's, whose numbers the tests of texts compare",
    ("MLflow", "rouge2"): "it is rouge-score's, whose numbers the tests of texts compare",
    ("MLflow", "rougeL"): "it is rouge-score's, whose numbers the tests of texts compare",
    ("MLflow", "rougeLsum"): "it is rouge-score's, whose numbers the tests of texts compare",
    ("MLflow", "bleu"): "it loads a script from the network; its source is the mean over sentences",
    ("torchmetrics", "Dice"): "version 1.9 has no such class",
}


def ours(kind, line):
    weight = "weight" if kind.startswith("weighted ") else None
    kind = kind.removeprefix("weighted ")
    if kind in ("recommendations", "short"):
        (value,) = fm.evaluate_recommendations(FROZEN["lists"]["relevant"], FROZEN["lists"][kind], line).values()
        return value
    if kind == "texts":
        (value,) = fm.evaluate(FROZEN["texts"], line, label="references", score="hypotheses").to_metrics().values()
        return value
    (result,) = fm.evaluate(LOG, line, weight=weight, **COLUMNS[kind])
    return result.value


@each_case(("tool", "kind", "name", "value"), EVERY_NUMBER)
def test_a_name_has_the_number_of_its_tool(tool, kind, name, value):
    answer, tolerance = TOOLS[tool][name], FROZEN[tool]["tolerance"]
    if isinstance(answer, str):
        if (tool, name) == ("Keras", "AUC"):
            columns = {"label": "label", "score": "between thresholds"}
            weight = "weight" if kind.startswith("weighted") else None
            assert fm.evaluate(LOG, name, weight=weight, **columns)["auc"] == pytest.approx(value, rel=tolerance)
            return
        assert ours(kind, name) == pytest.approx(value, rel=tolerance)
    elif isinstance(answer, Shared):
        if kind != "recommendations":
            assert ours(kind, name) != pytest.approx(value, rel=1e-4)
        if answer.line is not None:
            assert answer.of(ours(kind, answer.line)) == pytest.approx(value, rel=tolerance)
    elif kind == "texts" and answer.text.startswith(("bleu", "chrf")):
        assert ours(kind, answer.text) == pytest.approx(100 * value, rel=tolerance)  # in percent, as the answer says


@each_case("tool", [tool for tool in NUMBERS if "half" in NUMBERS[tool]])
def test_a_score_at_the_threshold_is_positive_here(tool):
    own = NUMBERS[tool]["half"]["Recall"]
    assert fm.evaluate(FROZEN["half"], "recall", label="label", score="score")["recall"] == 1.0
    above = fm.evaluate(FROZEN["half"], "recall(threshold=0.500001)", label="label", score="score")
    (result,) = above
    assert result.value == own == 0.5
    text = (Path(__file__).parents[3] / "docs" / "definitions.md").read_text()
    (line,) = [line for line in text.splitlines() if "a score of exactly 0.5 as negative" in line]
    assert tool in line


@each_case("tool", sorted(NUMBERS))
def test_every_accepted_name_is_compared(tool):
    compared = {name for values in NUMBERS[tool].values() for name in values}
    accepted = {name for name, answer in TOOLS[tool].items() if isinstance(answer, str | Shared)}
    assert accepted - compared - {name for own, name in NOT_COMPARED if own == tool} == set()
    assert all(name in accepted for own, name in NOT_COMPARED if own == tool)
    assert compared <= set(TOOLS[tool])


@each_case(("tool", "name"), [(tool, name) for tool in TOOLS for name in TOOLS[tool]
                              if isinstance(TOOLS[tool][name], Shared)])  # fmt: skip
def test_docs_say_which_names_are_another_number_elsewhere(tool, name):
    text = (Path(__file__).parents[3] / "docs" / "definitions.md").read_text()
    table = text.partition("<!-- shared names -->")[2].partition("<!-- end -->")[0]
    rows = [row for row in table.strip().splitlines() if tool in row.split("|")[1] and f"`{name}`" in row.split("|")[2]]
    (row,) = rows
    line = TOOLS[tool][name].line
    assert line is None or f"`{line}`" in row
