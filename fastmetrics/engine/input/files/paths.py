"""Paths, folders and globs -> data files, on the local disk and in stores."""

from __future__ import annotations

import glob
import os
from operator import attrgetter
from pathlib import Path
from typing import NoReturn

from fastmetrics._core.calls.missing_files import explain_missing, printable
from fastmetrics.engine.input.files import store_paths
from fastmetrics.engine.input.files.data_file import DataFile
from fastmetrics.engine.input.files.file_systems import Location
from fastmetrics.engine.input.files.formats import FORMATS, find_format
from fastmetrics.engine.input.files.opened_files import open_special_file
from fastmetrics.engine.input.files.store_paths import is_hidden, is_hidden_match, name_path_in_errors
from fastmetrics.engine.input.files.table_markers import TableFinder, local_folder_kind, raise_table_below

parts_of = attrgetter("parts")


def find_files(location: Location, tables: TableFinder, file_format: str | None = None) -> list[DataFile]:
    """The data files of a path, a directory or a glob, sorted. Files inside a table of a lake are an error."""
    if location.filesystem is None:
        files, folder = _find_local_files(location, file_format)
    else:
        with name_path_in_errors(location):
            files, folder = _find_stored_files(location, tables.kind_of(location))
    if folder is not None:
        if file_format is None:
            _require_one_format(printable(folder), files)
        tables.refuse_parts(location)
    else:
        for data_file in files:
            tables.refuse_parts(location.child(data_file.address))
    return files


def refuse_repeated_files(files: list[DataFile]) -> None:
    """Raise ValueError for a file of two paths, also as a link or by another spelling: its rows would count twice."""
    known: dict[str, DataFile] = {}
    real_paths = RealPaths()
    for data_file in files:
        first = known.setdefault(real_paths.of(data_file) if data_file.is_local else data_file.path, data_file)
        if first is not data_file:
            is_same_name = str(first) == str(data_file)
            both = f"{first} is given twice" if is_same_name else f"{first} and {data_file} are one file"
            raise ValueError(f"data: {both}, and its rows would count twice; name each file once")


def notes_on_hard_links(files: list[DataFile]) -> list[str]:
    """A sentence for every local file that is read under several names: each is as good as the other, so all count."""
    names: dict[tuple[int, int], list[str]] = {}
    for data_file in files:
        if data_file.is_local and os.path.isfile(data_file.address):
            status = os.stat(data_file.address)
            if status.st_nlink > 1:
                names.setdefault((status.st_dev, status.st_ino), []).append(str(data_file))
    notes = []
    for first, second, *more in (own for own in names.values() if len(own) > 1):
        others = f" and {len(more):,} more" if more else ""
        both = f"{first} and {second}{others} are one file (hard links)"
        notes.append(f"{both}, and its rows count {2 + len(more):,} times")
    return notes


class RealPaths:
    """The paths of local files without links. Every folder is looked up once."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, data_file: DataFile) -> str:
        folder, name = os.path.split(data_file.address)
        if os.path.islink(data_file.address):
            return os.path.realpath(data_file.address)
        if folder not in self._folders:
            self._folders[folder] = os.path.realpath(folder)
        return os.path.join(self._folders[folder], name)


def _each_once(files: list[DataFile]) -> list[DataFile]:
    """The files of a folder or a glob, sorted; of a file and links to it the file itself, or else the first link."""
    real_paths = RealPaths()
    found: dict[str, DataFile] = {}
    for data_file in sorted(files, key=parts_of):
        real = real_paths.of(data_file)
        if real not in found or os.path.abspath(data_file.address) == real:
            found[real] = data_file
    return sorted(found.values(), key=parts_of)


def _find_local_files(location: Location, file_format: str | None) -> tuple[list[DataFile], str | None]:
    """The files, and the folder if the path is one."""
    text = location.address
    path = Path(text)
    if path.is_dir():
        return _files_of_directory(path) or _raise_no_file(f"{path} holds no data file"), str(path)
    if path.exists():
        return [open_special_file(text, is_stream=file_format is not None) or DataFile.local(path)], None
    if any(sign in text for sign in "*?["):
        return _files_of_glob(text) or _raise_no_file(f"no file matches {text}"), None
    raise FileNotFoundError(printable(explain_missing(path)))


def _find_stored_files(location: Location, kind: str | None) -> tuple[list[DataFile], str | None]:
    if kind == "file":
        return [location.data_file()], None
    if kind == "folder":
        files = store_paths.files_below(location)
        return files or _raise_no_file(f"{location} holds no data file"), str(location)
    if store_paths.GLOB_SIGNS & set(location.address):
        return store_paths.files_of_glob(location) or _raise_no_file(f"no file matches {location}"), None
    raise FileNotFoundError(f"there is no file {location}")


def _raise_no_file(what: str) -> NoReturn:
    raise FileNotFoundError(f"{printable(what)} (known suffixes are {', '.join(FORMATS)})")


def _files_of_glob(pattern: str) -> list[DataFile]:
    """Matching files and the files of matching folders, each once: "logs/**" matches a folder and its files."""
    pattern_parts = Path(pattern).parts
    found: list[DataFile] = []
    for match in map(Path, glob.glob(pattern, recursive=True)):
        if not is_hidden_match(match.parts, pattern_parts):
            found += _files_of_directory(match) if match.is_dir() else [DataFile.local(match)]
    return _each_once(found)


def _files_of_directory(directory: Path) -> list[DataFile]:
    """All data files below `directory`. A table of a lake below is an error."""
    files: list[DataFile] = []
    seen: set[str] = set()
    for folder, subfolders, names in os.walk(directory, followlinks=True):
        if (kind := local_folder_kind(folder, subfolders)) is not None:
            raise_table_below(str(directory), kind, folder)
        subfolders[:] = [name for name in subfolders if not is_hidden(name)]
        if (real_path := os.path.realpath(folder)) in seen:  # a link to a folder that was seen
            subfolders.clear()
            continue
        seen.add(real_path)
        subfolders.sort(key=lambda name: os.path.islink(os.path.join(folder, name)))
        files += [DataFile.local(Path(folder, name)) for name in names if not is_hidden(name)]
    return _each_once(files)


def _require_one_format(directory: str, files: list[DataFile]) -> None:
    """A file of an unknown format is an error: its rows would be missing."""
    formats: dict[str, DataFile] = {}
    for data_file in files:
        try:
            formats.setdefault(find_format(data_file).name, data_file)
        except ValueError as error:
            raise ValueError(f"{error}. To read some files only, give a glob: '{directory}/*.parquet'") from None
    if len(formats) > 1:
        found = " and ".join(f"{name} ({path})" for name, path in formats.items())
        raise ValueError(
            f"{directory} holds files of several formats, {found}; choose with a glob: '{directory}/*.csv'"
        )
