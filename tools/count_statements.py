"""Count the statements of the Python files, docstrings left out: does a change make the code larger?

    python tools/count_statements.py                   fastmetrics/ and tests/ of this checkout
    python tools/count_statements.py --base REVISION   and of a revision, side by side

A statement is a node of the syntax tree, so line breaks and formatting do not count.
"""

import argparse
import ast
import io
import subprocess
import tarfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDERS = ("fastmetrics", "tests")


def is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def count(source: bytes) -> int:
    """The statements of a file without its docstrings."""
    return sum(isinstance(node, ast.stmt) and not is_docstring(node) for node in ast.walk(ast.parse(source)))


def files_of_checkout(folder: str) -> Iterator[bytes]:
    return (path.read_bytes() for path in (ROOT / folder).rglob("*.py"))


def files_of_revision(folder: str, revision: str) -> Iterator[bytes]:
    archive = subprocess.run(["git", "archive", revision, folder], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        for member in files:
            content = files.extractfile(member) if member.name.endswith(".py") else None
            if content is not None:
                yield content.read()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", metavar="REVISION", help="a commit to compare with")
    base = parser.parse_args().base
    for folder in FOLDERS:
        now = sum(map(count, files_of_checkout(folder)))
        before = f", {base} {sum(map(count, files_of_revision(folder, base))):,}" if base else ""
        print(f"{folder}: {now:,} statements{before}")


if __name__ == "__main__":
    main()
