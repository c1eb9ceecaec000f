"""A path, a directory or a glob -> the data files that it stands for. Nothing is fetched from a network."""

from __future__ import annotations

import difflib
import glob
import os
from pathlib import Path
from typing import NoReturn

from fastmetrics.engine.formats import FORMATS, format_of


def expand(item: str | os.PathLike[str]) -> list[Path]:
    """The files that a path, a directory or a glob stands for, sorted."""
    text = os.path.expanduser(os.fsdecode(item))
    path = Path(text)
    if path.is_dir():
        return _files_of_directory(path) or _nothing(f"{path} holds no data file")
    if path.exists():
        return [path]
    if "://" in text:
        raise ValueError(
            f"{text} is not a local path, and nothing is fetched from a network; "
            f"open it yourself, e.g. pyarrow.dataset.dataset({text!r}), and pass the Dataset"
        )
    if any(sign in text for sign in "*?["):
        return _files_of_glob(text) or _nothing(f"no file matches {text}")
    raise FileNotFoundError(_not_found(path))


def _nothing(what: str) -> NoReturn:
    raise FileNotFoundError(f"{what} (understood are {', '.join(FORMATS)})")


def _files_of_glob(pattern: str) -> list[Path]:
    """What matches, and what lies below a folder that matches; "logs/**" matches a folder and its files: each once."""
    asked = Path(pattern)
    found: set[Path] = set()
    for match in map(Path, glob.glob(pattern, recursive=True)):
        hidden_folder = any(map(_is_hidden, set(match.parts[:-1]) - set(asked.parts)))
        if hidden_folder or (_is_hidden(match.name) and not _is_hidden(asked.name)):
            continue
        found.update(_files_of_directory(match) if match.is_dir() else [match])
    return sorted(found)


def _files_of_directory(directory: Path) -> list[Path]:
    """All data files below `directory`. A file of another kind is an error: it could be rows that would be missing."""
    files: list[Path] = []
    seen: set[str] = set()
    for folder, subfolders, names in os.walk(directory, followlinks=True):
        subfolders[:] = [name for name in subfolders if not _is_hidden(name)]
        if (real_path := os.path.realpath(folder)) in seen:  # a link that leads back
            subfolders.clear()
            continue
        seen.add(real_path)
        files += [Path(folder, name) for name in names if not _is_hidden(name)]
    _require_one_kind(directory, files)
    return sorted(files)


def _require_one_kind(directory: Path, files: list[Path]) -> None:
    kinds: dict[str, Path] = {}
    for path in sorted(files):
        try:
            kinds.setdefault(format_of(path).name, path)
        except ValueError as error:
            raise ValueError(f"{error}. To read a part of the folder, give a glob: '{directory}/*.parquet'") from None
    if len(kinds) > 1:
        found = " and ".join(f"{name} ({path})" for name, path in kinds.items())
        raise ValueError(f"{directory} holds files of several kinds, {found}; choose with a glob: '{directory}/*.csv'")


def _is_hidden(name: str) -> bool:
    """Marks of other tools, such as _SUCCESS and .part-0.crc. A hive folder of a key like _day is data."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _not_found(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no file {path}: there is no folder {path.parent} either"
    near = difflib.get_close_matches(path.name, os.listdir(path.parent), n=3)
    return f"there is no file {path}" + (f"; did you mean {' or '.join(sorted(near))}?" if near else "")
