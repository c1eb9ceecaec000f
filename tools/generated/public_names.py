"""`fastmetrics/__init__.pyi`: the public names, which are those in the `__all__` of metrics and of a few other modules.

Sources are read without being imported: the package itself reads this file when it is imported.
"""

import ast
import textwrap
from functools import cache
from pathlib import Path

from generated import PACKAGE

# The modules outside of `metrics` whose names are public. A list `__all__` anywhere else is of that package alone.
ENGINE_MODULES = (
    "_core/comparison/comparison.py", "_core/comparison/difference.py",
    "_core/comparison/sample_sizes.py", "_core/comparison/test_results.py",
    "_core/metric_spec.py", "_core/registry/metric_table.py", "_core/registry/parsed_metric.py", "_core/undefined.py",
    "_version.py",
    "engine/accumulator.py", "engine/compare.py", "engine/compare_reports.py", "engine/evaluate.py",
    "engine/evaluation/evaluation.py", "engine/plan/tasks.py", "engine/results/report.py", "engine/results/result.py",
    "engine/training_metrics.py",
)  # fmt: skip
HEAD = '''\
"""The public names. `python tools/generate.py` writes this file from the `__all__` of the modules.

Type checkers and editors read it, and so does fastmetrics/__init__.py: a name's module is imported at the first use.
"""

'''


def outputs() -> dict[Path, str]:
    places = public_places()
    lines = [f"from {module} import {name}\n" for name, module in places.items()]
    quoted = " ".join(f'"{name}",' for name in sorted(places))
    names = textwrap.fill(quoted, 120, initial_indent="    ", subsequent_indent="    ")
    return {PACKAGE / "__init__.pyi": "".join([HEAD, *lines, "\n__all__ = [\n", names, "\n]\n"])}


@cache
def public_places() -> dict[str, str]:
    """Public name -> the module that defines it, in the order of modules."""
    places: dict[str, str] = {}
    metrics = [path for path in (PACKAGE / "metrics").rglob("*.py") if path.name != "__init__.py"]
    for path in sorted([*metrics, *map(PACKAGE.joinpath, ENGINE_MODULES)]):
        module = ".".join(["fastmetrics", *path.relative_to(PACKAGE).with_suffix("").parts])
        for name in names_in_all(path):
            if name in places:
                raise SystemExit(f"{name} is in the __all__ of two modules: {places[name]} and {module}")
            places[name] = module
    return places


def names_in_all(path: Path) -> list[str]:
    """The names in a module's `__all__`, sorted; none where it has no such list."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", None) == "__all__":
            return sorted(ast.literal_eval(node.value))
    return []
