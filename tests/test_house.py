"""The house rules, read from the sources: floors, names, sizes, marks, and what `import fastmetrics` may do.

Every rule is a function from a source text to a list of complaints. The first half of this file holds the rules, the
second half runs each over the whole package and then over a text that breaks it: a check that cannot fail is no check.
"""

import ast
import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "fastmetrics"
SOURCE_SUFFIXES = {".py", ".pyi", ".pyx", ".pxd"}
HEADER_SUFFIXES = {".h", ".pxi"}
LONGEST_FILE = 700

# A room is the part of a module's name after "fastmetrics."; the package itself stands above all floors.
FLOORS = {
    "_version": 0, "_kernels": 1, "_core": 2, "drawing": 3, "metrics": 3, "engine": 4, "cli": 5, "spark": 5,
    "__main__": 6,
}
ROOF = 6
ROOMS_WITHOUT_METRIC_NAMES = {"engine", "cli", "spark", "__main__"}
# These reach a metric through the registry alone, so not one of them has business in a family.
FAMILIES = "fastmetrics.metrics"

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason=f"no sources to read: {PACKAGE} is not a directory")


# ------------------------------------------------------------------------------------------------ reading the sources


def source_files(*folders: str, suffixes: set[str] = SOURCE_SUFFIXES) -> list[Path]:
    """Sources below the folders, without what a build or a cache put there."""
    paths = (path for folder in folders for path in (ROOT / folder).rglob("*"))
    return sorted(path for path in paths if path.suffix in suffixes and path.is_file())


