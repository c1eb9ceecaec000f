"""The mutations of kernels.toml and python.toml, and whether they fit the repository."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
KINDS = ("kernels", "python")


class Mutation(NamedTuple):
    """`old` becomes `new` in the file `path`; one of the `tests` is expected to fail."""

    name: str
    kind: str
    breaks: str
    path: str
    old: str
    new: str
    tests: tuple[str, ...]


def read_mutations() -> list[Mutation]:
    found: list[Mutation] = []
    for kind in KINDS:
        data = tomllib.loads((HERE / f"{kind}.toml").read_text(encoding="utf-8"))
        found += [
            Mutation(own["name"], kind, own["breaks"], own["file"], own["old"], own["new"], tuple(own["tests"]))
            for own in data["mutation"]
        ]
    return found


def misfits(mutations: Sequence[Mutation], root: Path) -> list[str]:
    """Why mutations cannot be applied to the repository, a sentence each."""
    problems = []
    names = [own.name for own in mutations]
    problems += [f"mutation {name}: the name is there twice" for name in sorted(set(names)) if names.count(name) > 1]
    for own in mutations:
        path = root / own.path
        if not path.is_file():
            problems.append(f"mutation {own.name}: there is no file {own.path}")
        else:
            count = path.read_text(encoding="utf-8").count(own.old)
            if count != 1:
                problems.append(f"mutation {own.name}: the text occurs {count} times in {own.path}")
        if own.old == own.new:
            problems.append(f"mutation {own.name}: the new text is the old one")
        if not own.tests:
            problems.append(f"mutation {own.name}: no test file is named")
        for test in own.tests:
            if not (root / test.partition("::")[0]).is_file():
                problems.append(f"mutation {own.name}: there is no test file {test}")
    return problems
