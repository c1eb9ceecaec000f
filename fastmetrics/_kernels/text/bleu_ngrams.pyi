# Written by tools/generate.py from bleu_ngrams.pyx.

import numpy as np
from numpy.typing import NDArray

class NgramCounter:
    def count(
        self,
        ids: NDArray[np.int64],
        text_tokens: NDArray[np.int64],
        segments: NDArray[np.int64],
        max_order: int,
        out: NDArray[np.int64],
    ) -> None: ...