def module_name(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def where(path: Path) -> str:
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


def without_comments(text: str) -> str:
    """Cython source with comments and strings blanked, line numbers kept."""
    literal = r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|#[^\n]*'
    return re.sub(literal, lambda match: "\n" * match[0].count("\n"), text)


def docstring_nodes(tree: ast.AST) -> set[int]:
    owners = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    bodies = [node.body for node in ast.walk(tree) if isinstance(node, owners) and node.body]
    return {id(body[0].value) for body in bodies if isinstance(body[0], ast.Expr)}


# ------------------------------------------------------------------------------------------------------ the rules


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def floor(module: str) -> int | None:
    return ROOF if module == "fastmetrics" else FLOORS.get(room(module))


def climbing_imports(module: str, imports: list[str]) -> list[str]:
    """Imports go down only, and a room beside is not below. A family never imports another family."""
    here = floor(module)
    if here is None:
        return [f"{module} stands on no floor of DESIGN section 4"]
    complaints = []
    for target in imports:
        if target.split(".")[0] != "fastmetrics" or target == module:
            continue
        there = floor(target)
        if there is None:
            complaints.append(f"{module} imports {target}, which stands on no floor of DESIGN section 4")
        elif target == "fastmetrics":
            # The doors of floor 5 use the public names as any user does.
            if here < 5:
                complaints.append(f"{module} imports the public names from the package: import from their own floor")
        elif there > here or (there == here and room(target) != room(module)):
            complaints.append(f"{module} (floor {here}) imports {target} (floor {there}): imports go down only")
        elif module == "fastmetrics" and there == 5:
            complaints.append(f"{module} imports {target}: a door opens on use, not by `import fastmetrics`")
        elif room(module) in ROOMS_WITHOUT_METRIC_NAMES and room(target) == "metrics":
            complaints.append(f"{module} imports {target}: it reaches metrics through the registry alone")
        elif family(module) and room(target) == "metrics" and family(module) != family(target):
            complaints.append(f"{module} imports {target}: a family never imports another family")
    return complaints


def family(module: str) -> str | None:
    """The family a module belongs to; None outside of metrics and for the room's own __init__."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["fastmetrics", "metrics"] and len(parts) > 2 else None


def more_than_gathering(text: str) -> list[str]:
    """The package's __init__ gathers names; it defines none but the hooks for lazy attributes."""
    complaints = []
    for node in ast.parse(text).body:
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if isinstance(node, ast.ClassDef) or (is_function and node.name not in {"__getattr__", "__dir__"}):
            complaints.append(f"line {node.lineno}: fastmetrics/__init__.py defines {node.name}; it only gathers")
    return complaints


def metric_items(text: str) -> list[str]:
    """Heads of a metric list: "auc, gauc(weight=pairs),ndcg@10" -> auc, gauc, ndcg. Empty for any other text."""
    item = r"\s*([A-Za-z_]\w*)(?:\([^()]*\))?(?:@\w+)?\s*"
    if not re.fullmatch(rf"{item}(?:,{item})*", text):
        return []
    return re.findall(rf"(?:^|,){item}(?=,|$)", text)


def metric_names_in_code(text: str, metric_names: set[str], function_names: set[str]) -> list[str]:
    """Literals that are a metric string or a list of them, and uses of a metric's function.

    Docstrings and prose do not match: a sentence about auc is not a metric list. Text for people (help=, epilog=) may
    be one word, so it is left out.
    """
    tree = ast.parse(text)
    spared = docstring_nodes(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.keyword) and node.arg in {"help", "short_help", "epilog", "rich_help_panel"}:
            spared |= {id(inner) for inner in ast.walk(node.value)}
    complaints = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in spared:
            heads = metric_items(node.value)
            # An f-string's piece "gauc(weight=" is the beginning of a metric string.
            opened = re.fullmatch(r"\s*(\w+)[(@][^)\s]*", node.value)
            if (heads and set(heads) <= metric_names) or (opened and opened[1] in metric_names):
                complaints.append(f"line {node.lineno}: the string {node.value!r} knows a metric by name")
        elif isinstance(node, ast.Attribute) and node.attr in function_names:
            complaints.append(f"line {node.lineno}: .{node.attr} knows a metric by name")
        elif isinstance(node, ast.alias) and node.name in function_names:
            complaints.append(f"line {node.lineno}: import of {node.name} knows a metric by name")
    return complaints


CDEF_FUNCTION = re.compile(
    r"^(?P<indent>[ \t]*)c(?:p)?def[ \t]+(?!class\b|extern\b|struct\b|union\b|enum\b|packed\b|cppclass\b)"
    r"(?P<head>[^\n(=]*?)\b(?P<name>\w+)[ \t]*(?:\[[^\]\n]*\][ \t]*)?\((?P<arguments>[^()]*(?:\([^()]*\)[^()]*)*)\)"
    r"(?P<tail>[^\n:=]*):",
    flags=re.MULTILINE,
)


def loops_that_hold_the_gil(text: str) -> list[str]:
    """A cdef function with a loop is a kernel's core: `noexcept nogil`."""
    text = without_comments(text)
    complaints = []
    for match in CDEF_FUNCTION.finditer(text):
        body = indented_block(text[match.end() :], len(match["indent"].expandtabs()))
        has_loop = re.search(r"^[ \t]*(?:for|while)\b", body, flags=re.MULTILINE)
        if has_loop and not re.search(r"\bnoexcept\s+nogil\b", match["tail"]):
            line = text.count("\n", 0, match.start()) + 1
            complaints.append(f"line {line}: {match['name']} has a loop and is not `noexcept nogil`")
    return complaints


def indented_block(text: str, indent: int) -> str:
    """The rest of the line and the following lines that are indented deeper than `indent`."""
    first, *rest = text.split("\n")
    block = [first]
    for line in rest:
        if line.strip() and len(line.expandtabs()) - len(line.expandtabs().lstrip()) <= indent:
            break
        block.append(line)
    return "\n".join(block)


def forbidden_marks(text: str) -> list[str]:
    """Work that is left is an issue, not a mark in the code."""
    mark = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    lines = enumerate(text.splitlines(), start=1)
    return [f"line {number}: {match[0]}" for number, line in lines if (match := mark.search(line))]


def too_long(text: str) -> list[str]:
    n_lines = len(text.splitlines())
    return [f"{n_lines} lines, more than {LONGEST_FILE}: two rooms in one?"] if n_lines > LONGEST_FILE else []


def nameless_name(path: Path) -> list[str]:
    stems = {part.partition(".")[0].strip("_") for part in path.parts}
    return ["a file or folder named utils names no idea"] if stems & {"util", "utils"} else []


# ------------------------------------------------------------------------------------------- the rules over the house

PACKAGE_FILES = source_files("fastmetrics")
ALL_FILES = source_files("fastmetrics", "tests", "bench", suffixes=SOURCE_SUFFIXES | HEADER_SUFFIXES)


def imports_of(path: Path, text: str) -> list[str]:
    if path.suffix in {".py", ".pyi"}:
        return list(python_imports(module_name(path), text, is_package=path.stem == "__init__"))
    return list(cython_imports(module_name(path), text))


def complaints_over(files: list[Path], rule: Callable[[str], list[str]]) -> list[str]:
    return [f"{where(path)}: {complaint}" for path in files for complaint in rule(read(path))]


def report(complaints: list[str]) -> str:
    return "\n".join(["", *complaints])


@pytest.fixture(scope="module")
def metric_and_function_names() -> tuple[set[str], set[str]]:
    import fastmetrics

    names = set(fastmetrics.list_metrics())
    functions = {spec.function for spec in fastmetrics.describe_metrics() if spec.function is not None}
    assert names, "the registry is empty"
    return names, {getattr(function, "__name__", str(function)) for function in functions}


def test_there_is_a_house_to_read():
    found = {room(module_name(path)) for path in PACKAGE_FILES}
    assert {"_version", "_kernels", "_core", "metrics", "engine", "cli"} <= found


def test_imports_go_down_only():
    complaints = [c for p in PACKAGE_FILES for c in climbing_imports(module_name(p), imports_of(p, read(p)))]
    assert not complaints, report(complaints)


def test_package_init_only_gathers():
    complaints = more_than_gathering(read(PACKAGE / "__init__.py"))
    assert not complaints, report(complaints)


def test_engine_and_doors_know_no_metric_by_name(metric_and_function_names):
    names, functions = metric_and_function_names
    files = [p for p in PACKAGE_FILES if p.suffix == ".py" and room(module_name(p)) in ROOMS_WITHOUT_METRIC_NAMES]
    complaints = complaints_over(files, lambda text: metric_names_in_code(text, names, functions))
    assert not complaints, report(complaints)


def test_no_file_is_named_utils():
    complaints = [f"{where(p)}: {c}" for p in ALL_FILES for c in nameless_name(p.relative_to(ROOT))]
    assert not complaints, report(complaints)


def test_no_file_is_too_long():
    complaints = complaints_over(ALL_FILES, too_long)
    assert not complaints, report(complaints)


def test_every_kernel_has_a_stub():
    missing = [where(p) for p in PACKAGE_FILES if p.suffix == ".pyx" and not p.with_suffix(".pyi").is_file()]
    assert not missing, f"without a .pyi beside them: {missing}"


def test_every_stub_has_a_kernel():
    orphans = [where(p) for p in PACKAGE_FILES if p.suffix == ".pyi" and not p.with_suffix(".pyx").is_file()]
    assert not orphans, f"stubs of nothing: {orphans}"


def test_kernel_loops_run_without_the_gil():
    files = source_files("fastmetrics/_kernels", suffixes={".pyx", ".pxd"})
    complaints = complaints_over(files, loops_that_hold_the_gil)
    assert not complaints, report(complaints)


def test_no_marks_are_left():
    complaints = complaints_over(ALL_FILES, forbidden_marks)
    assert not complaints, report(complaints)


# ---------------------------------------------------------------------------------------- every rule can fail

CLIMBERS = {
    "absolute": ("fastmetrics._core.inputs", "import fastmetrics.metrics"),
    "from": ("fastmetrics.metrics.curves", "from fastmetrics.engine import evaluate"),
    "relative": ("fastmetrics._core.inputs", "from ..metrics import curves"),
    "inside a function": ("fastmetrics.metrics.curves", "def f():\n    from ..cli import main"),
    "for type checkers": ("fastmetrics._core.x", "if TYPE_CHECKING:\n    from fastmetrics.engine.report import Report"),
    "by a string": ("fastmetrics.engine.evaluate", 'import_module("fastmetrics.cli")'),
    "the public names": ("fastmetrics.engine.evaluate", "from fastmetrics import roc_auc_score"),
    "family to family": ("fastmetrics.metrics.ranking", "from .curves import roc_auc_score"),
    "family to family, from the room": ("fastmetrics.metrics.ranking", "from . import curves"),
    "engine to family": ("fastmetrics.engine.evaluate", "from ..metrics.curves import roc_auc_score"),
    "a door beside": ("fastmetrics.spark", "from .cli import main"),
    "version climbs": ("fastmetrics._version", "from fastmetrics import _core"),
    "no floor": ("fastmetrics.extra", "import numpy"),
    "to no floor": ("fastmetrics.engine.evaluate", "import fastmetrics.extra"),
    "package opens a door": ("fastmetrics", "from fastmetrics.cli import main"),
}


@pytest.mark.parametrize(("module", "text"), CLIMBERS.values(), ids=CLIMBERS.keys())
def test_climbing_import_is_found(module, text):
    assert climbing_imports(module, list(python_imports(module, text, is_package=module == "fastmetrics")))


@pytest.mark.parametrize(
    "text",
    [
        "from fastmetrics._core cimport inputs",
        "from .._core import inputs",
        "from .._core cimport (\n    inputs,\n    registry,\n)",
        "cimport fastmetrics._core",
        "import numpy, fastmetrics.metrics",
        "from fastmetrics cimport _core",
    ],
)
def test_climbing_import_is_found_in_a_kernel(text):
    module = "fastmetrics._kernels.sums"
    assert climbing_imports(module, list(cython_imports(module, text)))


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("fastmetrics.metrics.curves", "import numpy\nfrom .._core import inputs\nfrom fastmetrics import _version"),
        ("fastmetrics.engine.plan", "from fastmetrics._core.registry import parse\nfrom . import sources"),
        ("fastmetrics.cli.evaluate", "import fastmetrics\nfrom ..engine.report import Report\nfrom . import progress"),
        ("fastmetrics.metrics.text.bleu", "from .tokenizers import words"),
        ("fastmetrics", "from fastmetrics.metrics import curves"),
        ("fastmetrics.metrics.curves", '"""fastmetrics.engine"""'),
    ],
)
def test_descending_import_is_allowed(module, text):
    imports = list(python_imports(module, text, is_package=module == "fastmetrics"))
    assert imports or text.startswith('"""')
    assert not climbing_imports(module, imports)


