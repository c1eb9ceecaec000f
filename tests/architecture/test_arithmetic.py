"""Values have the same bits on every machine: nothing that enters one is computed by what differs between machines.

The transcendental functions of NumPy, of the C library, of Arrow and of SciPy have other last bits on another processor
or system; so have matrix products, whose order of additions BLAS chooses. `_core/elementary.py` and
`_kernels/numeric/elementary.h` take their place. The few modules that use the others all the same stand here.
"""

import ast
import re
from collections.abc import Iterator

from architecture.sources import (
    HEADER_SUFFIXES,
    PACKAGE,
    SOURCE_SUFFIXES,
    listed,
    read,
    relative,
    source_files,
    without_comments,
)
from support.cases import each_case

# Exact or correctly rounded everywhere; `pi` and the like are constants.
EXACT_OF_MATH = {
    "ceil", "comb", "copysign", "e", "fabs", "factorial", "floor", "fmod", "frexp", "fsum", "gcd", "inf", "isclose",
    "isfinite", "isinf", "isnan", "isqrt", "lcm", "ldexp", "modf", "nan", "nextafter", "perm", "pi", "prod",
    "remainder", "sqrt", "tau", "trunc", "ulp",
}  # fmt: skip
ANGLES = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
TRANSCENDENTAL = {
    "cbrt", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "float_power", "hypot", "lgamma", "ln", "log", "log10",
    "log1p", "log2", "logaddexp", "logaddexp2", "logb", "pow", "power", "power_checked", "tgamma", *ANGLES,
    *(f"arc{name}" for name in ANGLES), *(f"a{name}" for name in ANGLES), "arctan2", "atan2",
}  # fmt: skip
OF_NUMPY = TRANSCENDENTAL | {
    "convolve", "corrcoef", "correlate", "cov", "dot", "einsum", "fft", "geomspace", "i0", "inner", "interp", "linalg",
    "logspace", "matmul", "matvec", "polyfit", "random", "sinc", "tensordot", "vdot", "vecdot", "vecmat",
}  # fmt: skip
OF_ARROW = TRANSCENDENTAL | {"mean", "quantile", "skew", "kurtosis", "stddev", "sum", "tdigest", "variance"}
MODULES = {
    "math": lambda name: name not in EXACT_OF_MATH,
    "numpy": OF_NUMPY.__contains__,
    "pyarrow.compute": OF_ARROW.__contains__,
    "cmath": lambda name: True,
    "scipy": lambda name: True,
    "statistics": lambda name: True,
    "operator": {"pow", "ipow", "matmul", "imatmul"}.__contains__,
}
LAZY_MODULES = "fastmetrics._core.optional_imports"  # of pyarrow
PRODUCTS = ("dot", "matmul")  # of arrays, as methods
LIBRARY_CALL = re.compile(rf"(?<![\w.>])(?<!def )(?:{'|'.join(sorted(TRANSCENDENTAL))})[fl]?[ \t]*\(")
FROM_LIBC = re.compile(r"^[ \t]*from[ \t]+libc\.math[ \t]+cimport[ \t]+(\([^)]*\)|[^\n]*)", flags=re.MULTILINE)
EXACT_OF_C = {
    "HUGE_VAL", "INFINITY", "NAN", "ceil", "copysign", "fabs", "floor", "fmod", "frexp", "isfinite", "isinf", "isnan",
    "ldexp", "llround", "nearbyint", "rint", "signbit", "sqrt", "trunc",
}  # fmt: skip

