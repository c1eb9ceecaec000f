"""The definitions of `fastmetrics selfcheck`: what it needs of tests/oracles, which the package does not have.

`selfcheck/values.py` says what it needs: `curves.auc` there is the function `auc` of the oracle `curves`. What that
function uses comes with it. Oracles import neither NumPy nor fastmetrics, so these files import each other alone.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from generated import PACKAGE, ROOT

ORACLES = ROOT / "tests" / "oracles"
READER = PACKAGE / "selfcheck" / "values.py"
FOLDER = PACKAGE / "selfcheck" / "definitions"
MODULE = "fastmetrics.selfcheck.definitions"


class Oracle:
    """A module of tests/oracles: its statements by the names they define, and where other names come from."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lines = path.read_text(encoding="utf-8").splitlines()
        self.tree = ast.parse("\n".join(self.lines))
        self.defined: dict[str, ast.stmt] = {}
        self.imports: list[ast.Import | ast.ImportFrom] = []
        for node in self.tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                self.imports.append(node)
            elif isinstance(node, ast.FunctionDef | ast.ClassDef):
                self.defined[node.name] = node
            elif isinstance(node, ast.Assign | ast.AnnAssign):
                target = node.targets[0] if isinstance(node, ast.Assign) else node.target
                self.defined[ast.unparse(target)] = node

    def text_of(self, node: ast.stmt) -> str:
        """The source of a statement, with the comment above it."""
        first = min([node.lineno, *(own.lineno for own in getattr(node, "decorator_list", ()))]) - 1
        while self.lines[first - 1].startswith("#"):
            first -= 1
        return "\n".join(self.lines[first : node.end_lineno])


@cache
def oracles() -> dict[str, Oracle]:
    """The modules that define something, by the last word of their name: `curves`, `gauc`."""
    found: dict[str, Oracle] = {}
    for path in sorted(ORACLES.rglob("*.py")):
        oracle = Oracle(path)
        name = path.parent.name if path.stem == "__init__" else path.stem
        if oracle.defined and found.setdefault(name, oracle) is not oracle:
            raise SystemExit(f"two oracles have the name {name}: {found[name].path} and {path}")
    return found


def outputs() -> dict[Path, str]:
    needed: dict[str, set[str]] = {}
    reader = ast.parse(READER.read_text(encoding="utf-8"))
    imported = {
        alias.name
        for node in ast.walk(reader)
        if isinstance(node, ast.ImportFrom) and node.module == MODULE
        for alias in node.names
    }
    for module, name in sorted(attributes_of(reader, imported)):
        add_needed(module, name, needed)
    written = {FOLDER / f"{module}.py": text_of_module(module, needed) for module in needed}
    for path in FOLDER.glob("*.py"):
        if path not in written and path.stem != "__init__":
            raise SystemExit(f"the self-check does not need {path}: delete it")
    return written


def attributes_of(tree: ast.AST, modules: set[str]) -> Iterator[tuple[str, str]]:
    """`curves.auc` of a module `curves`, as its two names."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            yield node.value.id, node.attr


def add_needed(module: str, name: str, needed: dict[str, set[str]]) -> None:
    """Add a definition of a module, and what it uses."""
    if name in needed.setdefault(module, set()):
        return
    needed[module].add(name)
    oracle = oracles()[module]
    node = oracle.defined[name]
    used = names_used(node)
    for own in sorted(used & oracle.defined.keys()):
        add_needed(module, own, needed)
    for own in oracle.imports:
        for alias in own.names if is_of_oracles(own) else ():
            if alias.name in oracles():
                for other in attributes_of(node, {alias.name}):
                    add_needed(*other, needed)
            elif alias.name in used:
                add_needed(module_of(own), alias.name, needed)


def is_of_oracles(node: ast.Import | ast.ImportFrom) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "oracles"


def module_of(node: ast.ImportFrom) -> str:
    return (node.module or "").rpartition(".")[2]


def names_used(node: ast.AST) -> set[str]:
    """The names that a statement reads and does not define itself."""
    names = [own for own in ast.walk(node) if isinstance(own, ast.Name)]
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    own |= {argument.arg for argument in ast.walk(node) if isinstance(argument, ast.arg)}
    return {name.id for name in names} - own


def text_of_module(module: str, needed: dict[str, set[str]]) -> str:
    """An oracle with the needed definitions alone, and the imports that these use."""
    oracle = oracles()[module]
    kept = [node for name, node in oracle.defined.items() if name in needed[module]]
    used = set().union(*map(names_used, kept))
    lines = [f"# Written by tools/generate.py from {oracle.path.relative_to(ROOT).as_posix()}."]
    lines += oracle.lines[: oracle.tree.body[0].end_lineno]
    for is_own in (False, True):
        found = [line for own in oracle.imports if is_of_oracles(own) == is_own for line in import_lines(own, used)]
        lines += ["", *sorted(found)] if found and is_own else ["", *found] if found else []
    before: ast.stmt | None = None
    for node in kept:
        is_block = isinstance(node, ast.FunctionDef | ast.ClassDef)
        after_block = isinstance(before, ast.FunctionDef | ast.ClassDef)
        lines += ["", ""] if is_block or after_block else [""] if before is None else []
        lines.append(oracle.text_of(node))
        before = node
    return "\n".join(lines) + "\n"


def import_lines(node: ast.Import | ast.ImportFrom, used: set[str]) -> Iterator[str]:
    """The part of an import that is used, from the package in place of the oracles."""
    names = [alias.name for alias in node.names if alias.name.split(".")[0] in used]
    if names and isinstance(node, ast.Import):
        yield f"import {', '.join(names)}"
    elif names and not is_of_oracles(node):
        yield f"from {node.module} import {', '.join(names)}"
    elif names:
        modules = [name for name in names if name in oracles()]
        if modules:
            yield f"from {MODULE} import {', '.join(modules)}"
        if rest := [name for name in names if name not in modules]:
            yield f"from {MODULE}.{module_of(node)} import {', '.join(rest)}"
