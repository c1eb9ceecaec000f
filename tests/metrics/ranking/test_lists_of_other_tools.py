"""What other tools do with gains, ties, short lists and lists without a relevant row: their numbers, frozen.

docs/definitions.md states these differences in a table, which names the versions.
"""

import json
from pathlib import Path

import pytest

import fastmetrics as fm
from support.cases import each_case

FOLDER = Path(__file__).parents[2] / "golden" / "other_software"
FROZEN = json.loads((FOLDER / "lists.json").read_text())
NUMBERS = [(tool, own) for tool in FROZEN if tool != "data" for own in FROZEN[tool]["numbers"]]
COLUMNS = {"label": "label", "score": "score", "group": "group"}


@each_case(("tool", "number"), NUMBERS)
def test_the_line_has_the_number_of_the_tool(tool, number):
    (result,) = fm.evaluate(FROZEN["data"][number["data"]], number["line"], **COLUMNS)
    assert result.value == pytest.approx(number["value"], rel=1e-6, abs=1e-9)


# The other lines that the table of differences tells apart: on the same list they are other numbers.
@each_case(
    ("data", "lines"),
    [
        ("grades", ["ndcg@3", "ndcg(gain=exp2)@3", "ndcg(gain=binary)@3"]),
        ("ties", ["ndcg@1", "ndcg(ties=pessimistic)@1", "ndcg(ties=optimistic)@1"]),
        ("empty", ["ndcg@3", "ndcg(empty=one)@3", "ndcg(empty=skip)@3"]),
        ("short", ["p@5", "p(short_list=n)@5"]),
        ("many", ["map@3", "map(normalize=relevant)@3", "map(normalize=hits)@3"]),
        ("late", ["mrr@4", "mind_mrr@4"]),
    ],
)
def test_the_lists_tell_the_definitions_apart(data, lines):
    values = [fm.evaluate(FROZEN["data"][data], line, **COLUMNS).to_metrics().popitem()[1] for line in lines]
    assert len({round(value, 9) for value in values}) == len(lines)


@each_case("tool", [tool for tool in FROZEN if tool != "data"])
def test_the_table_of_differences_names_the_version(tool):
    table = (Path(__file__).parents[3] / "docs" / "definitions.md").read_text().partition("### Differences between")[2]
    package, number = FROZEN[tool]["made with"].split()
    named = {"pytrec_eval": "pytrec_eval-terrier", "Spark": "Spark"}.get(tool, tool)
    assert f"{named} {number}" in table, package
