"""Types of the public API under mypy --strict and pyright's strict mode, and stubs against their kernels.

Each checker runs once, over the examples in tests/typing, docs/types.md, and files written from the registry and from
docstrings. A `reveal_type(...)` line says in a comment what both checkers must reveal, `# reveals: float`, without
module names. A line that must be an error ends with `# type: ignore[code]`: both raise an error for an ignore that is
not needed. pyright is that of the package basedpyright, which brings its own Node.js and needs no network.
"""

import ast
import importlib
import inspect
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import fastmetrics
from fastmetrics._core.columns.row_blocks import UnpooledScratch
from fastmetrics._core.metric_spec import REQUIRED
from fastmetrics._kernels.columns.column_blocks import ColumnBlocks
from fastmetrics._kernels.exchange.partition_groups import PartitionedRows, PartitionGroups
from fastmetrics._kernels.ranking import ranked_lists
from fastmetrics.testing.function_cases import checked_values
from support import type_checks
from support.cases import each_case
from support.types.annotations import public_callables, public_options

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "tests" / "typing").glob("*.py"))
PAGE = ROOT / "docs" / "types.md"
# Stubs are next to the kernels, in a checkout and in an installed package.
STUBS = sorted((Path(fastmetrics.__file__).resolve().parent / "_kernels").rglob("*.pyi"))

EXPECTED = re.compile(r"reveal_type\(.*# reveals: (.+)$")
MESSAGE = re.compile(r"^(?P<file>.+?):(?P<line>\d+): (?P<kind>error|note): (?P<text>.*)$")
REVEALED = re.compile(r'(?:Revealed type|Type of ".*") is "(?P<type>.+)"', re.DOTALL)
ARRAY = re.compile(r"ndarray\[tuple\[Any, \.\.\.\], dtype\[(\w+(?:\[\w+\])?)\]\]")
NAMES = {"signedinteger[_64Bit]": "int64", "unsignedinteger[_8Bit]": "uint8"}
# A wrong value for every option with named values, and a right one, on lines that no one has to write.
WRONG = "no such value"
HEAD = "from typing import Any\nimport fastmetrics as fm\nANY: Any = None\n"
WRONG_EXAMPLE = """\
import fastmetrics as fm
auc = fm.roc_auc_score([0, 1], [0.1, 0.2])
reveal_type(auc)  # reveals: int
reveal_type(auc)
auc = 1.0  # reveal_type(auc)  # reveals: float
fm.list_metrics('auc')
fm.list_metrics()  # type: ignore[call-arg]
"""


class Message(NamedTuple):
    """What a checker says of a line. A revealed type is no error."""

    file: str
    line: int
    error: str
    revealed: str


def checkout_folders() -> list[Path]:
    """The folder of the package, unless it is installed: a checker finds that by itself."""
    parent = Path(fastmetrics.__file__).resolve().parents[1]
    return [] if parent.name in {"site-packages", "dist-packages"} else [parent]


def mypy_messages(text: str) -> Iterator[Message]:
    # The examples that are written here leave out the code of an ignore.
    lines = (line for line in text.splitlines() if not line.endswith("[ignore-without-code]"))
    for match in filter(None, map(MESSAGE.match, lines)):
        revealed = REVEALED.search(match["text"])
        if revealed or match["kind"] == "error":
            of_type = short(revealed["type"]) if revealed else ""
            yield Message(Path(match["file"]).name, int(match["line"]), "" if revealed else match["text"], of_type)


def start_pyright(paths: list[Path], folder: Path) -> subprocess.Popen[str]:
    """pyright in strict mode, in which an ignore that is not needed is an error."""
    configuration = {
        "include": [str(path) for path in paths],
        "typeCheckingMode": "strict",
        "extraPaths": [str(folder) for folder in checkout_folders()],
        "reportUnnecessaryTypeIgnoreComment": "error",
        "reportMissingModuleSource": "none",
        "reportUnusedExpression": "none",
    }
    path = folder / "pyrightconfig.json"
    path.write_text(json.dumps(configuration), encoding="utf-8")
    arguments = ["-p", str(path), "--pythonpath", sys.executable, "--outputjson"]
    return subprocess.Popen(
        [sys.executable, "-m", "basedpyright", *arguments], cwd=folder, stdout=subprocess.PIPE, text=True
    )


def pyright_messages(text: str) -> Iterator[Message]:
    for found in json.loads(text[text.index("{") :])["generalDiagnostics"]:
        revealed = REVEALED.fullmatch(found["message"])
        name, line = Path(found["file"]).name, found["range"]["start"]["line"] + 1
        yield Message(name, line, "" if revealed else found["message"], short(revealed["type"]) if revealed else "")


