"""Paths, folders and globs of a store -> data files."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Any

from fastmetrics._core.optional_imports import fs
from fastmetrics.engine.input.batches import first_line
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.file_systems import Location
from fastmetrics.engine.input.files.table_markers import (
    DELTA,
    DELTA_LOG,
    HUDI,
    HUDI_FOLDER,
    ICEBERG,
    ICEBERG_FOLDER,
    is_metadata,
    raise_table_below,
)

GLOB_SIGNS = frozenset("*?[")
NO_PERMISSION = ("ACCESS_DENIED", "HTTP status 403", "HTTP Response code 403", "Forbidden")


@contextmanager
def name_path_in_errors(path: object) -> Iterator[None]:
    """Errors of a store name the path; those of permissions and of missing paths are of Python's types."""
    try:
        yield
    except OSError as error:
        line = first_line(error)
        if isinstance(error, PermissionError) or any(word in line for word in NO_PERMISSION):
            raise PermissionError(f"{path} may not be read: {line}") from error
        if isinstance(error, FileNotFoundError):
            raise error if str(path) in str(error) else FileNotFoundError(f"there is no file {path}: {line}") from error
        raise OSError(f"{path} cannot be read: {line}") from error


def files_below(folder: Location) -> list[DataFile]:
    """All data files below a folder, sorted; none of hidden folders."""
    return _select_files(folder, _list(folder, recursive=True))


def _list(folder: Location, *, recursive: bool) -> list[Any]:
    return list(folder.filesystem.get_file_info(fs.FileSelector(folder.address, recursive=recursive)))


def _select_files(folder: Location, infos: Iterable[Any], base: tuple[str, ...] | None = None) -> list[DataFile]:
    start = len(PurePosixPath(folder.address).parts) if base is None else len(base)
    found = []
    for info in infos:
        parts = PurePosixPath(info.path).parts
        _refuse_tables(folder, parts, start)
        if info.type == fs.FileType.File and not any(map(is_hidden, parts[start:])):
            found.append(folder.child(info.path).data_file())
    return sorted(found, key=lambda data_file: data_file.parts)


def _refuse_tables(folder: Location, parts: tuple[str, ...], start: int) -> None:
    """Raise ValueError for a path that shows that a folder below is a table."""
    for marker, kind in ((DELTA_LOG, DELTA), (HUDI_FOLDER, HUDI)):
        if marker in parts[start:]:
            end = parts.index(marker, start)
            if not any(map(is_hidden, parts[start:end])):
                raise_table_below(str(folder), kind, str(folder.child(_join(parts[:end]))))
    if is_metadata(parts[-1]) and parts[-2] == ICEBERG_FOLDER and not any(map(is_hidden, parts[start:-2])):
        raise_table_below(str(folder), ICEBERG, str(folder.child(_join(parts[:-2]))))


def _join(parts: tuple[str, ...]) -> str:
    return str(PurePosixPath(*parts))


def files_of_glob(pattern: Location) -> list[DataFile]:
    """Matching files and the files of matching folders, each once: "logs/**" matches a folder and its files."""
    parts = PurePosixPath(pattern.address).parts
    first = next(index for index, part in enumerate(parts) if GLOB_SIGNS & set(part))
    base = pattern.child(_join(parts[:first]))
    if base.filesystem.get_file_info(base.address).type != fs.FileType.Directory:
        return []
    if "**" in parts:
        return _match_recursively(base, parts)
    folders, found = [base.address], []
    for depth in range(first, len(parts)):
        is_last = depth == len(parts) - 1
        entries = [info for folder in folders for info in _list(base.child(folder), recursive=False)]
        matches = [info for info in entries if _component(parts[depth]).fullmatch(info.base_name)]
        matches = [info for info in matches if not is_hidden_match(PurePosixPath(info.path).parts, parts[: depth + 1])]
        folders = [info.path for info in matches if info.type == fs.FileType.Directory]
        found = [base.child(info.path).data_file() for info in matches if info.type == fs.FileType.File and is_last]
    for folder in folders:
        found += files_below(base.child(folder))
    return sorted(found, key=lambda data_file: data_file.parts)


def _match_recursively(base: Location, pattern: tuple[str, ...]) -> list[DataFile]:
    """Files of which the path, or a folder of it, matches a pattern with "**"."""
    start = len(PurePosixPath(base.address).parts)
    # A regular expression for paths whose parts end with a slash.
    of_parts = (r"(?:[^/]+/)*" if part == "**" else f"{_component(part).pattern}/" for part in pattern)
    expression = re.compile("".join(of_parts))
    found = []
    for info in _list(base, recursive=True):
        parts = PurePosixPath(info.path).parts
        ends = [end for end in range(start, len(parts) + 1) if expression.fullmatch("/".join(parts[:end]) + "/")]
        if ends and not any(map(is_hidden, set(parts[:-1]) - set(pattern))):
            _refuse_tables(base, parts, start)
            hidden = is_hidden(parts[-1]) and not (ends[-1] == len(parts) and is_hidden(pattern[-1]))
            if info.is_file and not hidden:
                found.append(base.child(info.path).data_file())
    return sorted(found, key=lambda data_file: data_file.parts)


def _component(part: str) -> re.Pattern[str]:
    """The regular expression of a part of a glob: signs stand for characters other than slashes."""
    pieces = []
    place = 0
    while place < len(part):
        sign = part[place]
        end = part.find("]", place + 2) if sign == "[" else -1
        if sign == "*":
            pieces.append("[^/]*")
        elif sign == "?":
            pieces.append("[^/]")
        elif end > 0:
            inside = part[place + 1 : end].replace("\\", r"\\")
            pieces.append(f"[{'^' + inside[1:] if inside.startswith('!') else inside}]")
            place = end
        else:
            pieces.append(re.escape(sign))
        place += 1
    return re.compile("".join(pieces))


def is_hidden(name: str) -> bool:
    """Whether it is a marker of another tool, such as _SUCCESS or .part-0.crc. A hive folder _day=1 is data."""
    return name.startswith(".") or (name.startswith("_") and "=" not in name)


def is_hidden_match(parts: tuple[str, ...], pattern: tuple[str, ...]) -> bool:
    """Whether a match of a glob is hidden, or in a hidden folder, and the glob does not say so."""
    if any(map(is_hidden, set(parts[:-1]) - set(pattern))):
        return True
    return is_hidden(parts[-1]) and not is_hidden(pattern[-1])