def test_kernel_may_import_kernels():
    text = '# from .._core import inputs\n"""\nimport fastmetrics.engine\n"""\nfrom . cimport sums\ncimport cython\n'
    imports = list(cython_imports("fastmetrics._kernels.ranksum", text))
    assert "cython" in imports
    assert not climbing_imports("fastmetrics._kernels.ranksum", imports)


@pytest.mark.parametrize("text", ["class Report: ...", "def helper(): ...", "async def helper(): ..."])
def test_definition_in_package_init_is_found(text):
    assert more_than_gathering(text)


@pytest.mark.parametrize("text", ["from .x import y\n__all__ = ['y']", "def __getattr__(n): ...\ndef __dir__(): ..."])
def test_gathering_package_init_is_allowed(text):
    assert not more_than_gathering(text)


NAMES = {"auc", "gauc", "ndcg", "logloss"}
FUNCTIONS = {"roc_auc_score"}


@pytest.mark.parametrize(
    "text",
    [
        'if spec.name == "auc": pass',
        'metrics = "auc,gauc(weight=pairs), logloss"',
        'metrics = ["gauc(weight=pairs)"]',
        'x = "ndcg(gain=exp2)@10"',
        'x = "ndcg@10"',
        'x = f"gauc(weight={w})"',
        'x = f"ndcg@{k}"',
        'match name:\n    case "auc": pass',
        'TABLE = {"auc": 1}',
        'option(default="auc", help="which")',
        "fm.roc_auc_score(y, s)",
        "from fastmetrics import roc_auc_score",
    ],
)
def test_metric_name_in_code_is_found(text):
    assert metric_names_in_code(text, NAMES, FUNCTIONS)


