"""Overloads of functions whose options decide the type of the result, from `tools/overloads.toml`.

An overload has the parameters of its function, with the types of its case. It stands above the function and its
decorators; what stood there before is replaced.
"""

from __future__ import annotations

import ast
import textwrap
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from generated import ROOT
from generated.public_names import public_places

CASES = ROOT / "tools" / "overloads.toml"
WIDTH = 120
OWN_KEYS = ("default", "required", "returns")


@cache
def read_cases(path: Path = CASES) -> dict[str, list[dict[str, Any]]]:
    """The cases of every function, by its name."""
    cases = {
        name: entry["cases"]
        for entry in tomllib.loads(path.read_text(encoding="utf-8"))["functions"]
        for name in entry["names"]
    }
    if unknown := cases.keys() - public_places().keys():
        raise SystemExit(f"{path.relative_to(ROOT)}: no public functions: {', '.join(sorted(unknown))}")
    return cases


def with_overloads(text: str, module: str) -> str:
    """The source of a module ("metrics.curves.auc") with the overloads of its functions."""
    wanted = {name for name in read_cases() if public_places()[name] == f"fastmetrics.{module}"}
    return rewrite(text, {name: read_cases()[name] for name in wanted}) if wanted else text


def rewrite(text: str, cases: Mapping[str, Sequence[dict[str, Any]]]) -> str:
    """The source with the overloads of these functions, from the last function to the first."""
    lines = text.split("\n")
    functions = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef) and node.name in cases]
    for node in reversed(functions):
        start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]) - 1
        if is_overload(node):
            lines[start : node.end_lineno] = []
        else:
            lines[start:start] = [line for case in cases[node.name] for line in overload(node, case).split("\n")]
    return "\n".join(lines)


def is_overload(node: ast.FunctionDef) -> bool:
    return any(isinstance(decorator, ast.Name) and decorator.id == "overload" for decorator in node.decorator_list)


def overload(node: ast.FunctionDef, case: Mapping[str, Any]) -> str:
    """One overload, in as few lines as its parameters need."""
    types = {name: kind for name, kind in case.items() if name not in OWN_KEYS}
    given = [*node.args.args, *node.args.kwonlyargs]
    if unknown := types.keys() - {own.arg for own in given}:
        raise SystemExit(f"{node.name} has no option {', '.join(sorted(unknown))}")
    required = set(case.get("required", () if case.get("default") else types))
    has_default = [False] * (len(node.args.args) - len(node.args.defaults)) + [True] * len(node.args.defaults)
    has_default += [value is not None for value in node.args.kw_defaults]
    parameters = [
        f"{own.arg}: {types.get(own.arg, ast.unparse(own.annotation) if own.annotation else 'Any')}"
        + (" = ..." if optional and own.arg not in required else "")
        for own, optional in zip(given, has_default, strict=True)
    ]
    if node.args.kwonlyargs:
        parameters.insert(len(node.args.args), "*")
    # A type is not broken over lines: blanks inside of it are joined.
    joined = ", ".join(parameter.replace(" ", "\0") for parameter in parameters) + ","
    body = textwrap.fill(joined, WIDTH, initial_indent=" " * 4, subsequent_indent=" " * 4, break_on_hyphens=False)
    return f"@overload\ndef {node.name}(\n{body}\n) -> {case['returns']}: ...  # fmt: skip".replace("\0", " ")
