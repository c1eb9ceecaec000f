"""Pascal VOC's files -> columns: a folder of XML annotations, and result files of a class each.

An image's id is the name of its annotation file. A result file has lines of image, score and two corners, as the devkit
has them; its class is the end of its name (comp4_det_test_car.txt).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fastmetrics._kernels import boxpairs as kernel

SUFFIX = ".txt"
FIELDS = 6
CORNERS = ("xmin", "ymin", "xmax", "ymax")
PLACES = ("{}", "{class}")


def is_voc(data: Any) -> bool:
    """Is it a folder, or the path of result files with a place for the class?"""
    return is_path(data) and (os.path.isdir(data) or any(place in os.fspath(data) for place in PLACES))


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def read_annotations(folder: Any) -> tuple[dict[str, Any], list[str]]:
    """Objects as columns, and the ids of all annotated images; the folder may be that of a whole data set."""
    path = Path(folder)
    if (path / "Annotations").is_dir():
        path /= "Annotations"
    files = sorted(path.glob("*.xml"))
    if not files:
        raise ValueError(f"{path} has no annotations: files that end in .xml")
    rows: list[tuple[str, str, list[float], int]] = []
    places: list[tuple[Path, int]] = []
    for file in files:
        for number, row in enumerate(read_objects(file), start=1):
            rows.append((file.stem, *row))
            places.append((file, number))
    images, names, boxes, difficult = zip(*rows, strict=True) if rows else ([], [], [], [])
    corners = as_corners(boxes, lambda row: f"{places[row][0]}, object {places[row][1]}")
    columns = {
        "image": as_texts(images),
        "category": as_texts(names),
        "box": corners,
        "difficult": np.array(difficult, np.uint8),
    }
    return columns, [file.stem for file in files]


def read_objects(file: Path) -> Iterable[tuple[str, list[float], int]]:
    """Class, corners and whether it is difficult, of every object of an image."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"{file} is no XML file: {error}") from None
    for number, each in enumerate(root.findall("object"), start=1):
        name, box = each.findtext("name", "").strip(), each.find("bndbox")
        if not name:
            refuse(file, number, "it has no name")
        if box is None:
            refuse(file, number, "it has no bndbox")
        corners = [number_in(box.findtext(corner), file, number, corner) for corner in CORNERS]
        flag = each.findtext("difficult", "0").strip()
        if flag not in ("0", "1"):
            refuse(file, number, f"difficult must be 0 or 1; found {flag!r}")
        yield name, corners, int(flag)


def number_in(text: str | None, file: Path, number: int, what: str) -> float:
    if text is None:
        refuse(file, number, f"its bndbox has no {what}")
    try:
        return float(text)
    except ValueError:
        refuse(file, number, f"{what} is not a number: {text!r}")


def refuse(file: Path, number: int, what: str) -> NoReturn:
    raise ValueError(f"{file}, object {number}: {what}")


def read_results(data: Any, classes: Sequence[str]) -> dict[str, Any]:
    """Detections as columns, class by class, of a folder or of a path with {} or {class} in it."""
    files = result_files(data, classes)
    if not files:
        example = f"comp4_det_test_{classes[0] if classes else 'car'}.txt"
        raise ValueError(f"{os.fspath(data)}: no result files, such as {example}")
    images: list[str] = []
    names: list[str] = []
    numbers: list[np.ndarray] = []
    for name, file in sorted(files.items()):
        own, values = read_result(file)
        images += own
        names += [name] * len(own)
        numbers.append(values)
    table = np.concatenate(numbers)
    return {
        "image": as_texts(images),
        "category": as_texts(names),
        "box": np.ascontiguousarray(table[:, 1:]),
        "score": np.ascontiguousarray(table[:, 0]),
    }


def result_files(data: Any, classes: Sequence[str]) -> dict[str, Path]:
    """The file of every class."""
    text = os.fspath(data)
    for place in PLACES:
        if place in text and not os.path.isdir(text):
            before, _, after = text.partition(place)
            folder, stem = os.path.split(before)
            paths = sorted(Path(folder or ".").glob("*" + SUFFIX)) if os.sep not in after else []
            return {
                path.name[len(stem) : len(path.name) - len(after)]: path
                for path in paths
                if path.name.startswith(stem) and path.name.endswith(after) and len(path.name) > len(stem + after)
            }
    files: dict[str, Path] = {}
    for path in sorted(Path(text).glob("*" + SUFFIX)):
        ends = [name for name in classes if path.stem == name or path.stem.endswith(f"_{name}")]
        name = max(ends, key=len) if ends else path.stem.rpartition("_")[2]
        if name in files:
            raise ValueError(
                f"{files[name]} and {path} are both results of class {name!r}; say which, with {{}} for the class: "
                f"{str(path)[: len(str(path)) - len(name + SUFFIX)]}{{}}{SUFFIX}"
            )
        files[name] = path
    return files


def read_result(file: Path) -> tuple[list[str], np.ndarray]:
    """Images, and rows of score and corners."""
    lines = file.read_bytes().decode("utf-8", "replace").splitlines()
    fields = [line.split() for line in lines]
    for number, own in enumerate(fields, start=1):
        if len(own) not in (0, FIELDS):
            raise ValueError(
                f"{file}, line {number}: {len(own)} fields where {FIELDS} are wanted (image score x1 y1 x2 y2): "
                f"{lines[number - 1]!r}"
            )
    rows = [own for own in fields if own]
    numbers = [number for number, own in enumerate(fields, start=1) if own]
    try:
        values = np.array([list(map(float, own[1:])) for own in rows], np.float64).reshape(-1, FIELDS - 1)
    except ValueError:
        refuse_line(file, fields)
    if np.isnan(values[:, 0]).any():
        raise ValueError(f"{file}, line {numbers[int(np.argmax(np.isnan(values[:, 0])))]}: the score is NaN")
    as_corners(values[:, 1:], lambda row: f"{file}, line {numbers[row]}")
    return [own[0] for own in rows], values


def refuse_line(file: Path, fields: Sequence[Sequence[str]]) -> NoReturn:
    """The error for the first line with something that is no number."""
    for number, own in enumerate(fields, start=1):
        for what, text in zip(("score", "x1", "y1", "x2", "y2"), own[1:], strict=False):
            try:
                float(text)
            except ValueError:
                raise ValueError(f"{file}, line {number}: {what} is not a number: {text!r}") from None
    raise ValueError(f"{file} has lines that are not of numbers")


def as_corners(boxes: Any, where: Callable[[int], str]) -> np.ndarray:
    """Corners as an (n, 4) array, checked; `where` says where a row comes from."""
    array = np.array(boxes, np.float64).reshape(-1, 4)
    row = kernel.lay_out(array, True, 0.0, np.empty((5, len(array))))
    if row >= 0:
        raise ValueError(f"{where(row)}: {array[row].tolist()} are not two corners x1 <= x2, y1 <= y2")
    return array


def as_texts(values: Iterable[str]) -> np.ndarray:
    own = list(values)
    return np.array(own) if own else np.empty(0, "U1")


def read_image_set(path: Any) -> list[str]:
    """The images of a set: the first word of every line (VOC's files of a class have a flag behind it)."""
    lines = Path(path).read_bytes().decode("utf-8", "replace").splitlines()
    return [line.split()[0] for line in lines if line.strip()]