@pytest.mark.parametrize(
    "text",
    [
        '"""auc"""',
        'def f():\n    "auc"',
        'option(help="auc,gauc")',
        'option(help=f"{x} auc")',
        'x = "the auc of a log"',
        'x = "auc and gauc, in this order"',
        'x = "click,pctr"',
        'x = "auc, pctr"',
        'x = "aucs"',
        'x = ""',
        "x = report[name]",
    ],
)
def test_prose_and_columns_are_not_metric_names(text):
    assert not metric_names_in_code(text, NAMES, FUNCTIONS)


HOLDS_THE_GIL = {
    "plain": "cdef void f(int n):\n    for i in range(n):\n        pass\n",
    "nogil alone": "cdef int f(int n) nogil:\n    while n:\n        n -= 1\n    return n\n",
    "noexcept alone": "cdef inline int f(int n) noexcept:\n\n    # a comment\n    for i in range(n): pass\n",
    "many lines": "cdef void f(\n    const double[::1] x,\n    int n,\n) noexcept:\n    while n: n -= 1\n",
    "method": "cdef class A:\n    cdef void f(self) noexcept:\n        for i in range(3):\n            pass\n",
    "cpdef": "cpdef void f(int n):\n    for i in range(n):\n        pass\n",
    "in a string": 'cdef void f(int n):\n    """noexcept nogil"""\n    for i in range(n):\n        pass\n',
    "pointer": "cdef double* f(int n):\n    for i in range(n):\n        pass\n",
    "fused": "cdef floating f(floating[::1] x) except -1:\n    for i in range(3):\n        pass\n",
    "except clause with a call": "cdef int f(int n) except? -1 nogil:\n    for i in range(n):\n        pass\n",
}


