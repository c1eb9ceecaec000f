"""The reference: a page for each public name, a page for each family, and a page of all names.

The names are those of `fastmetrics.__all__` and of the public modules beside it.
"""

import inspect
from collections.abc import Iterator
from importlib import import_module
from typing import NamedTuple

from fastmetrics._core.registry import list_metrics
from generated.reference_pages import METRICS, one_line, public_objects

FOLDER = "reference"
MODULES = {
    "spark": "Spark", "ray": "Ray Data", "dask": "Dask", "distributed": "Other engines",
    "extend": "Metrics of your own", "testing": "Checks of metrics",
}  # fmt: skip
BASES = "float, tuple, dict, Mapping, Sequence, UserWarning"  # the members of these are not repeated
HEAD = """\
# Reference

Every public name has a page with its signature, its source and examples; the tests run the examples.
[Definitions](definitions.md) has all formulas on one page, [Metrics](metrics/index.md) the metric strings, and
[Commands](commands.md) the command line.
"""


class Family(NamedTuple):
    folder: str
    title: str
    purpose: str
    module: str  # where the names are imported from
    names: tuple[str, ...]


def families() -> list[Family]:
    """Logs and results, the families of metrics, and the public modules."""
    names: dict[str, list[str]] = {}
    for module, name, _ in public_objects():
        names.setdefault(".".join(module.split(".")[:3]) if module.startswith(METRICS) else "", []).append(name)
    found = [Family("logs", "Logs and results", "", "fastmetrics", tuple(names.pop("")))]
    for package, own in names.items():
        folder = package.rpartition(".")[2]
        found.append(Family(folder, folder.capitalize(), purpose(package), "fastmetrics", tuple(own)))
    for folder, title in MODULES.items():
        module = f"fastmetrics.{folder}"
        own = tuple(import_module(module).__all__)
        found.append(Family(folder, title, purpose(module), module, own))
    return found


def purpose(module: str) -> str:
    return one_line((import_module(module).__doc__ or "").split("\n\n")[0])


def pages() -> Iterator[tuple[str, str]]:
    strings = metric_strings()
    found = families()
    lists = "".join(f"\n## [{own.title}]({own.folder}/index.md)\n\n{own.purpose}\n\n{roles(own)}\n" for own in found)
    contents = "\n".join([*(f"{own.folder}/index" for own in found), "metrics/index", "definitions", "commands"])
    yield f"{FOLDER}/index.md", f"{HEAD}{lists}\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n"
    for family in found:
        yield f"{FOLDER}/{family.folder}/index.md", family_page(family)
        for name in family.names:
            yield f"{FOLDER}/{family.folder}/{name}.rst", name_page(family, name, strings)


def roles(family: Family) -> str:
    return " · ".join(f"{{py:obj}}`~{family.module}.{name}`" for name in family.names)


def metric_strings() -> dict[str, list[str]]:
    """Name of a function -> the names of the metrics that have its number."""
    found: dict[str, list[str]] = {}
    for spec in list_metrics().values():
        if spec.function is not None:
            found.setdefault(spec.function.__name__, []).append(spec.name)
    return found


def family_page(family: Family) -> str:
    listed = "".join(f"   {name}\n" for name in family.names)
    directive = f".. currentmodule:: {family.module}\n\n.. autosummary::\n   :nosignatures:\n\n{listed}"
    table = f"```{{eval-rst}}\n{directive}```\n"
    contents = "\n".join(family.names)
    return f"# {family.title}\n\n{family.purpose}\n\n{table}\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n"


def name_page(family: Family, name: str, strings: dict[str, list[str]]) -> str:
    value = getattr(import_module(family.module), name)
    kind = "class" if inspect.isclass(value) else "function" if callable(value) else "data"
    members = f"   :members:\n   :inherited-members: {BASES}\n" if kind == "class" else ""
    metrics = [f":ref:`{own} <metric-{own}>`" for own in strings.get(name, ()) if family.module == "fastmetrics"]
    said = f"\n.. rubric:: As a metric string\n\n{', '.join(metrics)}\n" if metrics else ""
    return f"{name}\n{'=' * len(name)}\n\n.. currentmodule:: {family.module}\n\n.. auto{kind}:: {name}\n{members}{said}"
