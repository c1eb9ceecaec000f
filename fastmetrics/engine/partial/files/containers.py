"""The container of a state: a ZIP archive without compression, in a file or in memory. Any tool can open it.

| section | content |
|---|---|
| `state.json` | format, library version, question, counts of rows, types of columns, kinds of labels; it comes first |
| `arrays/<type>.npy` | all small arrays of a type, one after the other; `state.json` has their types and shapes |
| `tasks/T/slices/C.arrow` | the different values of the columns of slices, as an Arrow stream |
| `tasks/T/parts/P/rows/N.parquet` | the rows that an exchange keeps: `stored_rows` |
| `tasks/T/parts/P/unit_rows/N.parquet` | the same rows by resampling unit, if that is not the group |

The format number decides who can read a state: a version of the library reads the format that it writes, and names both
versions where a state has another one. The header records the version that wrote it.

Nothing in a state is executed, and every number that a kernel uses as an index is checked first. The checksums of the
archive are no signature: anybody who can write a state can write one with other numbers.
"""

from __future__ import annotations

import io
import json
import math
import os
import struct
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import attrgetter
from pathlib import Path
from tokenize import TokenError
from typing import Any, BinaryIO

import numpy as np

from fastmetrics import _version
from fastmetrics._core.calls.missing_files import open_to_read
from fastmetrics._core.exchange.memory_budget import MemoryLimitError
from fastmetrics._core.grouping import grouped
from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics.engine.evaluation.evaluation import Evaluation
from fastmetrics.engine.partial.state_options import check_approximate

FORMAT = 8
HEADER = "state.json"
WRITTEN = (1980, 1, 1, 0, 0, 0)  # equal states have equal bytes, whenever they are written
MARK = b"PK\3\4"  # begins every section
NAME_PLACE = 30  # of a section
LENGTHS_PLACE, LENGTHS = 26, struct.Struct("<HH")  # of the name, and of what follows it
END_MARK, END_BYTES = b"PK\5\6", 22  # of the record that ends an archive without a comment
MAX_DIMENSIONS = 2
CHECKED_BYTES = 1 << 20  # of a section whose checksum is made at once


class StateWriter:
    """The arrays and the sections of a state that is written. The header refers to arrays by their numbers."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.sections: list[Iterable[tuple[str, list[Any]]]] = []  # name and pieces, made while they are written

    def add(self, array: np.ndarray) -> int:
        """Append an array; return its number."""
        self.arrays.append(np.ascontiguousarray(array))
        return len(self.arrays) - 1

    def add_all(self, owner: Any) -> list[int]:
        """Append the arrays of a state; return their numbers."""
        return list(map(self.add, owner.arrays()))

    def write(self, file: Any, header: dict[str, Any]) -> None:
        """Write header, arrays and sections."""
        known = {"format": FORMAT, "library": _version.__version__}
        shapes = [(own.dtype.name, own.shape) for own in self.arrays]
        text = json.dumps(known | header | {"arrays": shapes}, allow_nan=False)
        by_type = grouped((own.dtype.name, own) for own in self.arrays)
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr(zipfile.ZipInfo(HEADER, WRITTEN), text)
            for name, arrays in by_type.items():
                with archive.open(zipfile.ZipInfo(array_section(name), WRITTEN), "w", force_zip64=True) as out:
                    write_arrays(arrays, out)
            for name, pieces in chain.from_iterable(self.sections):
                section = zipfile.ZipInfo(name, WRITTEN)
                section.file_size = sum(map(len, pieces))
                with archive.open(section, "w") as out:
                    for piece in pieces:
                        out.write(piece)


def array_section(type_name: str) -> str:
    return f"arrays/{type_name}.npy"


def write_arrays(arrays: Sequence[np.ndarray], out: Any) -> None:
    """Write arrays of a type one after the other, as one array."""
    size = sum(array.size for array in arrays)
    header = {"descr": arrays[0].dtype.str, "fortran_order": False, "shape": (size,)}
    np.lib.format.write_array_header_1_0(out, header)
    for array in arrays:
        out.write(array.reshape(-1).view(np.uint8))


def path_of_state(path: Any) -> Path:
    """The path of a file, with "~" expanded."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"path must be that of a file; found {path!r} of type {type(path).__name__}")
    return Path(os.fsdecode(path)).expanduser()


def open_state(path: Any) -> BinaryIO:
    file: BinaryIO = open_to_read(path_of_state(path))
    return file


class StateError(ValueError):
    """Bytes are no state, not a whole one, or one of another format."""


def require(holds: Any, what: str) -> None:
    """Raise an error that says what is wrong with the state, unless the condition holds."""
    if not holds:
        raise StateError(f"the state is damaged: {what}")


