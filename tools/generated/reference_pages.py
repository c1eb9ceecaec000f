"""docs/definitions.md between its markers, and docs/functions.md: functions and metrics by family.

A block of definitions.md begins with `<!-- functions FAMILY -->` or `<!-- metrics FAMILY -->` and ends with
`<!-- end -->`. It may name modules (`ranking.gauc`) instead of a family. A function or a metric is in the block that
names its module most precisely, so a new one appears in the block of its family. `<!-- exchanges -->` is the table of
exchanges.
"""

import inspect
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from itertools import count
from pathlib import Path
from typing import Any

from fastmetrics._core.metric_spec import MetricSpec
from fastmetrics._core.metric_strings import format_value
from fastmetrics._core.registry import list_metrics
from generated import ROOT
from generated.public_names import public_places

BLOCK = re.compile(r"(?s)(<!-- (functions|metrics) ([ \w.]+) -->\n).*?(?=<!-- end -->)")
EXCHANGE_BLOCK = re.compile(r"(?s)(<!-- exchanges -->\n).*?(?=<!-- end -->)")
METRICS = "fastmetrics.metrics."
WAYS = {"none": "row by row", "range": "in the order of scores", "hash": "by group"}
EXCHANGES = {
    "none": ("nothing", "counts and exact sums"),
    "range": ("rows with neighboring scores", "pairs, rates and precisions of a range of scores"),
    "hash": ("the rows of a group", "one row of values for a group, and their exact sums"),
}
FUNCTIONS_HEAD = """\
# Functions

Every public name, by family. [definitions.md](definitions.md) has the formulas, `help(fm.NAME)` the parameters.
`python tools/generate.py` writes this page from the docstrings.
"""


def outputs() -> dict[Path, str]:
    docs = ROOT / "docs"
    page = (docs / "definitions.md").read_text(encoding="utf-8")
    filled = EXCHANGE_BLOCK.sub(lambda match: match[1] + exchange_table(), fill_blocks(page))
    return {docs / "definitions.md": filled, docs / "functions.md": functions_page()}


@cache
def public_objects() -> list[tuple[str, str, Any]]:
    """Module, name and object of every public function and class, by module, in the order of the file."""
    objects = [(module, name, getattr(import_module(module), name)) for name, module in public_places().items()]
    found = [(module, name, value) for module, name, value in objects if callable(value)]
    lines = {name: inspect.findsource(inspect.unwrap(value))[1] for _, name, value in found}
    return sorted(found, key=lambda entry: (entry[0], lines[entry[1]]))


# -------------------------------------------------------------------------------------------------- definitions.md


def fill_blocks(page: str) -> str:
    """The page with the lines of every block as the code says."""
    blocks = [
        (number, kind, place)
        for number, (_, kind, places) in enumerate(BLOCK.findall(page))
        for place in places.split()
    ]
    contents: dict[int, list[str]] = defaultdict(list)
    for kind, module, line in [*function_lines(), *metric_lines()]:
        fitting = [
            (len(place), number)
            for number, own_kind, place in blocks
            if own_kind == kind and f"{module}.".startswith(f"{METRICS}{place}.")
        ]
        if not fitting:
            raise SystemExit(f"docs/definitions.md has no block for {module}: write <!-- {kind} FAMILY --> there")
        contents[max(fitting)[1]].append(line)
    numbers = count()
    return BLOCK.sub(lambda match: match[1] + "".join(contents[next(numbers)]), page)


def function_lines() -> Iterator[tuple[str, str, str]]:
    for module, _, function in public_objects():
        if module.startswith(METRICS) and inspect.isfunction(inspect.unwrap(function)):
            yield "functions", module, f"- `{signature(function)}`: {definition(function)}\n"


def metric_lines() -> Iterator[tuple[str, str, str]]:
    for spec in list_metrics().values():
        names = [f"`{alias}`" for alias in spec.aliases]
        names += [f"`{alias}`" + (f" with `{own}`" if own else "") for alias, own in spec.option_aliases.items()]
        aliases = f" Also: {', '.join(names)}." if names else ""
        line = f"- `{metric_string(spec)}`, {WAYS[spec.exchange]}. {spec.summary} Undefined: {spec.undefined}."
        other = "".join(
            f" Of `{form.model_role}=`: `{metric_string(form)}`. Undefined: {form.undefined}."
            for form in spec.other_forms
        )
        yield "metrics", spec.finalize.__module__, f"{line}{other}{aliases}\n"


def exchange_table() -> str:
    head = "| exchange | rows brought together | kept of a partition | metrics |\n| --- | --- | --- | --- |\n"
    rows = []
    for exchange, (together, kept) in EXCHANGES.items():
        names = " ".join(f"`{spec.name}`" for spec in list_metrics().values() if spec.exchange == exchange)
        rows.append(f"| {exchange} | {together} | {kept} | {names} |\n")
    return head + "".join(rows)


def signature(function: Callable[..., Any]) -> str:
    """A function's name and parameters with their defaults, without types."""
    own = inspect.signature(function)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in own.parameters.values()]
    text = str(own.replace(parameters=plain, return_annotation=inspect.Signature.empty)).replace("'", '"')
    text = re.sub(r'<class "numpy\.(\w+)">', r"np.\1", text)
    return f"{function.__name__}{text}"


def metric_string(spec: MetricSpec) -> str:
    """A metric string with all of its parameters."""
    base_name, _, cutoff = spec.name.partition("@")
    given = ", ".join(f"{name}={format_value(value)}" for name, value in spec.parameters.items())
    optional = "[@k]" if spec.cutoff and not cutoff else ""
    return base_name + (f"({given})" if given else "") + (f"@{cutoff}" if cutoff else optional)


def definition(function: Callable[..., Any]) -> str:
    """A docstring's paragraphs between its summary and its sections, and what a returned float is, in one line."""
    text, *sections = re.split(r"\n\n(?=\w+\n-{3})", inspect.getdoc(function) or "")
    summary, _, formula = text.partition("\n\n")
    returned = [section for section in sections if section.startswith("Returns\n-------\nfloat")]
    values = [section.split("\n", 3)[3] for section in returned if section.count("\n") > 2]
    return one_line(" ".join([formula or summary, *values]))


def one_line(text: str) -> str:
    return " ".join(text.replace("``", "`").split())


# ---------------------------------------------------------------------------------------------------- functions.md


def functions_page() -> str:
    rows: dict[str, list[str]] = defaultdict(list)
    for module, name, value in public_objects():
        package = ".".join(module.split(".")[:3]) if module.startswith(METRICS) else ""
        summary = one_line((inspect.getdoc(value) or "").split("\n\n")[0]).replace("|", r"\|")
        rows[package].append(f"| `{name}` | {summary} |\n")
    pages = [FUNCTIONS_HEAD]
    for package, own in rows.items():
        title = package.rpartition(".")[2].capitalize() if package else "Logs and results"
        purpose = one_line((import_module(package).__doc__ or "").split("\n\n")[0]) + "\n\n" if package else ""
        pages.append(f"\n## {title}\n\n{purpose}| name | what it is |\n| --- | --- |\n{''.join(own)}")
    return "".join(pages)
