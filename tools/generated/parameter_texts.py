"""Docstrings: the texts of shared parameters, which stand in `tools/parameter_texts.toml`.

Options have their texts in `fastmetrics/engine/evaluation/options`.

In a "Parameters" section, the type and the first paragraph of a shared parameter are written; later paragraphs are the
function's own. A parameter that is listed without a text gets one. Parameters that are not in the file stay as they
are. A module with `PARAMETERS_AS = "FUNCTION"` gets the texts of that public function, not those of its own place.
The overloads of `_overloads.py` stand in the same sources, which are written here.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, groupby, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from fastmetrics.engine.evaluation.options import OPTIONS, RUN_OPTIONS
from generated import PACKAGE, ROOT
from generated._option_keywords import with_keywords
from generated._overloads import with_overloads
from generated.public_names import public_places

TEXTS = ROOT / "tools" / "parameter_texts.toml"
LINE_LENGTH = 120
# Where the texts of options stand, by entry point. The methods of `Accumulator` describe most of them together.
PLACES = {
    "evaluate": "engine.evaluate", "compare": "engine.compare", "functions": "",
    "Accumulator.update": None, "Accumulator.from_bytes": None, "Accumulator.load": None,
    "DistributedPlan.partial": "DistributedPlan", "distributed.processes.evaluate": "distributed.processes",
    "spark.evaluate": "spark.dataframe", "spark.compare": "spark.dataframe",
    "ray.evaluate": "ray.dataset", "ray.compare": "ray.dataset",
    "dask.evaluate": "dask.dataframe", "dask.compare": "dask.dataframe",
}  # fmt: skip


class Text(NamedTuple):
    """What a parameter means in one place: a function or class ("auc"), a module or package ("metrics.ranking"), or
    everywhere ("").
    """

    place: str
    type: str | None  # None: the functions there describe it in their own words
    text: str


class Docstring(NamedTuple):
    """The lines [start, stop) of a docstring, and the parameters of its function whose default is None."""

    name: str
    start: int
    stop: int
    may_be_none: frozenset[str]


class Entry(NamedTuple):
    """The lines [start, stop) of a parameter in a docstring, and its shared text, if it has one."""

    start: int
    stop: int
    name: str
    text: Text | None
    may_be_none: bool


def outputs() -> dict[Path, str]:
    """Every source of a public package, with the shared texts."""
    texts = read_texts()
    # `Task` describes most of its parameters together.
    unused = {(name, text) for name in texts for text in texts[name] if text.place != "Task"}
    own: Counter[str] = Counter()
    result = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if any(part.startswith("_") for part in parts) or "definitions" in parts:  # those are copies of oracles
            continue
        lines = with_keywords(path.read_text(encoding="utf-8").split("\n"), ".".join(parts))
        entries = find_entries(lines, ".".join(parts), texts)
        unused -= {(entry.name, entry.text) for entry in entries}
        own.update(own_text(lines, entry) for entry in entries if entry.text is None or entry.text.type is None)
        result[path] = with_overloads(rewrite(lines, entries), ".".join(parts))
    errors = [f"no function uses the text of {name} for {text.place or 'all functions'}" for name, text in unused]
    errors += [f"{count} docstrings say {text!r}: say it here, once" for text, count in own.items() if count > 2]
    if errors:
        raise SystemExit("\n".join(f"{TEXTS.relative_to(ROOT)}: {error}" for error in errors))
    return result


def read_texts(path: Path = TEXTS) -> dict[str, list[Text]]:
    """The texts of every shared parameter."""
    entries = tomllib.loads(path.read_text(encoding="utf-8"))
    texts = {name: list(texts_of_parameter(entry)) for name, entry in entries.items()}
    for text, options in groupby((*OPTIONS, *RUN_OPTIONS), key=lambda option: option.text):
        group = list(options)
        first = group[0]
        own = texts.setdefault(", ".join(option.name for option in group), [])
        taken = {found.place for found in own}
        places = [PLACES.get(name, name) for name in first.entry_points]
        places += ["Evaluation"] * (first in OPTIONS) + ["Task"] * first.of_tasks
        places = [place for place in dict.fromkeys(places) if place is not None and place not in taken]
        own += [Text(place, first.type, text) for place in places]
    return texts


def texts_of_parameter(entry: Mapping[str, Any]) -> Iterator[Text]:
    variants = [value for value in entry.values() if isinstance(value, dict)]
    if "text" in entry:
        yield from (Text(place, entry["type"], entry["text"]) for place in ["", *entry.get("for", [])])
    for variant in variants:
        merged = {**entry, **variant}
        yield from (Text(place, merged["type"], merged["text"]) for place in variant["for"])
    yield from (Text(place, None, "") for place in entry.get("own", []))


def closest_text(texts: Sequence[Text], module: str, name: str) -> Text | None:
    """The text for a function: one for its name, else one for its module or package, else the default."""
    names = name.split(".")  # a method has the texts of its class
    prefixes = ["", *accumulate(module.split("."), "{}.{}".format)]
    found = [text for text in texts if text.place in names or text.place in prefixes]
    return max(found, key=lambda text: (text.place in names, len(text.place)), default=None)


def public_docstrings(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[Docstring]:
    """The docstrings of functions, classes and their methods."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and not node.name.startswith("_"):
            name = prefix + node.name
            if ast.get_docstring(node) is not None:
                text = node.body[0]
                yield Docstring(name, text.lineno - 1, text.end_lineno or text.lineno, none_by_default(node))
            if isinstance(node, ast.ClassDef):
                yield from public_docstrings(node, f"{name}.")


