# Written by tools/generate.py from text_blocks.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray

BAD_STREAM: int
BAD_ROW: int
BAD_TOKEN: int

def measure_streams(
    streams: list[Any],
    start: int,
    stop: int,
    of_tokens: bool,
    offsets: NDArray[np.int64],
    segments: NDArray[np.int64],
    bad_item: NDArray[np.int64],
) -> int: ...
def copy_texts(
    streams: list[Any],
    start: int,
    stop: int,
    offsets: NDArray[np.int64],
    points: NDArray[np.uint32],
) -> bool: ...
def measure_words(streams: list[Any], start: int, stop: int, token_starts: NDArray[np.int64]) -> int: ...
def copy_words(
    streams: list[Any],
    start: int,
    stop: int,
    token_starts: NDArray[np.int64],
    points: NDArray[np.uint32],
) -> None: ...
def number_lists(
    streams: list[Any],
    start: int,
    stop: int,
    token_ids: dict[Any, Any],
    ids: NDArray[np.int64],
    bad_item: NDArray[np.int64],
) -> bool: ...
def decode_utf8(
    data: NDArray[np.uint8],
    starts: NDArray[np.int64],
    stops: NDArray[np.int64],
    offsets: NDArray[np.int64],
    points: NDArray[np.uint32],
) -> int: ...
