from typing import Any

import numpy as np
from numpy.typing import NDArray

BAD_STREAM: int
BAD_ROW: int
BAD_TOKEN: int

def measure_texts(
    streams: list[list[Any]],
    start: int,
    stop: int,
    offsets: NDArray[np.int64],
    segments: NDArray[np.int64],
    found: NDArray[np.int64],
) -> int: ...
def copy_texts(
    streams: list[list[Any]],
    start: int,
    stop: int,
    offsets: NDArray[np.int64],
    points: NDArray[np.uint32],
) -> bool: ...
def measure_lists(
    streams: list[list[Any]],
    start: int,
    stop: int,
    text_tokens: NDArray[np.int64],
    segments: NDArray[np.int64],
    found: NDArray[np.int64],
) -> int: ...
def measure_words(
    streams: list[list[Any]],
    start: int,
    stop: int,
    token_starts: NDArray[np.int64],
) -> int: ...
def copy_words(
    streams: list[list[Any]],
    start: int,
    stop: int,
    token_starts: NDArray[np.int64],
    points: NDArray[np.uint32],
) -> None: ...
def number_lists(
    streams: list[list[Any]],
    start: int,
    stop: int,
    known: dict[Any, int],
    ids: NDArray[np.int64],
    found: NDArray[np.int64],
) -> bool: ...
def decode_utf8(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    offsets: NDArray[np.int64],
    points: NDArray[np.uint32],
) -> int: ...
