"""Imports go down only, without a cycle; the engine and what stands above it know no metric by name."""

import ast
import re
from collections.abc import Iterable, Mapping

import pytest

from architecture.layers import ENTRY_POINTS, FOR_TYPES_ALONE, KNOW_NO_METRIC_BY_NAME, entry_of, height_of
from architecture.sources import (
    PACKAGE,
    PACKAGE_FILES,
    complaints_over,
    cython_imports,
    docstring_nodes,
    imports_of,
    listed,
    module_name,
    python_imports,
    read,
)
from support.cases import each_case

pytestmark = pytest.mark.skipif(not PACKAGE.is_dir(), reason=f"no sources to read: {PACKAGE} is not a directory")


# ------------------------------------------------------------------------------------------------------ the rules


def upward_imports(module: str, imports: Iterable[str]) -> list[str]:
    """Complaints about imports from the same layer or a higher one."""
    here, height = entry_of(module), height_of(module)
    if here is None or height is None:
        return [f"{module} belongs to no layer of tests/architecture/layers.py"]
    complaints = []
    for target in imports:
        if target.split(".")[0] != "fastmetrics" or target == module:
            continue
        there, target_height = entry_of(target), height_of(target)
        if there is None or target_height is None:
            complaints.append(f"{module} imports {target}, which belongs to no layer of tests/architecture/layers.py")
        elif target == "fastmetrics":
            # The entry points use the public names as any user does.
            if begins_with(module, ENTRY_POINTS) is None and module != "fastmetrics.__main__":
                complaints.append(f"{module} imports the public names from the package: import from their own module")
        elif module == "fastmetrics" and begins_with(target, ENTRY_POINTS):
            complaints.append(f"{module} imports {target}: entry points are loaded on use")
        elif begins_with(module, KNOW_NO_METRIC_BY_NAME) and begins_with(target, ("metrics",)):
            complaints.append(f"{module} imports {target}: it reaches metrics through the registry alone")
        elif here != there and target_height >= height:
            heights = f"from layer {height} to layer {target_height}"
            complaints.append(f"{module} imports {target}, {heights}: imports go down only")
    return complaints


def begins_with(module: str, packages: Iterable[str]) -> str | None:
    name = module.removeprefix("fastmetrics.")
    return next((package for package in packages if (name + ".").startswith(package + ".")), None)


def cycles(imports: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others (Tarjan's strong components)."""
    numbers: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(module: str) -> None:
        numbers[module] = lowest[module] = len(numbers)
        stack.append(module)
        for target in imports[module]:
            if target not in imports or target == module:
                continue
            if target not in numbers:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], numbers[target])
        if lowest[module] == numbers[module]:
            component = stack[stack.index(module) :]
            del stack[stack.index(module) :]
            if len(component) > 1:
                found.append(sorted(component))

    for module in imports:
        if module not in numbers:
            visit(module)
    return found


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


# ------------------------------------------------------------------------------------- the rules over the package


@pytest.fixture(scope="module")
def imports() -> dict[str, set[str]]:
    """Every module of the package with what it imports, sources and declarations of a kernel together."""
    found: dict[str, set[str]] = {}
    for path in PACKAGE_FILES:
        found.setdefault(module_name(path), set()).update(imports_of(path, read(path)))
    for module, target in FOR_TYPES_ALONE:
        found[module] -= {name for name in found[module] if f"{name}.".startswith(f"{target}.")}
    return found


@pytest.fixture(scope="module")
def metric_and_function_names() -> tuple[set[str], set[str]]:
    import fastmetrics

    names = {spec.name for spec in fastmetrics.list_metrics().values()}
    functions = {spec.function for spec in fastmetrics.list_metrics().values() if spec.function is not None}
    assert names, "the registry is empty"
    return names, {getattr(function, "__name__", str(function)) for function in functions}


def test_there_is_a_package_to_read(imports):
    found = {entry_of(module) for module in imports}
    assert {"_version", "_kernels.numeric", "_core.columns", "metrics.curves", "engine.plan", "cli"} <= found


def test_imports_go_down_only(imports):
    complaints = [complaint for module, targets in imports.items() for complaint in upward_imports(module, targets)]
    assert not complaints, listed(sorted(complaints))


@each_case(("module", "target"), FOR_TYPES_ALONE)
def test_imports_for_types_alone_are_not_made(module, target):
    """The pairs of `FOR_TYPES_ALONE` are imports that stand behind `if TYPE_CHECKING`, and nowhere else."""
    path = PACKAGE.parent / f"{module.replace('.', '/')}.py"
    tree = ast.parse(read(path))
    behind = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    found = [node for node in imports if node.module == target]
    assert found
    assert all(any(node in ast.walk(block) for block in behind) for node in found)


def test_no_modules_import_each_other(imports):
    # The package's own __init__ gathers names from everywhere, lazily.
    found = cycles({module: targets for module, targets in imports.items() if module != "fastmetrics"})
    assert not found, listed([" <-> ".join(component) for component in found])


def test_package_init_only_gathers():
    complaints = more_than_gathering(read(PACKAGE / "__init__.py"))
    assert not complaints, listed(complaints)


