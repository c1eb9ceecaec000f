"""What the core finds by name in the layers above it: packages of metrics, functions that render, entry points.

So the registry imports metrics at the first question about them, and a result can print and draw itself, without an
import of a higher layer. The renderers are in `fastmetrics.reporting`. A result calls `render("report page", self)`,
which imports the renderer's module at its first use. A question runs by `ask("evaluate", data, self)`.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Packages whose modules register metrics; filled by fastmetrics/__init__.py, as the renderers are.
METRIC_PACKAGES: list[str] = []
# The public names of the package.
PUBLIC_NAMES: list[str] = []
# What is rendered -> "module:function".
RENDERERS: dict[str, str] = {}
# Entry point -> "module:function".
ENTRY_POINTS: dict[str, str] = {}


def render(rendering: str, *arguments: Any, **options: Any) -> Any:
    """Call the renderer of `rendering`, for instance "report page"."""
    return load(RENDERERS[rendering])(*arguments, **options)


def ask(entry_point: str, *arguments: Any, **options: Any) -> Any:
    """Call an entry point, for instance "evaluate"."""
    return load(ENTRY_POINTS[entry_point])(*arguments, **options)


def load(place: str) -> Any:
    """The function at "module:function"."""
    module, _, function = place.partition(":")
    return getattr(import_module(module), function)
