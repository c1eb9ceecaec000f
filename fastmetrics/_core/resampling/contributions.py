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
    crossed : float or None
        Of a greatest distance: the mean distance of each half of the units at the other half's threshold.
    shares : ndarray of float64 or None
        Of a problem of two classes: the share of the positive class that each entry has.
    of_bins : tuple or None
        Of a sum of the sizes of errors of bins: these errors, and the changes of each, float64[n_entries, n_bins].
    """

    changes: np.ndarray
    counted: np.ndarray
    n_effective: int
    crossed: float | None = None
    shares: np.ndarray | None = None
    of_bins: tuple[np.ndarray, np.ndarray] | None = None

    def error(self) -> ErrorEstimate:
        """The standard error and its degrees of freedom."""
        return estimate_error(self.changes[self.counted], self.n_effective)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled are the entries that count, or change the value: others have no rows. Bins are never sent."""
        kept = np.flatnonzero(self.counted | (self.changes != 0)).astype(np.int32)
        shares = None if self.shares is None else self.shares[kept]
        of_kept = self.changes[kept], self.counted[kept], self.n_effective, self.crossed, shares
        return restore, (self.changes.shape[0], kept, *of_kept)

    def minus(self, other: Contributions) -> Contributions:
        """The contributions to the difference of two values of the same rows."""
        return self.with_changes(self.changes - other.changes, other)

    def plus(self, other: Contributions) -> Contributions:
        """Those to the sum."""
        return self.with_changes(self.changes + other.changes, other)

    def with_changes(self, changes: np.ndarray, other: Contributions) -> Contributions:
        return Contributions(changes, self.counted | other.counted, min(self.n_effective, other.n_effective))


def restore(
    n_entries: int,
    kept: np.ndarray,
    changes: np.ndarray,
    counted: np.ndarray,
    n_effective: int,
    crossed: float | None,
    shares: np.ndarray | None,
) -> Contributions:
    """The contributions of all entries, of which some were pickled."""
    found = Contributions(np.zeros(n_entries), np.zeros(n_entries, bool), n_effective, crossed)
    found.changes[kept], found.counted[kept] = changes, counted
    if shares is None:
        return found
    of_all = np.zeros(n_entries)
    of_all[kept] = shares
    return found._replace(shares=of_all)
