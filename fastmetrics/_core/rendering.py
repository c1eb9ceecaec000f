"""The functions that render results, by name. So a result can print and draw itself without importing a higher layer.

The renderers are in `fastmetrics.reporting`. A result calls `render("report text", self)`, which imports the renderer's
module at its first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

# What is rendered -> "module:function"; filled by fastmetrics/__init__.py.
RENDERERS: dict[str, str] = {}


def render(rendering: str, *arguments: Any, **options: Any) -> Any:
    """Call the renderer of `rendering`, for instance "report text"."""
    module, _, function = RENDERERS[rendering].partition(":")
    return getattr(import_module(module), function)(*arguments, **options)
