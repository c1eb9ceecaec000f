r"""Docstrings as reStructuredText: formulas hold signs that it would read as marks, such as \|a - b\| and n_."""

import re
from typing import Any

CODE = re.compile(r"(``.+?``|`[^`]+`)")
TRAILING = re.compile(r"(?<=\w)_(?![\w`])")


def escape_formulas(app: Any, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """For the event `autodoc-process-docstring`, before numpydoc reads the sections. Examples stay as they are."""
    inside = False
    for number, line in enumerate(lines):
        inside = line.lstrip().startswith(">>> ") or (inside and bool(line.strip()))
        if not inside:
            lines[number] = escape(line)


def escape(line: str) -> str:
    parts = CODE.split(line)
    # "ndcg@10" is no address of mail.
    parts[::2] = [TRAILING.sub(r"\\_", part).replace("|", r"\|").replace("@", r"\@") for part in parts[::2]]
    return "".join(parts)
