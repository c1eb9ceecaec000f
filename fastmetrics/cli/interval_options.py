"""How intervals are asked for on the command line."""

from enum import StrEnum

import typer

PERCENT = 100


class Method(StrEnum):
    """How intervals are made."""

    BOOTSTRAP = "bootstrap"
    NORMAL = "normal"
    DELONG = "delong"


def read_level(text: str) -> float:
    """95, 95% and 0.95 are the same level."""
    try:
        level = float(text.strip().removesuffix("%"))
    except ValueError:
        level = float("nan")
    if level > 1 or text.strip().endswith("%"):
        level /= PERCENT
    if not 0 < level < 1:
        raise typer.BadParameter(f"type a percentage, --ci 95, or a share, --ci 0.95; found {text}", param_hint="--ci")
    return level