# What a module may use, and why no value depends on it.
GENERATED = {"numpy.random"}, "random numbers of tests: values are compared with others of the same numbers"
CUTS = {"numpy.random"}, "integers, choices and permutations alone, which NumPy makes of integers"
MAY_USE: dict[str, tuple[set[str], str]] = {
    "fastmetrics/_kernels/classification/fixed_threshold.pyx": ({"nextafterf"}, "exact"),
    "fastmetrics/cli/synthetic/synthetic_log.py": CUTS,
    "fastmetrics/engine/expressions/arrow_kernels.py": (
        {"getattr(pyarrow.compute, ...)", "pyarrow.compute.sum"},
        "comparisons, rounding, texts and times; whether a sum is NaN",
    ),
    "fastmetrics/metrics/clustering/contingency.py": ({"scipy"}, "holds counts"),
    "fastmetrics/metrics/clustering/distance_blocks.py": (
        {"scipy"}, "sparse matrices; distances by plain loops over columns (docs/clustering.md names those of `pow`)",
    ),
    "fastmetrics/metrics/clustering/silhouette.py": CUTS,
    "fastmetrics/metrics/text/compare_texts.py": CUTS,
    "fastmetrics/metrics/text/resampled_sums.py": CUTS,
    "fastmetrics/reporting/axis_ticks.py": ({"math.log10", "**"}, "ticks of axes"),
    "fastmetrics/reporting/plot_layout.py": ({"math.log10"}, "places on logarithmic axes"),
    "fastmetrics/reporting/number_formats.py": ({"math.log10"}, "how many digits are shown"),
    "fastmetrics/reporting/report_notes.py": ({"math.log10"}, "how many digits are shown"),
    "fastmetrics/selfcheck/same_bits.py": GENERATED,
    "fastmetrics/testing/function_checks.py": GENERATED,
    "fastmetrics/testing/metric_checks.py": GENERATED,
    "fastmetrics/testing/sample_logs.py": GENERATED,
}  # fmt: skip
# Powers of integers, Decimals and Fractions, which are exact, and squares of arrays, which NumPy multiplies. A power of
# a float is the C library's, also a square.
EXACT_POWERS = {
    "fastmetrics/_core/columns/arrow_columns.py", "fastmetrics/_core/comparison/mean_differences.py",
    "fastmetrics/_core/exchange/memory_size.py", "fastmetrics/_core/score_statistics/delong_placements.py",
    "fastmetrics/_core/score_statistics/row_placements.py", "fastmetrics/cli/synthetic/synthetic_log.py",
    "fastmetrics/engine/expressions/arrow_casts.py", "fastmetrics/engine/expressions/arrow_kernels.py",
    "fastmetrics/engine/expressions/spark_sql.py", "fastmetrics/metrics/classification/label_counts.py",
    "fastmetrics/metrics/clustering/distance_blocks.py",
    "fastmetrics/metrics/ranking/runs/trec_measures.py", "fastmetrics/metrics/significance/delong.py",
    "fastmetrics/metrics/significance/two_proportion_test.py", "fastmetrics/metrics/significance/wilcoxon.py",
}  # fmt: skip


def uses_in_python(text: str) -> Iterator[tuple[int, str]]:
    """Lines and names of everything whose last bits may differ between machines."""
    tree = ast.parse(text)
    modules, names = imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            source = modules.get(ast.unparse(node.value), "")
            if source and differs(source, node.attr):
                yield node.lineno, f"{source}.{node.attr}"
        elif isinstance(node, ast.Name) and node.id in names:
            yield node.lineno, names[node.id]
        elif isinstance(node, ast.BinOp | ast.AugAssign):
            yield from uses_of_operators(node)
        elif isinstance(node, ast.Call):
            yield from uses_of_calls(node, modules)
        elif isinstance(node, ast.Import | ast.ImportFrom):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from ((node.lineno, name.split(".")[0]) for name in named if name.split(".")[0] == "scipy")


