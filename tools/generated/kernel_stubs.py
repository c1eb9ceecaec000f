"""The kernels' `.pyi` files, from the headers in their `.pyx` files and the constants of the built modules.

A parameter's type follows from its C type; it may be None if the source says `or None`. A function that returns a value
says its type: `def f(const double[::1] weights or None) -> int:`.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from generated import PACKAGE

Fused = dict[str, list[str]]  # name of a fused type -> its C types
KERNELS = PACKAGE / "_kernels"
WIDTH = 120
CONSTANT = int | float | str | tuple
DTYPES = {"float": "float32", "double": "float64", "unsigned char": "uint8", "signed char": "int8"}
TYPES = {
    "": "Any", "object": "Any", "bint": "bool", "int": "int", "Py_ssize_t": "int", "double": "float", "float": "float",
    "bytes": "bytes", "str": "str", "list": "list[Any]", "dict": "dict[Any, Any]", "tuple": "tuple[Any, ...]",
}  # fmt: skip
IMPORTS = {
    r"\bAny\b": "from typing import Any\n\n",
    r"\bnp\.": "import numpy as np\n",
    r"\bNDArray\b": "from numpy.typing import NDArray\n",
}
CLASS = re.compile(r"^cdef class (?P<name>[A-Za-z]\w*):\n(?P<body>(?:    .*\n|\n)*)", re.MULTILINE)
ATTRIBUTE = re.compile(r"^    cdef readonly (?P<type>\w+) (?P<name>\w+)(?: +#.*)?$", re.MULTILINE)
FUSED = re.compile(r"^ctypedef fused (\w+):\n((?:    .+\n)+)", re.MULTILINE)
# const double[:, ::1] values / list rows not None / int64_t stop=-1 / check_type
PARAMETER = re.compile(
    r"(?:const )?(?P<type>.*?)(?P<dimensions>\[[:1, ]+\])? ?(?P<name>\w+)(?: (?P<none>not|or) None)?"
    r"(?:=(?P<default>.+))?"
)


def outputs() -> dict[Path, str]:
    return {path.with_suffix(".pyi"): stub(path) for path in sorted(KERNELS.rglob("*.pyx"))}


def stub(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    fused = shared_fused_types() | fused_types(text)
    blocks = [constants(path), declarations(text, "", fused)]
    shared = path.with_suffix(".pxd")
    declared = shared.read_text(encoding="utf-8") if shared.is_file() else ""
    attributes = {own["name"]: own["body"] for own in CLASS.finditer(declared)}
    blocks += [class_lines(match, attributes.get(match["name"], ""), fused) for match in CLASS.finditer(text)]
    body = "\n".join(filter(None, map("".join, blocks)))
    imports = "".join(line for pattern, line in IMPORTS.items() if re.search(pattern, body))
    imports += "".join(
        f"from {module} import {name}\n"
        for module, names in re.findall(r"^from (fastmetrics\.\S+) cimport (\([^)]*\)|.*)$", text, re.MULTILINE)
        for name in re.findall(r"\w+", names)
        if re.search(rf"\b{name}\b", body) and name[0].isupper() and not name.isupper()
    )
    return "\n".join(filter(None, [f"# Written by tools/generate.py from {path.name}.\n", imports, body]))


def constants(path: Path) -> list[str]:
    """The public constants of the built module, in the order of its source."""
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    if find_spec(name) is None:
        raise SystemExit(f"{name} is not built; type: python setup.py build_ext --inplace")
    module = import_module(name)
    found = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    return [f"{name}: {constant_type(value)}\n" for name, value in found.items() if isinstance(value, CONSTANT)]


def constant_type(value: object) -> str:
    return f"tuple[{type(value[0]).__name__}, ...]" if isinstance(value, tuple) else type(value).__name__


def class_lines(match: re.Match[str], shared: str, fused: Fused) -> Iterator[str]:
    """A class, whose attributes stand in its source or, if other kernels use them, in `shared`."""
    attributes = [
        f"    {attribute['name']}: {python_type(attribute['type'], fused)}\n"
        for attribute in ATTRIBUTE.finditer(shared + match["body"])
    ]
    yield f"class {match['name']}:\n"
    yield from [*attributes, *declarations(match["body"], "    ", fused)] or ["    pass\n"]


def declarations(text: str, indent: str, fused: Fused) -> Iterator[str]:
    """The public functions of a source, or methods of a class's body."""
    for match in re.finditer(rf"^{indent}(?:cp)?def (?P<name>\w+)\(", text, re.MULTILINE):
        name = match["name"].replace("__cinit__", "__init__")
        stop = end_of_brackets(text, match.end() - 1)
        end = text.index(":\n", stop)
        returned = " ".join(text[stop:end].split()).removeprefix("-> ").replace("[ ", "[").replace(" ]", "]") or "None"
        body = re.match(rf"(?:{indent}    .*\n|\n)*", text[end + 2 :])[0]
        if name.startswith("_") and name != "__init__":
            continue
        if returned == "None" and re.search(r"^ +return +\S", body, re.MULTILINE):
            raise SystemExit(f"{name} in a .pyx file returns a value: write its type, def {name}(...) -> TYPE:")
        parameters = [declare(own, fused) for own in split(text[match.end() : stop - 1])]
        if text[: match.start()].endswith("@property\n"):
            yield f"{indent}@property\n"
        line = f"{indent}def {name}({', '.join(parameters)}) -> {returned}: ...\n"
        lines = "".join(f"{indent}    {parameter},\n" for parameter in parameters)
        yield line if len(line) <= WIDTH else f"{indent}def {name}(\n{lines}{indent}) -> {returned}: ...\n"