def fields_of(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """The fields of a JSON object, each of which is there once."""
    fields = dict(pairs)
    require(len(fields) == len(pairs), f"a field of {HEADER} is there twice: {', '.join(fields)}")
    return fields


def is_count(value: Any, below: int | None = None) -> bool:
    return type(value) is int and value >= 0 and (below is None or value < below)


class JsonType(NamedTuple):
    """What the value of a field may be: its name in messages, where `[count]` is a list of counts, and a test."""

    title: str
    holds: Callable[[Any], bool]


def list_of(kind: JsonType) -> JsonType:
    return JsonType(f"[{kind.title}]", lambda value: isinstance(value, list) and all(map(kind.holds, value)))


def optional(kind: JsonType) -> JsonType:
    return JsonType(f"{kind.title} or null", lambda value: value is None or kind.holds(value))


def object_of(kind: JsonType) -> JsonType:
    return JsonType(f"{{{kind.title}}}", lambda value: isinstance(value, dict) and all(map(kind.holds, value.values())))


COUNT = JsonType("count", is_count)
TEXT = JsonType("text", lambda value: isinstance(value, str))
FLAG = JsonType("flag", lambda value: isinstance(value, bool))
DISTANCE = JsonType("distance", lambda value: type(value) in (int, float) and 0 <= value < math.inf)
SHAPE = JsonType(
    "type and shape", lambda value: (
        isinstance(value, list) and len(value) == 2 and isinstance(value[0], str) and isinstance(value[1], list)
        and len(value[1]) <= MAX_DIMENSIONS and all(is_count(own, 1 << 48) for own in value[1])
    )
)  # fmt: skip
OBJECT = JsonType("object", lambda value: isinstance(value, dict))


class HeaderField(NamedTuple):
    """A field of the header.

    `text` says what it is. With `path`, it is the value of this attribute of the part's state, of the type `make`.
    """

    name: str
    kind: JsonType
    text: str
    path: str = ""
    make: Callable[[Any], Any] | None = None


def values_of_fields(owner: Any, fields: Sequence[HeaderField]) -> dict[str, Any]:
    """The fields that are attributes, as they are written."""
    found = {field.name: attrgetter(field.path)(owner) for field in fields if field.path}
    return {name: sorted(own) if isinstance(own, set) else own for name, own in found.items()}


def take_fields(header: dict[str, Any], fields: Sequence[HeaderField], owner: Any = None) -> dict[str, Any]:
    """The fields of a part of the header, which are all there and of their kinds; attributes of the owner are set."""
    unknown = header.keys() - {field.name for field in fields}
    require(not unknown, f"it has fields that no metric needs: {', '.join(sorted(unknown))}")
    for name, kind, _, path, make in fields:
        require(name in header, f"its field {name!r} is missing")
        value = header[name]
        require(kind.holds(value), f"its field {name!r} is not {kind.title}")
        if path:
            place, _, attribute = path.rpartition(".")
            value = value if make is None or value is None else make(value)
            setattr(attrgetter(place)(owner), attribute, value)
    return header


@contextmanager
def errors_mean_damage(section: str, *more: type[Exception]) -> Iterator[None]:
    """Errors of what does not fit, and more, mean that a section is damaged."""
    kinds: tuple[type[Exception], ...] = (LookupError, TypeError, AttributeError, OverflowError, ValueError, *more)
    try:
        yield
    except (StateError, MemoryLimitError):
        raise
    except kinds as error:
        raise StateError(f"the state is damaged: {section}: {error}") from error


# What zipfile, json, numpy and pyarrow raise when they read damaged bytes.
READING: tuple[type[Exception], ...] = (
    RuntimeError, EOFError, OSError, SyntaxError, TokenError, struct.error, zipfile.BadZipFile
)  # fmt: skip


class StateReader:
    """The sections of a state that is read from a file, its rows by some threads."""

    def __init__(self, file: BinaryIO, n_threads: int = 1) -> None:
        self.n_threads = n_threads
        self.file: StateFile | None = None
        start = file.read(NAME_PLACE + len(HEADER))
        if start[: len(MARK)] != MARK or start[NAME_PLACE:] != HEADER.encode():
            raise StateError(
                f"this is no state of an Accumulator: as of format {FORMAT}, a state is a ZIP archive that begins "
                f"with {HEADER}"
            )
        file.seek(max(0, file.seek(0, io.SEEK_END) - END_BYTES))
        require(file.read(len(END_MARK)) == END_MARK, "its end is missing, or something follows it")
        with errors_mean_damage("its list of sections", *READING):
            self.archive = zipfile.ZipFile(file)
        sections = self.archive.infolist()
        self.unread = {section.filename for section in sections}
        require(sections and sections[0].header_offset == 0, "its sections are not where they should be")
        require(len(self.unread) == len(sections), "a section is there twice")
        with errors_mean_damage(HEADER, *READING):
            self.header: dict[str, Any] = json.loads(self.read(HEADER), object_pairs_hook=fields_of)
            number, library = self.header.pop("format"), self.header.pop("library")
            require(is_count(number) and isinstance(library, str), "it does not name its format")
        if number != FORMAT:
            raise StateError(
                f"fastmetrics {library} wrote the state in format {number}, and {_version.__version__} reads "
                f"format {FORMAT}: read it with the version that wrote it, or evaluate the rows again"
            )

    def question(self, entry_point: str) -> Evaluation:
        """The question that the state answers. It may have metrics that are not there, which is no damage."""
        require("evaluation" in self.header, "it has no question")
        try:
            question = Evaluation.from_dict(self.header.pop("evaluation"))
            for task in question.plan_for(entry_point):
                if question.approximate:
                    check_approximate(task)
        except (LookupError, TypeError, AttributeError, OverflowError, ValueError) as error:
            raise StateError(f"the question of the state cannot be asked: {error}") from error
        return question

    def read(self, name: str) -> bytes:
        """The bytes of a section, whose checksum fits."""
        require(name in self.unread, f"section {name} is missing")
        self.unread.discard(name)
        section = self.archive.getinfo(name)
        require(section.compress_type == zipfile.ZIP_STORED, f"section {name} is compressed")
        with errors_mean_damage(name, *READING):
            return self.archive.read(section)

    def refer(self, name: str) -> StoredSection | None:
        """A section, whose checksum fits, that is read later; None if the state is in no file that can stay open."""
        path, file, section = self.archive.filename, self.archive.fp, self.archive.getinfo(name)
        if path is None or file is None or not hasattr(os, "pread") or section.compress_type != zipfile.ZIP_STORED:
            return None
        self.unread.discard(name)
        with errors_mean_damage(name, *READING), self.archive.open(section) as content:
            while content.read(CHECKED_BYTES):
                pass
        self.file = self.file or StateFile(path, file.fileno())
        lengths = LENGTHS.unpack(self.file.read(section.header_offset + LENGTHS_PLACE, LENGTHS.size))
        return StoredSection(self.file, name, section.header_offset + NAME_PLACE + sum(lengths), section.file_size)


class StateFile:
    """A file of a state that stays open: what is read is what was loaded, or an error, whatever becomes of its name."""

    descriptor = -1

    def __init__(self, path: str, descriptor: int) -> None:
        self.path = path
        self.descriptor = os.dup(descriptor)
        self.version = self.find_version()

    def find_version(self) -> tuple[int, int]:
        """What differs once somebody has written to the file."""
        found = os.fstat(self.descriptor)
        return found.st_size, found.st_mtime_ns

    def read(self, position: int, n_bytes: int) -> bytes:
        if self.find_version() != self.version:
            raise StateError("somebody wrote to the file after it was loaded")
        return os.pread(self.descriptor, n_bytes, position)

    def __del__(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)


class StoredSection(NamedTuple):
    """A section of a file, which is read when it is needed."""

    file: StateFile
    name: str
    position: int
    n_bytes: int


class SectionReader(io.RawIOBase):
    """Reads a section at any place."""

    def __init__(self, section: StoredSection) -> None:
        self.section = section
        self.place = 0

    def readable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        self.place = offset + (0, self.place, self.section.n_bytes)[whence]
        return self.place

    def read(self, size: int = -1) -> bytes:
        left = max(0, self.section.n_bytes - self.place)
        data = self.section.file.read(self.section.position + self.place, left if size < 0 else min(size, left))
        self.place += len(data)
        return data


class ArrayReader:
    """The arrays of a state, by number; views of the bytes of their sections. Each is read once."""

    def __init__(self, state: StateReader, shapes: list[Any]) -> None:
        self.arrays: list[np.ndarray] = []
        left: dict[str, np.ndarray] = {}
        for kind, shape in shapes:
            if kind not in left:
                with errors_mean_damage(array_section(kind), *READING):
                    left[kind] = read_array(state.read(array_section(kind)))
                require(left[kind].dtype.name == kind, f"{array_section(kind)} has another type")
            count = math.prod(shape)
            require(count <= len(left[kind]), f"{array_section(kind)} is too short")
            self.arrays.append(left[kind][:count].reshape(shape))
            left[kind] = left[kind][count:]
        require(not any(map(len, left.values())), "its arrays are longer than their shapes")
        self.unread = set(range(len(self.arrays)))

    def get(self, number: Any, dtype: Any, *shape: int | None) -> np.ndarray:
        """The array of that number, which has to have the type and shape; None fits any length."""
        require(is_count(number, len(self.arrays)), "an array is missing")
        require(number in self.unread, f"array {number} is there for two things")
        self.unread.discard(number)
        array: np.ndarray = self.arrays[number]
        require(
            array.dtype == np.dtype(dtype)
            and len(shape) == array.ndim
            and all(expected in (None, length) for expected, length in zip(shape, array.shape, strict=True)),
            "an array has another type or shape than expected",
        )
        return array


def read_array(data: bytes) -> np.ndarray:
    """The numbers of a .npy file: a view of its bytes."""
    file = io.BytesIO(data)
    require(np.lib.format.read_magic(file) == (1, 0), "an array is of another version of its format")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    require(dtype.kind in "iuf" and len(shape) == 1, "an array has no known type or shape")
    array = np.frombuffer(data, dtype, offset=file.tell())
    require(array.shape == shape, "an array has another length than expected")
    return array.astype(dtype.newbyteorder("="), copy=False)
