"""Similar names for one that is unknown."""

from __future__ import annotations

from collections.abc import Iterable

MOST_SUGGESTED = 3


def suggest(name: str, known: list[str]) -> str:
    """The known names that are similar to `name` as a question, or all of them."""
    return ask_for(close_matches(name, known)[:MOST_SUGGESTED], known)


def close_matches(name: str, known: Iterable[str]) -> list[str]:
    from difflib import get_close_matches

    return get_close_matches(name, list(dict.fromkeys(known)), n=10, cutoff=0.5)


def ask_for(similar: list[str], known: list[str]) -> str:
    return f"did you mean {' or '.join(map(repr, similar))}?" if similar else f"known: {', '.join(known)}"
