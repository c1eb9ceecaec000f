"""The one answer to a path at which nothing can be read: which names in its folder are like it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

from fastmetrics._core.suggestions import MOST_SUGGESTED, close_matches, edit_distance

COMPRESSIONS = (".gz", ".zst", ".bz2", ".xz", ".lz4", ".br")
MOST_LISTED = 10_000  # names of a folder that are compared
LEAST_ALIKE = 0.75  # of the letters of two stems: of three letters all, of four one may be another
MOST_WRONG = 9  # letters of a suffix; more are alike


def open_to_read(path: str | os.PathLike[str], buffering: int = -1) -> Any:
    """`open(path, "rb")`, but for a file that is missing or is a folder with an error that says what is there."""
    try:
        return open(path, "rb", buffering=buffering)
    except FileNotFoundError:
        raise FileNotFoundError(printable(explain_missing(path))) from None
    except IsADirectoryError:
        raise IsADirectoryError(printable(f"{os.fsdecode(path)} is a folder; name a file in it")) from None


def read_file(path: str | os.PathLike[str]) -> bytes:
    with open_to_read(path) as file:
        return bytes(file.read())


def printable(text: str) -> str:
    """A path as messages show it: bytes of its name that are not UTF-8 cannot be printed, and are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def explain_missing(path: str | os.PathLike[str]) -> str:
    """What is missing of a path, and which names in its folder are like it."""
    missing = Path(os.fsdecode(path))
    folder = missing.parent
    if folder.is_dir():
        return f"there is no file {missing}{ask_for_near(missing, is_folder=False)}"
    if folder.exists():
        return f"there is no file {missing}: {folder} is no folder"
    return f"there is no file {missing}: there is no folder {folder} either{ask_for_near(folder, is_folder=True)}"


def ask_for_near(missing: Path, is_folder: bool) -> str:
    """Which names beside a missing one are like it, as the end of an error; only folders are like a folder."""
    try:
        with os.scandir(missing.parent) as entries:
            names = [own.name for own in islice(entries, MOST_LISTED) if own.is_dir() or not is_folder]
    except OSError:  # there is no such folder, or it cannot be read
        return ""
    near = similar_files(missing.name, names)[:MOST_SUGGESTED]
    return f"; did you mean {' or '.join(near)}?" if near else ""


def similar_files(name: str, names: Iterable[str]) -> list[str]:
    """The names of files that `name` may mean, the nearest first.

    Stems are compared: most files of a folder share their suffix, so that it says nothing about which one is meant.
    """
    stem, suffix = split_name(name)
    by_stem: dict[str, list[tuple[str, str]]] = {}
    for other in sorted(names):
        if other.startswith(".") == name.startswith("."):
            own_stem, own_suffix = split_name(other)
            by_stem.setdefault(own_stem, []).append((own_suffix, other))
    return [
        other
        for own in close_matches(stem, by_stem, LEAST_ALIKE)
        for _, other in sorted(by_stem[own], key=lambda pair: (edit_distance(pair[0], suffix, MOST_WRONG), pair))
    ]


def split_name(name: str) -> tuple[str, str]:
    """The stem of a file's name, as names are compared, and its suffix, with that of a compression."""
    name = name.lower()
    compression = next((end for end in COMPRESSIONS if name.endswith(end)), "")
    stem, suffix = os.path.splitext(name.removesuffix(compression))
    return stem.replace("-", "_").replace(" ", "_"), suffix + compression
