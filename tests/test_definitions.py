"""docs/definitions.md says what the code says: signatures, parameters, summaries, exchanges, and examples that run.

A line of a function or of a metric that is missing or old is printed as it should be, to be pasted.
"""

import doctest
import inspect
import re
import warnings
from pathlib import Path

import pytest

import fastmetrics as fm
from fastmetrics._core.registry import spell

DEFINITIONS = Path(__file__).resolve().parents[1] / "docs" / "definitions.md"
EXCHANGES = {
    "none": ("nothing", "counts and exact sums"),
    "score": ("rows with neighbouring scores", "pairs, rates and precisions of a range of scores"),
    "group": ("the rows of a group", "one row of values for a group, and their exact sums"),
}
WAYS = {"none": "row by row", "score": "in the order of scores", "group": "by group"}
# Doors to the metrics, not metrics: their own pages and docstrings tell of them.
DOORS = {
    "compare", "describe_metrics", "evaluate", "list_metrics", "read_qrels", "read_run", "read_segments",
    "trec_measure_names",
}  # fmt: skip
KNOWN_FROM = re.compile(r"(run: [\w-]+ [\d.]+(, [\w-]+ [\d.]+)*|source)(; source( for the others)?)?")

pytestmark = pytest.mark.skipif(not DEFINITIONS.is_file(), reason="no docs beside the tests")


def signature(function):
    """A function's name and parameters with their defaults, without types."""
    own = inspect.signature(function)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in own.parameters.values()]
    text = str(own.replace(parameters=plain, return_annotation=inspect.Signature.empty)).replace("'", '"')
    text = re.sub(r'<class "numpy\.(\w+)">', r"np.\1", text)
    return f"{function.__name__}{text}"


def canonical(spec):
    """A metric string with every parameter spelt out."""
    word, _, cutoff = spec.name.partition("@")
    given = ", ".join(f"{name}={spell(value)}" for name, value in spec.parameters.items())
    optional = "[@k]" if spec.cutoff and not cutoff else ""
    return word + (f"({given})" if given else "") + (f"@{cutoff}" if cutoff else optional)


def line_of_metric(spec):
    return f"- `{canonical(spec)}`, {WAYS[spec.exchange]}. {spec.summary} Undefined: {spec.undefined}."


def row_of_exchange(exchange, specs):
    names = " ".join(f"`{spec.name}`" for spec in specs if spec.exchange == exchange)
    return f"| {exchange} | {' | '.join(EXCHANGES[exchange])} | {names} |"


def public_functions():
    functions = {name: getattr(fm, name) for name in fm.__all__}
    return {name: value for name, value in functions.items() if inspect.isfunction(value) and name not in DOORS}


@pytest.fixture(scope="module")
def page():
    return DEFINITIONS.read_text(encoding="utf-8")


def missing(wanted, text):
    lines = text.splitlines()
    return [line for line in wanted if not any(own.startswith(line) for own in lines)]


def wanted_lines():
    functions = [f"- `{signature(function)}`: " for function in public_functions().values()]
    specs = fm.describe_metrics()
    return functions + [line_of_metric(spec) for spec in specs] + [row_of_exchange(own, specs) for own in EXCHANGES]


def test_every_function_and_every_metric_is_there_as_it_is(page):
    lines = missing(wanted_lines(), page)
    assert not lines, "\n".join(["not in docs/definitions.md, or not as it is now:", *lines])


def test_nothing_is_there_that_is_not(page):
    """Every line of a function or a metric is of one that there is."""
    known = {name.partition("@")[0] for name in [*public_functions(), *fm.list_metrics()]}
    named = re.findall(r"^- `(\w+)", page, flags=re.MULTILINE)
    assert named
    assert not set(named) - known
    starts = [line for line in wanted_lines() if line.startswith("- ")]
    lines = [line for line in page.splitlines() if line.startswith("- `")]
    assert len(lines) == len(starts), "a line stands twice, or an old one beside the new"


def test_every_function_has_its_formula_beside_it(page):
    for name in public_functions():
        line = next(line for line in page.splitlines() if line.startswith(f"- `{name}("))
        assert len(line.partition("`: ")[2]) > 10, line


def test_every_claim_about_others_says_how_it_is_known(page):
    rows = [row for row in page.splitlines() if row.startswith("| ") and row.count("|") == 4]
    of_peers, inside = [], False
    for row in rows:
        if row.startswith("| --- "):
            continue
        if row.endswith(("| known from |", "| others |", "| why |")):
            inside = row.endswith("| known from |")
        elif inside:
            of_peers.append(row)
    assert len(of_peers) > 20
    for row in of_peers:
        how = row.strip("| ").rpartition(" | ")[2]
        assert KNOWN_FROM.fullmatch(how), row


def test_examples_run(page):
    test = doctest.DocTestParser().get_doctest(page, {}, "definitions.md", str(DEFINITIONS), 0)
    assert len(test.examples) > 10
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


def test_links_lead_somewhere(page):
    headings = {
        re.sub(r"[^\w -]", "", line.lstrip("# ")).lower().replace(" ", "-")
        for line in page.splitlines()
        if line.startswith("#")
    }
    for target in re.findall(r"\]\(#([^)]+)\)", page):
        assert target in headings, target


def test_a_stale_page_is_noticed(page):
    assert missing(["- `accuracy_score(y_true)`: "], page)
    changed = page.replace("normalize=True", "normalize=False")
    assert any("accuracy_score" in line for line in missing(wanted_lines(), changed))
    changed = page.replace("Undefined: no group with both classes", "Undefined: never")
    assert any("gauc" in line for line in missing(wanted_lines(), changed))