def test_engine_and_entry_points_know_no_metric_by_name(metric_and_function_names):
    names, functions = metric_and_function_names
    files = [p for p in PACKAGE_FILES if p.suffix == ".py" and begins_with(module_name(p), KNOW_NO_METRIC_BY_NAME)]
    complaints = complaints_over(files, lambda text: metric_names_in_code(text, names, functions))
    assert not complaints, listed(complaints)


# ---------------------------------------------------------------------------------------- every rule can fail

UPWARD = {
    "absolute": ("fastmetrics._core.columns.validation", "import fastmetrics.metrics"),
    "from": ("fastmetrics.metrics.curves", "from fastmetrics.engine import evaluate"),
    "relative": ("fastmetrics._core.registry", "from ..metrics import curves"),
    "inside a function": ("fastmetrics.metrics.curves", "def f():\n    from ..cli import main"),
    "for type checkers": (
        "fastmetrics._core.x",
        "if TYPE_CHECKING:\n    from fastmetrics.engine.results.report import Report",
    ),
    "by a string": ("fastmetrics.engine.evaluate", 'import_module("fastmetrics.cli")'),
    "the public names": ("fastmetrics.engine.evaluate", "from fastmetrics import roc_auc_score"),
    "family to family": ("fastmetrics.metrics.ranking", "from .curves import roc_auc_score"),
    "family to family, from its package": ("fastmetrics.metrics.ranking", "from . import curves"),
    "engine to family": ("fastmetrics.engine.evaluate", "from ..metrics.curves import roc_auc_score"),
    "engine to what draws": ("fastmetrics.engine.results.report", "from fastmetrics.reporting import html_report"),
    "inside _core": ("fastmetrics._core.columns.x", "from fastmetrics._core.exchange import blocks"),
    "from one entry point to another": ("fastmetrics.spark", "from .cli import main"),
    "the version": ("fastmetrics._version", "from fastmetrics import _core"),
    "from no layer": ("fastmetrics.extra", "import numpy"),
    "to no layer": ("fastmetrics.engine.evaluate", "import fastmetrics.extra"),
    "the package loads an entry point": ("fastmetrics", "from fastmetrics.cli import main"),
}


@each_case(("module", "text"), UPWARD.values(), ids=UPWARD.keys())
def test_upward_import_is_found(module, text):
    packages = {"fastmetrics", "fastmetrics.metrics.ranking", "fastmetrics.metrics.curves"}
    is_package = module in packages and not text.startswith("def")
    assert upward_imports(module, list(python_imports(module, text, is_package=is_package and "from ." not in text)))


@each_case(
    "text",
    [
        "from fastmetrics._core cimport columns",
        "from ..._core import columns",
        "from ..._core cimport (\n    columns,\n    registry,\n)",
        "cimport fastmetrics._core",
        "import numpy, fastmetrics.metrics",
        "from fastmetrics cimport _core",
        "from fastmetrics._kernels.text cimport nist",
    ],
)
def test_upward_import_is_found_in_a_kernel(text):
    module = "fastmetrics._kernels.numeric.sums"
    assert upward_imports(module, list(cython_imports(module, text)))


@each_case(
    ("module", "text"),
    [
        ("fastmetrics.metrics.curves.ks", "import numpy\nfrom ..._core import exact\nfrom fastmetrics import _version"),
        ("fastmetrics.engine.scan.scan", "from fastmetrics._core.registry import parse\nfrom . import resolve"),
        ("fastmetrics.cli.evaluate", "import fastmetrics\nfrom ..engine.results import report\nfrom . import app"),
        ("fastmetrics.metrics.text.bleu", "from .tokens import tokenizers"),
        ("fastmetrics", "from fastmetrics.metrics import curves"),
        ("fastmetrics.metrics.curves", '"""fastmetrics.engine"""'),
    ],
)
def test_downward_import_is_allowed(module, text):
    imports = list(python_imports(module, text, is_package=module == "fastmetrics"))
    assert imports or text.startswith('"""')
    assert not upward_imports(module, imports)


def test_kernel_may_import_lower_kernels():
    text = '# from ..._core import x\n"""\nimport fastmetrics.cli\n"""\nfrom ..numeric cimport sums\ncimport cython\n'
    imports = list(cython_imports("fastmetrics._kernels.sweep.mann_whitney", text))
    assert "cython" in imports
    assert not upward_imports("fastmetrics._kernels.sweep.mann_whitney", imports)


def test_cycle_is_found():
    assert cycles({"a": ["b"], "b": ["c"], "c": ["a", "d"], "d": []}) == [["a", "b", "c"]]
    assert not cycles({"a": ["b", "c"], "b": ["c"], "c": ["elsewhere"]})


@pytest.mark.parametrize("text", ["class Report: ...", "def helper(): ...", "async def helper(): ..."])
def test_definition_in_package_init_is_found(text):
    assert more_than_gathering(text)


@pytest.mark.parametrize("text", ["from .x import y\n__all__ = ['y']", "def __getattr__(n): ...\ndef __dir__(): ..."])
def test_gathering_package_init_is_allowed(text):
    assert not more_than_gathering(text)


NAMES = {"auc", "gauc", "ndcg", "logloss"}
FUNCTIONS = {"roc_auc_score"}


@each_case(
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


@each_case(
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
