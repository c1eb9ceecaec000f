"""What every public function's docstring and signature promise."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Any

from fastmetrics.testing.comparing import require

SECTIONS = ("Parameters\n---", "Returns\n---", "Examples\n---")
DATA = {
    "y_true", "y_score", "y_pred", "y_prob", "y_proba", "y1", "y2", "groups", "hypotheses", "references", "labels_true",
    "labels_pred", "types",
}  # fmt: skip


def docstring(function: Callable[..., Any]) -> None:
    """The docstring has its sections, a first line, every parameter, and an example."""
    documentation = inspect.getdoc(function) or ""
    require(documentation.partition("\n")[0].strip(), "the docstring has no first line")
    for section in SECTIONS:
        require(section in documentation, f"the docstring has no section {section.split()[0]!r}")
    for parameter in inspect.signature(function).parameters:
        described = re.search(rf"\n(\w+, )*{parameter}(, \w+)* :", documentation)
        require(described, f"the docstring does not describe {parameter!r}")
    require(">>> " in documentation, "the docstring has no example that runs")


def argument_kinds(function: Callable[..., Any]) -> None:
    """Data is positional, options are keyword-only, and n_threads is an option."""
    kinds = {parameter.name: parameter.kind for parameter in inspect.signature(function).parameters.values()}
    # Beside y_proba, y_pred is its older name.
    data = DATA - ({"y_pred"} if "y_proba" in kinds else set())
    for parameter, kind in kinds.items():
        wanted = inspect.Parameter.POSITIONAL_OR_KEYWORD if parameter in data else inspect.Parameter.KEYWORD_ONLY
        require(kind == wanted, f"{parameter!r} must be {wanted.description}, found {kind.description}")
    require("n_threads" in kinds, "there is no option n_threads")