def none_by_default(node: ast.FunctionDef | ast.ClassDef) -> frozenset[str]:
    """The parameters, of a class those of `__init__`, whose default is None."""
    if isinstance(node, ast.ClassDef):
        methods = (method for method in node.body if isinstance(method, ast.FunctionDef))
        return next((none_by_default(method) for method in methods if method.name == "__init__"), frozenset())
    positional = [*node.args.posonlyargs, *node.args.args][::-1]
    pairs: list[tuple[ast.arg, ast.expr | None]] = [*zip(positional, node.args.defaults[::-1], strict=False)]
    pairs += [*zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)]
    return frozenset(name.arg for name, value in pairs if isinstance(value, ast.Constant) and value.value is None)


def parameter_lines(lines: Sequence[str], docstring: Docstring) -> Iterator[tuple[int, int]]:
    """The lines [start, stop) of every entry in the section "Parameters", without blank lines at its end."""
    inside = range(docstring.start, docstring.stop - 1)
    headings = [index for index in inside if set(lines[index + 1].strip()) == {"-"}]
    section = next((index for index in headings if lines[index].strip() == "Parameters"), None)
    if section is None:
        return
    end = next((index for index in headings if index > section), docstring.stop - 1)
    starts = [index for index in range(section + 2, end) if indent_of(lines[index]) == indent_of(lines[section])]
    for start, stop in pairwise([*starts, end]):
        yield start, next(last for last in range(stop, start, -1) if lines[last - 1].strip())


def indent_of(line: str) -> int | None:
    """The number of spaces before the text of a line; None for a blank line."""
    return len(line) - len(line.lstrip()) if line.strip() else None


def shared_block(entry: Sequence[str], text: Text, may_be_none: bool) -> list[str]:
    """An entry with the shared type and text; later paragraphs are kept."""
    indent = entry[0][: indent_of(entry[0])]
    body = indent + " " * 4
    optional = ", optional" if may_be_none and not (text.type or "").endswith("or None") else ""
    own = next((index for index, line in enumerate(entry) if not line.strip()), len(entry))
    wrapped = textwrap.wrap(text.text, LINE_LENGTH, initial_indent=body, subsequent_indent=body, break_on_hyphens=False)
    return [f"{indent}{entry_name(entry[0])} : {text.type}{optional}", *wrapped, *entry[own:]]


def entry_name(line: str) -> str:
    return line.partition(" : ")[0].strip().removesuffix(" :")


def own_text(lines: Sequence[str], entry: Entry) -> str:
    """What a function says of a parameter in its own words, on one line."""
    return f"{entry.name}: {' '.join(line.strip() for line in lines[entry.start + 1 : entry.stop])}"


def find_entries(lines: Sequence[str], module: str, texts: Mapping[str, list[Text]]) -> list[Entry]:
    """The parameters of a module's docstrings."""
    if not any(line.strip() == "Parameters" for line in lines):
        return []  # parsing takes most of the time
    found = []
    tree = ast.parse("\n".join(lines))
    other = other_function(tree, module)
    for docstring in public_docstrings(tree):
        for start, stop in parameter_lines(lines, docstring):
            name = entry_name(lines[start])
            text = closest_text(texts.get(name, []), *(other or (module, docstring.name)))
            found.append(Entry(start, stop, name, text, name.split(",")[0] in docstring.may_be_none))
    return found


def other_function(tree: ast.Module, module: str) -> tuple[str, str] | None:
    """The module and the name of the function in PARAMETERS_AS, if the module has it."""
    for node in tree.body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "PARAMETERS_AS":
            name = ast.literal_eval(node.value)
            if name not in public_places():
                raise SystemExit(f"{module}: PARAMETERS_AS = {name!r} is no public function")
            return public_places()[name].removeprefix("fastmetrics."), name
    return None


def rewrite(lines: list[str], entries: list[Entry]) -> str:
    """The source with the shared texts."""
    for entry in sorted(entries, key=lambda entry: entry.start, reverse=True):
        if entry.text is not None and entry.text.type is not None:
            block = shared_block(lines[entry.start : entry.stop], entry.text, entry.may_be_none)
            lines = [*lines[: entry.start], *block, *lines[entry.stop :]]
    return "\n".join(lines)
