"""The interface of a list of JSON objects that is read as columns."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np


@runtime_checkable
class Records(Protocol):
    """Objects of one kind (images, annotations or detections), read field by field.

    `DictRecords` reads a list of dicts, `JsonRecords` an array in a JSON file.
    """

    def __len__(self) -> int: ...
    def has(self, name: str) -> np.ndarray: ...
    def column(self, name: str) -> np.ndarray: ...
    def values(self, name: str) -> list[Any]: ...