def imported_names(tree: ast.AST) -> tuple[dict[str, str], dict[str, str]]:
    """Expressions that are modules of MODULES, and names that are imported from them and differ between machines."""
    modules, names = {"pc": "pyarrow.compute", "pa.compute": "pyarrow.compute"}, {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {alias.asname or alias.name: alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            module = "pyarrow" if node.module == LAZY_MODULES else node.module
            for alias in node.names:
                whole = f"{module}.{alias.name}"
                modules[alias.asname or alias.name] = whole
                if differs(module, alias.name):
                    names[alias.asname or alias.name] = whole
    return modules, names


def differs(module: str, name: str) -> bool:
    whole = f"{module}.{name}"
    return any(
        is_other(whole[len(known) + 1 :].split(".")[0])
        for known, is_other in MODULES.items()
        if whole.startswith(f"{known}.")
    )


def uses_of_operators(node: ast.BinOp | ast.AugAssign) -> Iterator[tuple[int, str]]:
    """`@`, and `**` but of two literal numbers, which the compiler computes: 2.0**-52."""
    if isinstance(node.op, ast.MatMult):
        yield node.lineno, "@"
    if isinstance(node.op, ast.Pow):
        base, exponent = (node.left, node.right) if isinstance(node, ast.BinOp) else (node.target, node.value)
        if not (is_number(base) and is_number(exponent) and float(ast.literal_eval(exponent)).is_integer()):
            yield node.lineno, "**"


def is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        node = node.operand
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def uses_of_calls(node: ast.Call, modules: dict[str, str]) -> Iterator[tuple[int, str]]:
    """Products as methods, `pow`, functions that are looked up by a name, and extras that are imported by one."""
    function = node.func
    if isinstance(function, ast.Name) and function.id == "pow":
        yield node.lineno, "**"
    if isinstance(function, ast.Attribute) and function.attr in PRODUCTS and ast.unparse(function.value) not in modules:
        yield node.lineno, f".{function.attr}"
    first = ast.unparse(node.args[0]) if node.args else ""
    called = ast.unparse(function)
    if called == "getattr" and modules.get(first, "") in MODULES:
        name = ast.literal_eval(node.args[1]) if isinstance(node.args[1], ast.Constant) else None
        if name is None or differs(modules[first], name):
            yield node.lineno, f"getattr({modules[first]}, {name or '...'})"
    if called.endswith("import_module") or called == "import_extra" or called == "__import__":
        name = first.strip("'\"").split(".")[0]
        if name in ("scipy", "statistics", "cmath"):
            yield node.lineno, name


def uses_in_kernel(text: str) -> Iterator[tuple[int, str]]:
    """The same of a kernel: functions of the C library, but those that are exact."""
    text = without_comments(without_c_comments(text))
    for match in FROM_LIBC.finditer(text):
        for part in match[1].strip("()").split(","):
            name = part.split()[0] if part.split() else ""
            if name and name not in EXACT_OF_C:
                yield text.count("\n", 0, match.start()) + 1, name
    for match in LIBRARY_CALL.finditer(text):
        yield text.count("\n", 0, match.start()) + 1, match[0].rstrip("( \t")


def without_c_comments(text: str) -> str:
    return re.sub(r"/\*[\s\S]*?\*/|//[^\n]*", lambda match: "\n" * match[0].count("\n"), text)


def uses_of(name: str, text: str) -> set[str]:
    found = uses_in_python(text) if name.endswith((".py", ".pyi")) else uses_in_kernel(text)
    return {use for _, use in found}


def allowed_in(name: str) -> set[str]:
    return MAY_USE.get(name, (set(), ""))[0] | ({"**"} if name in EXACT_POWERS else set())


# The definitions of the self-check are those of the tests: values with logarithms are compared with a tolerance.
FILES = [
    path
    for path in source_files(PACKAGE.name, suffixes=SOURCE_SUFFIXES | HEADER_SUFFIXES)
    if path.parent != PACKAGE / "selfcheck" / "definitions"
]


def test_values_do_not_depend_on_the_machine():
    complaints = []
    for path in FILES:
        allowed = allowed_in(relative(path))
        found = uses_in_python(read(path)) if path.suffix in (".py", ".pyi") else uses_in_kernel(read(path))
        complaints += [f"{relative(path)}: line {line}: {use}" for line, use in found if use not in allowed]
    assert not complaints, listed(["use fastmetrics/_core/elementary.py, or say in MAY_USE why not:", *complaints])


def test_the_list_is_not_longer_than_needed():
    texts = {relative(path): read(path) for path in FILES}
    unused = [
        f"{name}: {use}"
        for name in MAY_USE.keys() | EXACT_POWERS
        for use in sorted(allowed_in(name) - uses_of(name, texts.get(name, "")))
    ]
    assert not unused, listed(unused)


@each_case(
    ("text", "use"),
    [
        ("import math\nmath.log(x)", "math.log"), ("from math import exp as e\ne(x)", "math.exp"),
        ("import numpy as np\nnp.log1p(x)", "numpy.log1p"), ("import numpy\nnumpy.power.outer(x, y)", "numpy.power"),
        ("from numpy import exp2\nf(exp2)", "numpy.exp2"), ("import numpy as np\nnp.linalg.inv(x)", "numpy.linalg"),
        ("from numpy.linalg import inv\ninv(x)", "numpy.linalg.inv"),
        ("import numpy as np\nnp.random.default_rng()", "numpy.random"),
        ("x ** y", "**"), ("x ** 2", "**"), ("2.0 ** 0.5", "**"), ("x **= 3", "**"), ("pow(x, y)", "**"),
        ("x @ y", "@"), ("x @= y", "@"), ("x.dot(y)", ".dot"),
        ("import math\ngetattr(math, name)", "getattr(math, ...)"),
        ("import pyarrow.compute as pc\npc.ln(x)", "pyarrow.compute.ln"),
        ("from fastmetrics._core.optional_imports import compute\ncompute.exp(x)", "pyarrow.compute.exp"),
        ("import operator\noperator.matmul(x, y)", "operator.matmul"), ("from scipy import special", "scipy"),
        ("import_extra('scipy.stats', 'x')", "scipy"),
        ("from statistics import NormalDist\nNormalDist()", "statistics.NormalDist"),
        ("import math\nmath.hypot(x, y)", "math.hypot"), ("import math\nmap(math.erfc, x)", "math.erfc"),
    ],
)  # fmt: skip
def test_uses_in_python_are_found(text, use):
    assert use in uses_of("planted.py", text)


@each_case("text", ["2.0**-52 + 10**6", "import math\nmath.sqrt(x) + math.pi", "import numpy as np\nnp.sqrt(x).sum()"])
def test_harmless_python_is_not_found(text):
    assert not uses_of("planted.py", text)


@each_case(
    ("text", "use"),
    [
        ("from libc.math cimport NAN, log2", "log2"), ("from libc.math cimport (\n    exp,\n    NAN,\n)", "exp"),
        ("double f(double x) { return pow(x, 2.0); }", "pow"), ("x = expf (y)", "expf"), ("return -log(1 - x);", "log"),
    ],
)  # fmt: skip
def test_uses_in_kernels_are_found(text, use):
    assert use in uses_of("planted.h", text)


@each_case("text", ["x = fm_log(y)", "/* log(x) */", "# pow(x, y)", "from libc.math cimport NAN, sqrt, fabs"])
def test_harmless_kernels_are_not_found(text):
    assert not uses_of("planted.pyx", text)
