"""Bootstrap replicates of a log in plain Python: the rows of each unit are repeated by its weight.

B. Efron (1979), Bootstrap methods: another look at the jackknife; with Poisson weights a unit's number of copies does
not depend on the others' (A. Chamandy et al., 2012, Estimating uncertainty for massive data streams).
"""

from collections.abc import Sequence
from typing import Any


def repeated(rows: Sequence[Any], weights: Sequence[int]) -> list[Any]:
    """Repeat each row by its weight, in order."""
    return [row for row, weight in zip(rows, weights, strict=True) for _ in range(weight)]
