"""Files of the Pascal VOC devkit -> columns: a folder of XML annotations, and one result file for each class.

The id of an image is the name of its annotation file. The lines of a result file are image, score and two corners, as
the devkit writes them. Its class is the end of its name (comp4_det_test_car.txt).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from fastmetrics._core.calls.missing_files import read_file
from fastmetrics._kernels.detection import iou as kernel

SUFFIX = ".txt"
FIELDS = 6
CORNERS = ("xmin", "ymin", "xmax", "ymax")
CLASS_PLACEHOLDERS = ("{}", "{class}")


def is_devkit_path(data: Any) -> bool:
    """Return whether data is a folder, or a path of result files with a placeholder for the class."""
    return is_path(data) and (os.path.isdir(data) or any(each in os.fspath(data) for each in CLASS_PLACEHOLDERS))


def is_path(data: Any) -> bool:
    return isinstance(data, (str, os.PathLike))


def read_annotations(folder: Any) -> tuple[dict[str, Any], list[str]]:
    """Return objects as columns and the ids of all annotated images. The folder may be that of a whole data set."""
    path = Path(folder)
    if (path / "Annotations").is_dir():
        path /= "Annotations"
    files = sorted(path.glob("*.xml"))
    if not files:
        raise ValueError(f"{path} has no annotations: files that end in .xml")
    rows: list[tuple[str, str, list[float], int]] = []
    sources: list[tuple[Path, int]] = []
    for file in files:
        for number, row in enumerate(read_objects(file), start=1):
            rows.append((file.stem, *row))
            sources.append((file, number))
    images, names, boxes, difficult = zip(*rows, strict=True) if rows else ([], [], [], [])
    corners = as_corners(boxes, lambda row: f"{sources[row][0]}, object {sources[row][1]}")
    columns = {
        "image": as_texts(images),
        "category": as_texts(names),
        "box": corners,
        "difficult": np.array(difficult, np.uint8),
    }
    return columns, [file.stem for file in files]


def read_objects(file: Path) -> Iterable[tuple[str, list[float], int]]:
    """Yield the class, corners and difficult flag of every object of an image."""
    from xml.etree import ElementTree

    try:
        root = ElementTree.parse(file).getroot()
    except ElementTree.ParseError as error:
        raise ValueError(f"{file} is no XML file: {error}") from None
    for number, element in enumerate(root.findall("object"), start=1):
        name, box = element.findtext("name", "").strip(), element.find("bndbox")
        if not name:
            raise_bad_object(file, number, "it has no name")
        if box is None:
            raise_bad_object(file, number, "it has no bndbox")
        corners = [parse_number(box.findtext(corner), file, number, corner) for corner in CORNERS]
        flag = element.findtext("difficult", "0").strip()
        if flag not in ("0", "1"):
            raise_bad_object(file, number, f"difficult must be 0 or 1; found {flag!r}")
        yield name, corners, int(flag)


def parse_number(text: str | None, file: Path, number: int, what: str) -> float:
    if text is None:
        raise_bad_object(file, number, f"its bndbox has no {what}")
    try:
        return float(text)
    except ValueError:
        raise_bad_object(file, number, f"{what} is not a number: {text!r}")


def raise_bad_object(file: Path, number: int, problem: str) -> NoReturn:
    raise ValueError(f"{file}, object {number}: {problem}")


def read_results(data: Any, classes: Sequence[str]) -> dict[str, Any]:
    """Read detections as columns, class by class, from a folder or from a path with {} or {class} in it."""
    files = find_result_files(data, classes)
    if not files:
        example = f"comp4_det_test_{classes[0] if classes else 'car'}.txt"
        raise ValueError(f"{os.fspath(data)}: no result files, such as {example}")
    images: list[str] = []
    names: list[str] = []
    numbers: list[np.ndarray] = []
    for name, file in sorted(files.items()):
        file_images, values = read_result(file)
        images += file_images
        names += [name] * len(file_images)
        numbers.append(values)
    table = np.concatenate(numbers)
    return {
        "image": as_texts(images),
        "category": as_texts(names),
        "box": np.ascontiguousarray(table[:, 1:]),
        "score": np.ascontiguousarray(table[:, 0]),
    }


def find_result_files(data: Any, classes: Sequence[str]) -> dict[str, Path]:
    """Return the result file of every class."""
    text = os.fspath(data)
    for placeholder in CLASS_PLACEHOLDERS:
        if placeholder in text and not os.path.isdir(text):
            before, _, after = text.partition(placeholder)
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
                f"{files[name]} and {path} are both results of class {name!r}; use a path with {{}} for the class: "
                f"{str(path)[: len(str(path)) - len(name + SUFFIX)]}{{}}{SUFFIX}"
            )
        files[name] = path
    return files


def read_result(file: Path) -> tuple[list[str], np.ndarray]:
    """Return the images of a result file, and its rows of score and corners."""
    lines = read_file(file).decode("utf-8", "replace").splitlines()
    fields = [line.split() for line in lines]
    for number, words in enumerate(fields, start=1):
        if len(words) not in (0, FIELDS):
            raise ValueError(
                f"{file}, line {number}: {len(words)} fields where {FIELDS} are wanted (image score x1 y1 x2 y2): "
                f"{lines[number - 1]!r}"
            )
    rows = [words for words in fields if words]
    numbers = [number for number, words in enumerate(fields, start=1) if words]
    try:
        values = np.array([list(map(float, words[1:])) for words in rows], np.float64).reshape(-1, FIELDS - 1)
    except ValueError:
        raise_bad_number(file, fields)
    if np.isnan(values[:, 0]).any():
        raise ValueError(f"{file}, line {numbers[int(np.argmax(np.isnan(values[:, 0])))]}: the score is NaN")
    as_corners(values[:, 1:], lambda row: f"{file}, line {numbers[row]}")
    return [words[0] for words in rows], values


def raise_bad_number(file: Path, fields: Sequence[Sequence[str]]) -> NoReturn:
    """Raise the error for the first word that is not a number."""
    for number, words in enumerate(fields, start=1):
        for what, text in zip(("score", "x1", "y1", "x2", "y2"), words[1:], strict=False):
            try:
                float(text)
            except ValueError:
                raise ValueError(f"{file}, line {number}: {what} is not a number: {text!r}") from None
    raise ValueError(f"{file} has a line with a word that is not a number")


def as_corners(boxes: Any, where: Callable[[int], str]) -> np.ndarray:
    """Return corners as an (n, 4) array. `where` names the source of a row in errors."""
    array = np.array(boxes, np.float64).reshape(-1, 4)
    row = kernel.to_corner_columns(array, True, 0.0, np.empty((5, len(array))))
    if row >= 0:
        raise ValueError(f"{where(row)}: {array[row].tolist()} are not two corners x1 <= x2, y1 <= y2")
    return array


def as_texts(values: Iterable[str]) -> np.ndarray:
    texts = list(values)
    return np.array(texts) if texts else np.empty(0, "U1")


def read_image_set(path: Any) -> list[str]:
    """Return the images of an image set: the first word of each line (in VOC's files of a class a flag follows)."""
    lines = read_file(path).decode("utf-8", "replace").splitlines()
    return [line.split()[0] for line in lines if line.strip()]
