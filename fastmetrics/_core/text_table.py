"""Rows of text in columns of equal width, as results are printed."""

from __future__ import annotations

from collections.abc import Container, Sequence


def aligned(rows: Sequence[Sequence[str]], left: Container[int] = (0,)) -> list[str]:
    """The rows as lines: the columns at these places from the left, the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if place in left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