def short(name: str) -> str:
    """list[builtins.str] -> list[str]: the module of a type is not part of the API."""
    name = ARRAY.sub(r"NDArray[\1]", re.sub(r"\b(?:\w+\.)+(\w+)", r"\1", name))
    for long, usual in NAMES.items():
        name = re.sub(rf"(?<!\w){re.escape(long)}", usual, name)
    return name


def complaints(messages: list[Message], paths: list[Path]) -> list[str]:
    """Errors, and lines where the revealed type differs from the comment."""
    names = {path.name for path in paths}
    expected = {
        (path.name, number): match[1]
        for path in paths
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if (match := EXPECTED.search(line))
    }
    found = {(own.file, own.line): own.revealed for own in messages if own.revealed and own.file in names}
    bad = [f"{own.file}:{own.line}: {own.error}" for own in messages if own.error and own.file in names]
    bad += [
        f"{name}:{line}: reveals {found.get((name, line))}, the comment says {expected.get((name, line))}"
        for name, line in sorted(dict(expected.items() ^ found.items()))
    ]
    return bad


# ---------------------------------------------------------------------------------------------------- written examples


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


def required_arguments(name: str) -> dict[str, str]:
    """The arguments of a public function that have no default, as keywords with a value of type Any."""
    parameters = inspect.signature(getattr(fastmetrics, name)).parameters.values()
    without = [
        own for own in parameters if own.default is own.empty and own.kind not in (own.VAR_POSITIONAL, own.VAR_KEYWORD)
    ]
    return {own.name: "ANY" for own in without}


def calls_with_options() -> Iterator[str]:
    """Every option with named values of every public function: a value of each, and a wrong one that is an error."""
    functions = {name for name, function, _ in public_callables() if "." not in name}
    for option in public_options():
        texts = sorted(value for value in option.named_values if isinstance(value, str))
        if option.owner not in functions or not texts or option.name in ("modules", "warn_for"):
            continue
        for value in [*texts, WRONG]:
            arguments = required_arguments(option.owner) | {option.name: repr(value)}
            call = ", ".join(f"{name}={text}" for name, text in arguments.items())
            yield f"fm.{option.owner}({call}){'  # type: ignore' if value == WRONG else ''}\n"


def metrics_with_options() -> Iterator[str]:
    """Every option with named values of every metric of this library, as a method of `Metric`."""
    for spec in fastmetrics.list_metrics().values():
        for form in spec.forms if not spec.family.startswith("test") else ():
            for name, allowed in form.checks.items():
                texts = [value for value in allowed if isinstance(value, str)] if isinstance(allowed, tuple) else []
                if name in form.parameters:
                    for value in [*texts, *([WRONG] if texts else [])]:
                        cutoff = "k=3, " if form.cutoff == REQUIRED else ""
                        ignored = "  # type: ignore" if value == WRONG else ""
                        yield f"fm.Metric.{form.base_name}({cutoff}{name}={value!r}){ignored}\n"


