"""Paths, directories and globs -> data files. Nothing is fetched from a network."""

from __future__ import annotations

import difflib
import glob
import os
from operator import attrgetter
from pathlib import Path
from typing import NoReturn

from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.formats import FORMATS, find_format

parts_of = attrgetter("parts")


def find_files(item: str | os.PathLike[str]) -> list[DataFile]:
    """The data files of a path, a directory or a glob, sorted."""
    text = os.path.expanduser(os.fsdecode(item))
    path = Path(text)
    if path.is_dir():
        return _files_of_directory(path) or _raise_no_file(f"{path} holds no data file")
    if path.exists():
        return [DataFile.local(path)]
    if "://" in text:
        raise ValueError(
            f"{text} is not a local path, and nothing is fetched from a network; "
            f"open it yourself, e.g. pyarrow.dataset.dataset({text!r}), and pass the Dataset"
        )
    if any(sign in text for sign in "*?["):
        return _files_of_glob(text) or _raise_no_file(f"no file matches {text}")
    raise FileNotFoundError(_not_found(path))


def _raise_no_file(what: str) -> NoReturn:
    raise FileNotFoundError(f"{what} (known suffixes are {', '.join(FORMATS)})")


def _files_of_glob(pattern: str) -> list[DataFile]:
    """Matching files and the files of matching folders, each once: "logs/**" matches a folder and its files."""
    pattern_path = Path(pattern)
    found: set[DataFile] = set()
    for match in map(Path, glob.glob(pattern, recursive=True)):
        hidden_folder = any(map(_is_hidden, set(match.parts[:-1]) - set(pattern_path.parts)))
        if hidden_folder or (_is_hidden(match.name) and not _is_hidden(pattern_path.name)):
            continue
        found.update(_files_of_directory(match) if match.is_dir() else [DataFile.local(match)])
    return sorted(found, key=parts_of)


def _files_of_directory(directory: Path) -> list[DataFile]:
    """All data files below `directory`. A file of an unknown format is an error: its rows would be missing."""
    files: list[DataFile] = []
    seen: set[str] = set()
    for folder, subfolders, names in os.walk(directory, followlinks=True):
        subfolders[:] = [name for name in subfolders if not _is_hidden(name)]
        if (real_path := os.path.realpath(folder)) in seen:  # a link to a folder above
            subfolders.clear()
            continue
        seen.add(real_path)
        files += [DataFile.local(Path(folder, name)) for name in names if not _is_hidden(name)]
    _require_one_format(directory, files)
    return sorted(files, key=parts_of)


def _require_one_format(directory: Path, files: list[DataFile]) -> None:
    formats: dict[str, DataFile] = {}
    for data_file in sorted(files, key=parts_of):
        try:
            formats.setdefault(find_format(data_file).name, data_file)
        except ValueError as error:
            raise ValueError(f"{error}. To read some files only, give a glob: '{directory}/*.parquet'") from None
    if len(formats) > 1:
        found = " and ".join(f"{name} ({path})" for name, path in formats.items())
        raise ValueError(
            f"{directory} holds files of several formats, {found}; choose with a glob: '{directory}/*.csv'"
        )


def _is_hidden(name: str) -> bool:
    """Whether it is a marker of another tool, such as _SUCCESS or .part-0.crc. A hive folder _day=1 is data."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def _not_found(path: Path) -> str:
    if not path.parent.is_dir():
        return f"there is no file {path}: there is no folder {path.parent} either"
    near = difflib.get_close_matches(path.name, os.listdir(path.parent), n=3)
    return f"there is no file {path}" + (f"; did you mean {' or '.join(sorted(near))}?" if near else "")