@pytest.mark.parametrize("text", HOLDS_THE_GIL.values(), ids=HOLDS_THE_GIL.keys())
def test_loop_that_holds_the_gil_is_found(text):
    assert len(loops_that_hold_the_gil("cdef int x = 3\n\n" + text)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "cdef inline void f(const double[::1] x, int n) noexcept nogil:\n    for i in range(n):\n        pass\n",
        "cdef void f(\n    int n,\n    double (*g)(double) noexcept nogil,\n) noexcept nogil:\n    while n: n -= 1\n",
        "cdef int f(int n):\n    return n\n\ndef g(n):\n    for i in range(n):\n        pass\n",
        "cdef extern from 'x.h':\n    void f(int n)\ncdef struct A:\n    int x\ncdef enum: B = (1)\n",
        "cdef int f(int n):\n    # for the reader\n    return forward(n)\n",
    ],
)
def test_kernel_core_is_allowed(text):
    assert not loops_that_hold_the_gil(text)


@pytest.mark.parametrize("mark", ["TO" + "DO", "FIX" + "ME", "XX" + "X"])
def test_mark_is_found(mark):
    assert forbidden_marks(f"x = 1  # {mark}: later")
    assert not forbidden_marks(f"x = 1  # {mark.lower()}s are mentioned")


def test_long_file_is_found():
    assert too_long("x\n" * (LONGEST_FILE + 1))
    assert not too_long("x\n" * LONGEST_FILE)


def test_file_named_utils_is_found():
    for name in ["fastmetrics/utils.py", "tests/_utils.pyx", "fastmetrics/util/sums.py", "bench/utils.pyi"]:
        assert nameless_name(Path(name))
    assert not nameless_name(Path("fastmetrics/_kernels/_cyutility.pyi"))


# -------------------------------------------------------------------------------- what `import fastmetrics` may do

EXPENSIVE_MODULES = {
    "concurrent.futures", "duckdb", "logging", "matplotlib", "pandas", "polars", "pyarrow", "pyspark", "rich", "scipy",
    "sklearn", "typer",
}  # fmt: skip

IMPORT_PROBE = """
import json, os, sys, _thread
import numpy

def state():
    # Threads of native libraries are counted too where the system tells.
    native = len(os.listdir("/proc/self/task")) if os.path.isdir("/proc/self/task") else 0
    return {"modules": sorted(sys.modules), "threads": [_thread._count(), native], "environment": dict(os.environ)}

before = state()
STATEMENT
print(json.dumps([before, state()]))
"""


def effects_of(statement: str, folder: Path) -> list[str]:
    """What the statement does to a fresh process in which numpy is imported, as complaints."""
    import fastmetrics

    # The fresh process sees the package that this one tests, installed or not.
    here = str(Path(fastmetrics.__file__).resolve().parents[1])
    probe = f"import sys; sys.path.append({here!r})\n" + IMPORT_PROBE.replace("STATEMENT", statement)
    run = subprocess.run(
        [sys.executable, "-W", "error", "-c", probe], cwd=folder, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    before, after = json.loads(run.stdout)
    added = set(after["modules"]) - set(before["modules"])
    complaints = [f"imports {name}" for name in sorted(added & EXPENSIVE_MODULES)]
    complaints += [f"changes {what}" for what in ("threads", "environment") if before[what] != after[what]]
    return complaints


def test_import_is_light_and_starts_nothing(tmp_path):
    assert not effects_of("import fastmetrics", tmp_path)


@pytest.mark.parametrize(
    ("statement", "complaint"),
    [
        ("import concurrent.futures", "imports concurrent.futures"),
        ("import threading; threading.Thread(target=threading.Event().wait, daemon=True).start()", "changes threads"),
        ("os.environ['OMP_NUM_THREADS'] = '1'", "changes environment"),
    ],
)
def test_heavy_import_is_found(tmp_path, statement, complaint):
    assert complaint in effects_of(statement, tmp_path)
