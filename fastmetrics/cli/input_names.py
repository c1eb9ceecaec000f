"""Names of input files, as tables show them."""

from collections.abc import Sequence
from pathlib import Path

from fastmetrics._core.calls.missing_files import printable

STANDARD_INPUT = "-"


def file_names(paths: Sequence[str], preferred: Sequence[str] = ()) -> list[str]:
    """The preferred names, or else the files' names without folders, or else the paths: the first that are distinct."""
    names = ["standard input" if path == STANDARD_INPUT else printable(Path(path).name) for path in paths]
    for candidates in (list(preferred), names):
        if candidates and all(candidates) and len(set(candidates)) == len(candidates):
            return candidates
    return list(map(printable, paths))
