"""Reading the sources: files, module names, and what each module imports."""

import ast
import re
from collections.abc import Callable, Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "fastmetrics"
SOURCE_SUFFIXES = {".py", ".pyi", ".pyx", ".pxd"}
HEADER_SUFFIXES = {".h", ".pxi"}


def source_files(*folders: str, suffixes: set[str] = SOURCE_SUFFIXES) -> list[Path]:
    """Sources below the folders, without what a build or a cache put there."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return sorted(path for path in paths if path.suffix in suffixes and path.is_file())


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def is_module(name: str) -> bool:
    path = ROOT.joinpath(*name.split("."))
    return path.is_dir() or any(path.with_suffix(suffix).is_file() for suffix in SOURCE_SUFFIXES)


def names_a_module(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(r"fastmetrics(\.\w+)+", value) is not None and is_module(value)


def absolute(module: str, name: str | None, level: int, is_package: bool) -> str:
    """The module that `from ..name import x` means inside `module`."""
    if level == 0:
        return name or ""
    parts = module.split(".")
    base = parts if is_package else parts[:-1]
    base = base[: len(base) - (level - 1)]
    return ".".join([*base, name] if name else base)


def submodules(parent: str, names: list[str]) -> Iterator[str]:
    """`from parent import a` imports the module parent.a where there is one, and parent itself otherwise."""
    for name in names:
        yield f"{parent}.{name}" if is_module(f"{parent}.{name}") else parent


def python_imports(module: str, text: str, is_package: bool) -> Iterator[str]:
    """Every import of a Python source, also inside functions, for type checkers, and lazy ones by name."""
    docstrings = docstring_nodes(tree := ast.parse(text))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parent = absolute(module, node.module, node.level, is_package)
            yield from submodules(parent, [alias.name for alias in node.names])
        elif isinstance(node, ast.Constant) and id(node) not in docstrings and names_a_module(node.value):
            # A lazy import names its module in a string: import_module("fastmetrics.engine.evaluate").
            yield node.value


CYTHON_IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<parent>[\w.]*)[ \t]+c?import[ \t]+(?P<names>\([^)]*\)|[^\n]*)"
    r"|c?import[ \t]+(?P<modules>[^\n(]+))",
    flags=re.MULTILINE,
)


def cython_imports(module: str, text: str) -> Iterator[str]:
    for match in CYTHON_IMPORT.finditer(without_comments(text)):
        if match["modules"]:
            yield from (part.split()[0] for part in match["modules"].split(",") if part.split())
        else:
            parent = absolute(module, match["parent"], len(match["dots"]), is_package=False)
            names = [part.split()[0] for part in match["names"].strip("()").split(",") if part.split()]
            yield from submodules(parent, names)


def imports_of(path: Path, text: str) -> list[str]:
    if path.suffix in {".py", ".pyi"}:
        return list(python_imports(module_name(path), text, is_package=path.stem == "__init__"))
    return list(cython_imports(module_name(path), text))


def without_comments(text: str) -> str:
    """Cython source with comments and strings blanked, line numbers kept."""
    literal = r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*'
    return re.sub(literal, lambda match: "\n" * match[0].count("\n"), text)


def docstring_nodes(tree: ast.AST) -> set[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}


def complaints_over(files: list[Path], rule: Callable[[str], list[str]]) -> list[str]:
    return [f"{relative(path)}: {complaint}" for path in files for complaint in rule(read(path))]


def listed(complaints: list[str]) -> str:
    return "\n".join(["", *complaints])


PACKAGE_FILES = source_files("fastmetrics")
ALL_FILES = source_files("fastmetrics", "tests", "bench", "tools", suffixes=SOURCE_SUFFIXES | HEADER_SUFFIXES)
