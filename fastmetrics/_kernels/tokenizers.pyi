import numpy as np
from numpy.typing import NDArray

UNICODE_VERSION: str
CLASSES: tuple[str, ...]

def split_none(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def split_13a(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def split_intl(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def split_char(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def split_zh(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def split_alphanumeric(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def split_unicode(
    points: NDArray[np.uint32],
    offsets: NDArray[np.int64],
    token_points: NDArray[np.uint32],
    token_starts: NDArray[np.int64],
    text_tokens: NDArray[np.int64],
) -> None: ...
def classify(points: NDArray[np.uint32], out: NDArray[np.uint8]) -> None: ...
