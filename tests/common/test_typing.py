"""Types of the public API: mypy over the examples in tests/typing, and stubs against their kernels.

A `reveal_type(...)` line of an example says in a comment what mypy must reveal, `# reveals: float`, without module
names. Wrong calls have a `# type: ignore[code]`; mypy is strict and raises an error if it is not needed.
"""

import ast
import importlib
import inspect
import re
from pathlib import Path

import fastmetrics
from fastmetrics.testing.function_cases import checked_values
from support import type_checks
from support.cases import each_case

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "tests" / "typing").glob("*.py"))
# Stubs are next to the kernels, in a checkout and in an installed package.
STUBS = sorted((Path(fastmetrics.__file__).resolve().parent / "_kernels").rglob("*.pyi"))

EXPECTED = re.compile(r"reveal_type\(.*# reveals: (.+)$")
MESSAGE = re.compile(r"^(?P<file>.+?):(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)$")
REVEALED = re.compile(r'Revealed type is "(.+)"')


def run_mypy(paths: list[Path], folder: Path, cache: Path) -> str:
    """The messages of mypy. It finds the package that is tested, in a checkout or installed."""
    package_parent = Path(fastmetrics.__file__).resolve().parents[1]
    search = [] if package_parent.name in {"site-packages", "dist-packages"} else [package_parent]
    run = type_checks.run_mypy([*paths], folder, cache, search)
    assert run.returncode in {0, 1}, run.stdout + run.stderr
    return run.stdout


def short(name: str) -> str:
    """list[builtins.str] -> list[str]: the module of a type is not part of the API."""
    return re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", name)


def complaints(messages: str, paths: list[Path]) -> list[str]:
    """Errors, and lines where the revealed type differs from the comment."""
    expected = {
        (path.name, number): match[1]
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := EXPECTED.search(line))
    }
    found = {}
    bad = []
    for line in messages.splitlines():
        message = MESSAGE.match(line)
        if message is None:
            continue
        revealed = REVEALED.search(message["text"])
        if revealed:
            found[Path(message["file"]).name, int(message["line"])] = short(revealed[1])
        elif message["kind"] == "error":
            bad.append(line)
    bad += [
        f"{name}:{line}: reveals {found.get((name, line))}, the comment says {expected.get((name, line))}"
        for name, line in sorted(dict(expected.items() ^ found.items()))
    ]
    return bad


def names_without_example() -> set[str]:
    text = "\n".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    named = set(re.findall(r"\bfm\.(\w+)", text)) | set(re.findall(r"# reveals: (?:tuple\[)?(\w+)", text))
    return set(fastmetrics.__all__) - named


def example_of_stated_values(names: set[str]) -> str:
    """Calls of CHECKED_VALUES beside the functions, which reveal the types of the values."""
    calls = [
        (name, *map(repr, arguments), *(f"{option}={value!r}" for option, value in options.items()), type(result))
        for name in sorted(names)
        for arguments, options, result in checked_values(getattr(fastmetrics, name))
    ]
    lines = [f"reveal_type(fm.{name}({', '.join(call)}))  # reveals: {kind.__name__}\n" for name, *call, kind in calls]
    return "".join(["from typing import reveal_type\n", "import fastmetrics as fm\n", *lines])


def test_examples_have_the_types_in_their_comments(tmp_path, types_cache):
    assert EXAMPLES
    stated = tmp_path / "stated_values.py"
    stated.write_text(example_of_stated_values({"copc", *names_without_example()}), encoding="utf-8")
    bad = complaints(run_mypy([*EXAMPLES, stated], tmp_path, types_cache), [*EXAMPLES, stated])
    assert not bad, "\n".join(bad)


def test_every_public_name_has_an_example():
    without = [name for name in names_without_example() if not checked_values(getattr(fastmetrics, name))]
    assert not without, f"add CHECKED_VALUES beside them, or a line in tests/typing: {without}"


def test_wrong_example_is_found(tmp_path, types_cache):
    text = (
        "import fastmetrics as fm\n"
        "auc = fm.roc_auc_score([0, 1], [0.1, 0.2])\n"
        "reveal_type(auc)  # reveals: int\n"
        "reveal_type(auc)\n"
        "auc = 1.0  # reveal_type(auc)  # reveals: float\n"
        "fm.list_metrics('auc')\n"
        "fm.list_metrics()  # type: ignore[call-arg]\n"
    )
    path = tmp_path / "wrong.py"
    path.write_text(text, encoding="utf-8")
    lines = [
        int(re.search(r"wrong\.py:(\d+):", complaint)[1])
        for complaint in complaints(run_mypy([path], tmp_path, types_cache), [path])
    ]
    assert sorted(lines) == [3, 4, 5, 6, 7]


# --------------------------------------------------------------------------------------------- stubs and kernels


CONSTANT = int | float | str | tuple


def stub_contents(text: str) -> tuple[dict[str, list[str]], dict[str, str]]:
    """A stub's functions and methods with the names of their parameters, and its constants with their types."""
    body = ast.parse(text).body
    classes = [(f"{node.name}.", node.body) for node in body if isinstance(node, ast.ClassDef)]
    functions = {
        f"{owner}{node.name}": [argument.arg for argument in node.args.args]
        for owner, nodes in [("", body), *classes]
        for node in nodes
        # The signature of a compiled class is not available.
        if isinstance(node, ast.FunctionDef) and not node.decorator_list and node.name != "__init__"
    }
    constants = {
        ast.unparse(node.target): ast.unparse(node.annotation).partition("[")[0]
        for node in body
        if isinstance(node, ast.AnnAssign)
    }
    return functions, constants


def test_stubs_exist():
    assert STUBS


@each_case("path", STUBS, ids=lambda path: path.stem)
def test_stub_matches_its_kernel(path):
    names = path.relative_to(Path(fastmetrics.__file__).resolve().parent).with_suffix("").parts
    kernel = importlib.import_module(".".join(["fastmetrics", *names]))
    functions, constants = stub_contents(path.read_text(encoding="utf-8"))
    public = {name: value for name, value in vars(kernel).items() if not name.startswith("_")}
    callables = {name: value for name, value in public.items() if callable(value) and not inspect.isclass(value)}
    for owner, kind in public.items():
        if inspect.isclass(kind):
            methods = {name: value for name, value in vars(kind).items() if callable(value) and name[0] != "_"}
            callables |= {f"{owner}.{name}": value for name, value in methods.items()}
    assert functions == {name: list(inspect.signature(value).parameters) for name, value in callables.items()}
    assert constants == {name: type(value).__name__ for name, value in public.items() if isinstance(value, CONSTANT)}
