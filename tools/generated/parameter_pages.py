"""docs/api.md: parameters, attributes and methods of what people call, from the docstrings."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import fastmetrics as fm
from fastmetrics import extend, testing
from generated import ROOT
from generated.option_pages import table

HEAD = """\
# API reference

Parameters of the functions that evaluate logs, attributes and methods of their results, and what a metric of your own
is made of. [functions.md](functions.md) lists all other functions by family, whose parameters `help(fm.NAME)` shows;
[options.md](options.md) says which options commands and clusters take.
`python tools/generate.py` writes this page from the docstrings.
"""
SECTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Functions": ("fm", ("evaluate", "compare", "compare_reports", "sample_size", "list_metrics")),
    "Questions": ("fm", ("Evaluation", "Task", "Metric")),
    "Results": ("fm", ("Report", "Result", "Comparison", "Difference", "SignificanceResult", "Estimate")),
    "Batch by batch": ("fm", ("Accumulator", "TrainingMetrics")),
    "Metrics of your own": (
        "extend",
        ("metric", "RowStatistic", "GroupStatistic", "ScoreRangeStatistic", "GroupKeyStatistic", "Kind", *(
            "Binary", "Category", "Key", "Real", "NonNegative", "Positive", "Probability", "Text", "Vector",
        ), "Columns", "Value", "divide", "exact_sum", "cumulative_sums", "finalize_group_mean"),
    ),
    "Checks of metrics": ("testing", ("check_metric", "metric_checks", "check_function", "function_checks")),
}  # fmt: skip
MODULES = {"fm": fm, "extend": extend, "testing": testing}
ENTRY = re.compile(r"^(?P<names>\*{0,2}\w+(?:, (?:\*{0,2}\w+|\.\.\.))*)(?: : (?P<kind>.*))?$")
SECTION = re.compile(r"^(?P<title>[A-Z]\w+)\n-{3,}\n", re.MULTILINE)


class Entry(NamedTuple):
    """A parameter or an attribute of a docstring."""

    names: tuple[str, ...]
    kind: str
    text: str


def outputs() -> dict[Path, str]:
    parts = [HEAD]
    for title, (module, names) in SECTIONS.items():
        parts.append(f"\n## {title}\n")
        others = () if module == "fm" else [name for name in MODULES[module].__all__ if name not in names]
        for name in (*names, *others):
            parts += described(name, f"{module}.{name}", getattr(MODULES[module], name))
    return {ROOT / "docs" / "api.md": "".join(parts)}


def described(name: str, place: str, value: Any) -> Iterator[str]:
    """The heading of a name, what it is, and tables of its parameters, attributes and methods."""
    sections = sections_of(inspect.getdoc(value) or "")
    yield f"\n### {name}\n\n`{place}`: {plain(sections[''].partition(chr(10) * 2)[0])}\n"
    parameters = entries_of(sections.get("Parameters", ""))
    defaults = defaults_of(value)
    if parameters:
        yield "\n"
        yield from table("parameter | default | kind | meaning", (parameter_cells(own, defaults) for own in parameters))
    if inspect.isclass(value):
        attributes = entries_of(sections.get("Attributes", ""))
        named = {name for own in [*attributes, *parameters] for name in own.names}
        attributes += [own for own in properties_of(value) if own.names[0] not in named]
        if attributes:
            yield "\n"
            rows = ([as_code(own.names), plain(own.kind), plain(own.text)] for own in attributes)
            yield from table("attribute | kind | what it is", rows)
        methods = list(methods_of(value))
        if methods:
            yield "\n"
            yield from table("method | what it does", methods)
    if "Returns" in sections:
        yield f"\nReturns {plain(returned(sections['Returns']))}\n"


def sections_of(text: str) -> dict[str, str]:
    """The sections of a docstring by title; the text before them has the title ''."""
    first, *rest = SECTION.split(text)
    return {"": first.strip()} | dict(zip(rest[::2], (own.strip("\n") for own in rest[1::2]), strict=True))


def entries_of(text: str) -> list[Entry]:
    found: list[Entry] = []
    for line in text.splitlines():
        head = ENTRY.match(line) if line and not line.startswith(" ") else None
        if head:
            found.append(Entry(tuple(head["names"].split(", ")), head["kind"] or "", ""))
        elif found:
            found[-1] = found[-1]._replace(text=f"{found[-1].text} {line.strip()}")
    return found


def defaults_of(value: Any) -> Mapping[str, str]:
    """Parameter -> its default as text; a parameter that has to be given is missing."""
    try:
        parameters = inspect.signature(value).parameters
    except ValueError:
        return {}
    return {
        own.name: "" if own.default is None else default_text(own.default)
        for own in parameters.values()
        if own.default is not own.empty
    }


def default_text(value: Any) -> str:
    text = repr(dict(value) if isinstance(value, Mapping) else value)
    return "" if " at 0x" in text or text in {"{}", "()"} else f"`{text}`"


def parameter_cells(own: Entry, defaults: Mapping[str, str]) -> list[str]:
    kind = re.sub(r",? (optional|default:? .*)$", "", own.kind)
    default = ", ".join(dict.fromkeys(defaults.get(name, "") for name in own.names))
    return [as_code(own.names), default, plain(kind), plain(own.text)]


def properties_of(value: type) -> Iterator[Entry]:
    for name, own in members_of(value):
        if isinstance(own, property) and own.__doc__:
            yield Entry((name,), "", own.__doc__.partition("\n\n")[0])


def methods_of(value: type) -> Iterator[list[str]]:
    """Name with parameters, and the first paragraph, of every public method; those that take functions are internal."""
    for name, own in members_of(value):
        function = own.__func__ if isinstance(own, (classmethod, staticmethod)) else own
        if inspect.isfunction(function) and function.__doc__:
            parameters = list(inspect.signature(function).parameters.values())
            shown = parameters if isinstance(own, staticmethod) else parameters[1:]
            if any(inspect.isfunction(one.default) for one in shown):
                continue
            bare = inspect.Signature([one.replace(annotation=one.empty) for one in shown])
            text = inspect.cleandoc(function.__doc__).partition("\n\n")[0]
            yield [f"`{name}{bare}`", plain(text)]


def members_of(value: type) -> list[tuple[str, Any]]:
    """Public members of the class and of its bases in this package, by name."""
    found: dict[str, Any] = {}
    for own in reversed(value.__mro__):
        if own.__module__.startswith("fastmetrics"):
            found |= {name: member for name, member in vars(own).items() if not name.startswith("_")}
    return sorted(found.items())


def returned(text: str) -> str:
    """The kind and the text of what a function returns."""
    kind, _, rest = text.partition("\n")
    return f"{kind}: {rest}" if rest.strip() else kind


def plain(text: str) -> str:
    """Text of a docstring on one line of Markdown."""
    text = re.sub(r":\w+:`~?([^`]+)`", r"`\1`", " ".join(text.split()))
    return re.sub(r"``(.+?)``", r"`\1`", text)


def as_code(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)
