"""What is proposed: similar names for an unknown one, the public names of a module, functions for labels of classes."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

MOST_SUGGESTED = 3
# Of the package; they are listed once they were imported.
PUBLIC_MODULES = ("distributed", "extend", "spark", "testing")


def suggest(name: str, known: list[str]) -> str:
    """The known names that are similar to `name` as a question, or all of them."""
    return ask_for(close_matches(name, known)[:MOST_SUGGESTED], known)


def close_matches(name: str, known: Iterable[str], cutoff: float = 0.5) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, list(dict.fromkeys(known)), n=10, cutoff=cutoff)


def ask_for(similar: list[str], known: list[str]) -> str:
    return f"did you mean {' or '.join(map(repr, similar))}?" if similar else f"known: {', '.join(known)}"


def list_public(namespace: dict[str, Any]) -> Callable[[], list[str]]:
    """The `__dir__` of a public module with these globals: what editors and notebooks complete."""

    def names() -> list[str]:
        special = (name for name in namespace if name.startswith("__") and name.endswith("__"))
        modules = (name for name in PUBLIC_MODULES if name in namespace)
        return sorted({*namespace["__all__"], *special, *modules})

    return names


def advice_for_classes(label: Any) -> str:
    """What functions take for labels of more than two classes; empty if a label is no class, such as 0.5 or 'NaN'."""
    if isinstance(label, str) or not math.isfinite(label) or label % 1 != 0:
        return ""
    return (
        ". For one class against the rest pass np.asarray(y_true) == CLASS; labels of more classes go with predictions "
        "to accuracy_score or f1_score, with probabilities to log_loss or roc_auc_score(multi_class='ovr')"
    )
