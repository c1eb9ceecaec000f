# Written by tools/generate.py from meteor_alignment.pyx.

from typing import Any

import numpy as np
from numpy.typing import NDArray
from fastmetrics._kernels.text.tokens.wordnet import WordNet

EXACT: int
STEM: int
SYNONYM: int
COLUMNS: int

def score_rows(
    counts: NDArray[np.int64],
    alpha: float,
    beta: float,
    gamma: float,
    out: NDArray[np.float64],
) -> None: ...

class Aligner:
    def __init__(self, stages: list[Any], greedy: bool, wordnet: WordNet | None = None) -> None: ...
    def clear_words(self) -> None: ...
    def links(self) -> list[int]: ...
    @property
    def exact(self) -> bool: ...
    def count(
        self,
        ids: NDArray[np.int64],
        text_tokens: NDArray[np.int64],
        segments: NDArray[np.int64],
        stems: NDArray[np.int64],
        forms: tuple[Any, ...],
        queries: tuple[Any, ...],
        alpha: float,
        beta: float,
        gamma: float,
        out: NDArray[np.int64],
    ) -> None: ...
