"""What leaving a unit out changes of a value: the contributions of units, from which linearized errors are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from fastmetrics._core.inference.errors import ErrorEstimate, estimate_error
from fastmetrics._core.named_tuples import NamedTuple


class Contributions(NamedTuple):
    """The contributions of all entries of the table of units to one value.

    Attributes
    ----------
    changes : ndarray of float64
        The value of all rows, less the value without the rows of an entry; NaN if that one is undefined.
    counted : ndarray of bool
        Which entries have weight in the value; the changes of others are 0.
    n_effective : int
        Entries with weight; of scores, the fewer of those with positives and of those with negatives.
    """

    changes: np.ndarray
    counted: np.ndarray
    n_effective: int

    def error(self) -> ErrorEstimate:
        """The standard error and its degrees of freedom."""
        return estimate_error(self.changes[self.counted], self.n_effective)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled are the entries that count, or change the value: others have no rows."""
        kept = np.flatnonzero(self.counted | (self.changes != 0)).astype(np.int32)
        return restore, (self.changes.shape[0], kept, self.changes[kept], self.counted[kept], self.n_effective)

    def minus(self, other: Contributions) -> Contributions:
        """The contributions to the difference of two values of the same rows."""
        return Contributions(
            self.changes - other.changes,
            self.counted | other.counted,
            min(self.n_effective, other.n_effective),
        )


def restore(
    n_entries: int, kept: np.ndarray, changes: np.ndarray, counted: np.ndarray, n_effective: int
) -> Contributions:
    """The contributions of all entries, of which some were pickled."""
    found = Contributions(np.zeros(n_entries), np.zeros(n_entries, bool), n_effective)
    found.changes[kept], found.counted[kept] = changes, counted
    return found
