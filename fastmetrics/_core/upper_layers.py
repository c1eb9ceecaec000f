"""What the core finds by name in the layers above it: the packages of metrics, and the functions that render results.

So the registry imports metrics at the first question about them, and a result can print and draw itself, without an
import of a higher layer. The renderers are in `fastmetrics.reporting`. A result calls `render("report page", self)`,
which imports the renderer's module at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# Packages whose modules register metrics; filled by fastmetrics/__init__.py, as the renderers are.
METRIC_PACKAGES: list[str] = []
# What is rendered -> "module:function".
RENDERERS: dict[str, str] = {}


def render(rendering: str, *arguments: Any, **options: Any) -> Any:
    """Call the renderer of `rendering`, for instance "report page"."""
    module, _, function = RENDERERS[rendering].partition(":")
    return getattr(import_module(module), function)(*arguments, **options)