def end_of_brackets(text: str, start: int) -> int:
    """Where the bracket that opens at `start` has closed."""
    depth = 0
    for position in range(start, len(text)):
        depth += (text[position] in "([") - (text[position] in ")]")
        if depth == 0:
            return position + 1
    raise ValueError("a bracket is not closed")


def split(parameters: str) -> list[str]:
    """Parameters between commas, but not between those in brackets."""
    return [part.strip() for part in re.split(r",(?![^\[]*\])", parameters) if part.strip()]


def declare(parameter: str, fused: Fused) -> str:
    """A parameter with its Python type."""
    match = PARAMETER.fullmatch(parameter)
    name, default = match["name"], match["default"]
    if name == "self":
        return name
    kind = python_type(match["type"].strip(), fused, is_array=match["dimensions"] is not None)
    kind += " | None" if default == "None" or match["none"] == "or" else ""
    if default is None:
        return f"{name}: {kind}"
    return f"{name}: {kind} = {default if re.fullmatch(r'-?[0-9.]+|None|True|False', default) else '...'}"


def python_type(c_type: str, fused: Fused, is_array: bool = False) -> str:
    """The Python type of a value, or of an array of such values."""
    if c_type in fused:
        return " | ".join(dict.fromkeys(python_type(member, fused, is_array) for member in fused[c_type]))
    if is_array:
        return f"NDArray[np.{DTYPES.get(c_type, c_type.removesuffix('_t'))}]"
    return "int" if re.fullmatch(r"u?int[0-9]+_t", c_type) else TYPES.get(c_type, c_type)


@cache
def shared_fused_types() -> Fused:
    """Fused types of .pxd files; their names differ."""
    found: Fused = {}
    for path in sorted(KERNELS.rglob("*.pxd")):
        found |= fused_types(path.read_text(encoding="utf-8"))
    return found


def fused_types(text: str) -> Fused:
    """Name -> C types of the text's fused types."""
    lines = {name: members.splitlines() for name, members in FUSED.findall(text)}
    return {name: [line.partition("#")[0].strip() for line in members] for name, members in lines.items()}