def code_of_page() -> str:
    """The Python code of docs/types.md. Its lines that say that they are errors have to be."""
    blocks = re.findall(r"^```(?:python|py)\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    code = re.sub(r"  # error: .*$", "  # type: ignore", "\n".join(blocks), flags=re.MULTILINE)
    imports = dict.fromkeys(re.findall(r"^(?:import|from) .*\n", code, re.MULTILINE))  # blocks repeat them
    return "".join([*imports, re.sub(r"^(?:import|from) .*\n", "", code, flags=re.MULTILINE)])


@pytest.fixture(scope="module")
def checked(tmp_path_factory, types_cache) -> tuple[list[Path], dict[str, list[Message]]]:
    """The files, and what the checkers say of them: both run at the same time."""
    folder = tmp_path_factory.mktemp("typing")
    written = {
        "stated_values.py": example_of_stated_values({"copc", *names_without_example()}),
        "options_of_functions.py": "".join([HEAD, *calls_with_options()]),
        "options_of_metrics.py": "".join(["import fastmetrics as fm\n", *metrics_with_options()]),
        "wrong.py": WRONG_EXAMPLE,
    }
    if PAGE.is_file():
        written["page.py"] = code_of_page()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    paths = [*EXAMPLES, *(folder / name for name in written)]
    messages = {}
    pyright = start_pyright(paths, folder) if find_spec("basedpyright") else None
    if find_spec("mypy"):
        done = type_checks.run_mypy(paths, folder, types_cache, checkout_folders())
        assert done.returncode in {0, 1}, done.stdout + done.stderr
        messages["mypy"] = list(mypy_messages(done.stdout))
    if pyright is not None:
        text, _ = pyright.communicate()
        assert pyright.returncode in {0, 1}, text
        messages["pyright"] = list(pyright_messages(text))
    return paths, messages


CHECKERS = pytest.mark.parametrize("checker", ["mypy", "pyright"])


@CHECKERS
def test_examples_have_the_types_in_their_comments(checker, checked):
    paths, messages = checked
    if checker not in messages:
        pytest.skip(f"{checker} has no wheel for every platform")
    bad = complaints(messages[checker], [path for path in paths if path.name != "wrong.py"])
    assert not bad, "\n".join(bad)


@CHECKERS
def test_wrong_example_is_found(checker, checked):
    paths, messages = checked
    if checker not in messages:
        pytest.skip(f"{checker} has no wheel for every platform")
    bad = complaints(messages[checker], [path for path in paths if path.name == "wrong.py"])
    assert sorted({int(re.match(r"wrong\.py:(\d+):", complaint)[1]) for complaint in bad}) == [3, 4, 5, 6, 7]


def test_every_public_name_has_an_example():
    without = [name for name in names_without_example() if not checked_values(getattr(fastmetrics, name))]
    assert not without, f"add CHECKED_VALUES beside them, or a line in tests/typing: {without}"


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


def rows_of_a_group():
    hashes, label, score = (ColumnBlocks([np.zeros(1, dtype)]) for dtype in ("u8", "u1", "f8"))
    offsets = np.array([[0, 1]], np.int32)
    return PartitionedRows(offsets, hashes, None, None, [label], [score, score], None, None)


def groups_of_rows():
    return PartitionGroups(rows_of_a_group(), 1, allocate, [(0, 0)])


allocate = UnpooledScratch().array
NO_ROWS = np.empty(0, np.int64)
# What objects of kernels need to be made.
NEEDED = {
    "TableCounter": lambda: (8,),
    "KeyHashTable": lambda: (1, 1),
    "NgramTable": lambda: (16, 2, 10),
    "Aligner": lambda: ([0], False),
    "PartitionGroups": lambda: (rows_of_a_group(), 1, allocate),
    "OrderedGroups": lambda: (groups_of_rows(), [], allocate),
    "SliceCellCounter": lambda: (groups_of_rows(), allocate),
    "GroupPairCounter": lambda: (groups_of_rows(), allocate),
    "GroupErrors": lambda: (groups_of_rows(), allocate),
    "GroupMeasurer": lambda: (
        groups_of_rows(),
        ranked_lists.Measures(np.array([[1, 1, 0, 0, 0]]), np.ones((1, 2))),
        ranked_lists.RankWeights(2.0, 1, 1),
        0,
        allocate,
    ),
    "NumberedTexts": lambda: (np.empty(0, np.uint8), NO_ROWS, NO_ROWS),
    "CurveRange": lambda: (np.zeros(2, np.uint64), 0, 1, 2),
    "Splitter": lambda: (np.empty(0, np.uint64), np.zeros(2, np.int32), np.empty(0, np.uint16), 0, 0),
    "ChrfCounter": lambda: (6, 0, False, 4.0, False),
}


def parameters_of(name, function, expected):
    """The parameters of a compiled function. Built-in functions do not tell theirs, but refuse one that is given twice.

    No call gets as far as the function's own code.
    """
    if "cython_function" in type(function).__name__:
        return list(inspect.signature(function).parameters)
    if not inspect.isbuiltin(function):
        return expected
    if "." in name:  # a method of an object
        return ["self", *parameters_of_builtin(function, expected[1:])]
    return parameters_of_builtin(function, expected)


def parameters_of_builtin(function, expected):
    with pytest.raises(TypeError, match=rf"\({len(expected) + 1} given\)"):
        function(*[None] * (len(expected) + 1))
    for place, name in enumerate(expected):
        with pytest.raises(TypeError, match=f"multiple values for keyword argument '{name}'"):
            function(*[None] * (place + 1), **{name: None})
    return expected


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
            is_made = methods and owner != "WordNet"  # it needs its files
            own = kind.__new__(kind, *(NEEDED[owner]() if owner in NEEDED else ())) if is_made else None
            callables |= {f"{owner}.{name}": getattr(own, name, value) for name, value in methods.items()}
    assert functions == {name: parameters_of(name, value, functions.get(name, [])) for name, value in callables.items()}
    assert constants == {name: type(value).__name__ for name, value in public.items() if isinstance(value, CONSTANT)}
