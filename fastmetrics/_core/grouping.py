"""Values by their key."""

from collections.abc import Iterable
from typing import TypeVar

Key = TypeVar("Key")
Item = TypeVar("Item")


def grouped(pairs: Iterable[tuple[Key, Item]]) -> dict[Key, list[Item]]:
    """The values of every key, from pairs of key and value. Keys and values stay in order."""
    groups: dict[Key, list[Item]] = {}
    for key, value in pairs:
        groups.setdefault(key, []).append(value)
    return groups
