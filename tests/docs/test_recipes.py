"""The lines of docs/recipes.md, run in order, give the peers' values.

A value comes from the peer if it is installed for the tests. Otherwise it is computed from the peer's definition, with
the counts in a comment. `peers` has a value for every line of the page, and no other.
"""

import re
import warnings
from pathlib import Path

import numpy as np
import pytest
import sklearn.metrics as sk

from support.docs.recipe_values import QUERIES, SCORES, TIED_LABEL, TIED_SCORE, clipped, peers
from support.peers import peer
from support.peers import ranx as import_ranx

RECIPES = Path(__file__).resolve().parents[2] / "docs" / "recipes.md"

pytestmark = pytest.mark.skipif(not RECIPES.is_file(), reason="no docs beside the tests")


def steps(text):
    """Yield ("block", code) and ("line", section, code, output, whether it warns), in the order of the page."""
    section, block = "", None
    for row in text.splitlines():
        if row.startswith("## "):
            section = row[3:]
        elif row == "```python":
            block = []
        elif row == "```" and block is not None:
            yield "block", "\n".join(block)
            block = None
        elif block is not None:
            block.append(row)
        elif row.startswith("| ") and not row.startswith(("| the number of | what", "| --- ")):
            found = re.fullmatch(r"\| (.+) \| (.+) \| `([^`]+)` \| `([^`]+)`(, with a warning)? \|", row)
            assert found, f"not a line of a table of recipes: {row}"
            yield "line", section, found[3], found[4], found[5] is not None


def lines():
    return [step[1:] for step in steps(RECIPES.read_text(encoding="utf-8")) if step[0] == "line"]


# ----------------------------------------------------------------------------------------------- the peers' numbers


# -------------------------------------------------------------------------------------------------------- the tests


@pytest.fixture(scope="module")
def peer_values():
    """The peers' values in the order of the page. Peers warn if there is one class only."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return peers()


def test_every_line_has_a_number_to_compare_with(peer_values):
    sections = [section for section, *_ in lines()]
    assert list(dict.fromkeys(sections)) == list(peer_values)
    n_lines = {section: len(values) for section, values in peer_values.items()}
    assert {section: sections.count(section) for section in peer_values} == n_lines


def test_every_line_gives_the_output_on_the_page_and_the_value_of_the_peer(peer_values):
    names, numbers = {}, {section: iter(values) for section, values in peer_values.items()}
    for kind, *step in steps(RECIPES.read_text(encoding="utf-8")):
        if kind == "block":
            exec(step[0], names)
            continue
        section, line, gives, warns = step
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            value = eval(line, names)
        assert repr(value) == gives, line
        assert len(caught) == warns, line
        assert all(issubclass(warning.category, UserWarning) for warning in caught), line
        peer_value = np.array(next(numbers[section]), float)
        np.testing.assert_allclose(np.array(value, float), peer_value, rtol=1e-12, err_msg=line)


def lines_naming(library):
    """Yield (the library's name, our line, the value) for the lines on ranked lists that name it."""
    section = RECIPES.read_text(encoding="utf-8").partition("## Ranked lists: ")[2].partition("Three rows")[0]
    for row in section.splitlines():
        found = re.search(rf"^\| [^|]*{library} `([^`]+)`.* `(fm\.[^`]+)` \| `([^`]+)` \|$", row)
        if found:
            yield found[1], found[2], float(found[3])


def test_trec_eval_agrees():
    """No scores tie, so every list is in the order of the page."""
    pytrec_eval = peer("pytrec_eval")
    qrels = {f"q{q}": {f"d{i}": grade for i, grade in enumerate(grades)} for q, grades in enumerate(QUERIES)}
    run = {f"q{q}": {f"d{i}": score for i, score in enumerate(scores)} for q, scores in enumerate(SCORES)}
    measures = list(lines_naming("trec_eval"))
    assert len(measures) >= 9
    for name, line, number in measures:
        asked = re.sub(r"_(\d+)$", r".\1", name)
        values = pytrec_eval.RelevanceEvaluator(qrels, {asked}).evaluate(run).values()
        assert sum(value[name] for value in values) / 3 == pytest.approx(number, rel=1e-12), line


def test_ranx_agrees():
    ranx = import_ranx()
    qrels = ranx.Qrels({f"q{q}": {f"d{i}": g for i, g in enumerate(grades)} for q, grades in enumerate(QUERIES)})
    run = ranx.Run({f"q{q}": {f"d{i}": s for i, s in enumerate(scores)} for q, scores in enumerate(SCORES)})
    measures = list(lines_naming("ranx"))
    assert len(measures) >= 9
    for name, line, number in measures:
        assert ranx.evaluate(qrels, run, name) == pytest.approx(number, rel=1e-12), line


def test_scikit_learn_agrees_for_lists_with_a_relevant_row():
    ((_, _, number),) = lines_naming("scikit-learn")
    values = [sk.ndcg_score([grades], [scores], k=3) for grades, scores in zip(QUERIES[:2], SCORES[:2], strict=True)]
    assert sum(values) / 3 == pytest.approx(number, rel=1e-12)
    assert sk.ndcg_score([[0, 0, 1]], [[0.5, 0.5, 0.5]], k=1) == pytest.approx(1 / 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_log_loss_of_narrow_types_agrees_to_the_precision_of_the_peer(dtype):
    peer_value = sk.log_loss([1, 0], np.array([0.0, 0.5], dtype))
    assert peer_value == pytest.approx(clipped(float(np.finfo(dtype).eps)), rel=float(np.finfo(dtype).eps))


def test_wrong_page_is_found():
    with pytest.raises(AssertionError, match="not a line"):
        list(steps("## Section\n| peer | what | fm.auc([0, 1], [0, 1]) | 0.5 |\n"))


def test_trapezoids_over_rows_depend_on_the_order_of_ties():
    """Between 8 and 12 of 12 pairs, as on the page."""
    for tie, pairs in ((-1, 8), (1, 12)):
        order = sorted(zip(TIED_SCORE, TIED_LABEL, strict=True), key=lambda row: (-row[0], -tie * row[1]))
        above = won = 0
        for _, label in order:
            above += label
            won += (1 - label) * above
        assert won == pairs
