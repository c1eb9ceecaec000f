"""Names that are no data: markers and unfinished files of other tools, as Spark leaves them out."""

from __future__ import annotations


def is_hidden(name: str) -> bool:
    """Whether it is a marker of another tool, such as _SUCCESS or .part-0.crc. A hive folder _day=1 is data."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def is_hidden_match(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a match of a glob is hidden, or in a hidden folder, and the glob does not say so."""
    if any(map(is_hidden, set(parts[:-1]) - set(pattern))):
        return True
    return is_hidden(parts[-1]) and not is_hidden(pattern[-1])
