"""The table of the fields of state.json in docs/internals/state-files.md, from those that states are written with."""

import re
from collections.abc import Iterator
from pathlib import Path

from fastmetrics.engine.partial.files.fields import FILE, PART, TASK
from generated import ROOT

PAGE = ROOT / "docs" / "internals" / "state-files.md"
SECTION = re.compile(r"(<!-- fields -->\n).*?(<!-- /fields -->)", re.DOTALL)


def outputs() -> dict[Path, str]:
    section = "\n".join(table())
    text = PAGE.read_text(encoding="utf-8")
    return {PAGE: SECTION.sub(lambda found: f"{found[1]}{section}\n{found[2]}", text)}


def table() -> Iterator[str]:
    yield "| of | field | type | content |"
    yield "|---|---|---|---|"
    for owner, fields in (("file", FILE), ("task", TASK), ("part", PART)):
        for name, kind, text, *_ in fields:
            yield f"| {owner} | `{name}` | {kind.title} | {text} |"
