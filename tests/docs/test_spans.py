"""Names in prose and tables are tested like code: metric strings, keywords, options, commands and attributes in spans.

A span is text between backticks in a page, in a docstring, or in the help of a command. What it looks like is decided
by its form alone, so a name that does not exist is found wherever it stands.
"""

import ast
import importlib
import inspect
import re
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

import fastmetrics as fm
from fastmetrics._core.registry import known_specs, parse
from fastmetrics._core.registry.arguments import GROUP_ROLE
from support.cases import each_case

pytest.importorskip("typer")

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
SOURCES = sorted((ROOT / "fastmetrics").rglob("*.py"))
SPAN = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)", re.DOTALL)
FENCE = re.compile(r"^ *```.*?^ *```$", re.MULTILINE | re.DOTALL)
METRIC = re.compile(r"([A-Za-z]\w*)(\(\w+=[^,()]+(?:, ?\w+=[^,()]+)*\))?(@(?:\d[\d.]*%?|k))?")
KEYWORD = re.compile(r"([a-z]\w*)=(?!=).*", re.DOTALL)
OPTION = re.compile(r"(?<![\w-])(--[a-z][\w-]*)")
CLASSES = "Report|Comparison|Result|Difference|Accumulator|Evaluation|Task"
DOTTED = re.compile(rf"((?:fm|fastmetrics|{CLASSES})(?:\.[A-Za-z]\w*)+)")
MODULES = ("fastmetrics.extend", "fastmetrics.testing", "fastmetrics.spark", "fastmetrics.distributed",
           "fastmetrics.ray", "fastmetrics.dask")  # fmt: skip
# Keywords, calls and options of other programs, and metrics that a page writes itself.
OTHER_PROGRAMS = {
    "README.md": "AUROC",
    "definitions.md": "empty_target_action divide_by_k adaptive_k at",
    "cli.md": "--slice",
    "distributed.md": "pool",
    "extending.md": "regret Binary",
    "inputs.md": "day column_types quote",
    "integrations.md": "make_scorer feval custom_metric eval_metric batch_eval_metrics",
    "paths.md": "spark",
    "speed.md": "--only --plain",
    "recipes.md": (
        "thresholds ndcg_burges ndcg_at_k mapk mean_average_precision_at_k MAP retrieval_average_precision "
        "retrieval_precision AUC_at_k use_stemmer split_summaries mode cross_val_score GridSearchCV"
    ),
}


OTHERS_IN_DOCSTRINGS = "day --groups"  # of folders, day=2026-11-01, and an option that is refused with the near one


def spans_of(text):
    """The spans of a page without its blocks of code."""
    return [" ".join(found.split()) for _, found in SPAN.findall(FENCE.sub("", text))]


@cache
def commands():
    """The options of each command."""
    from typer.main import get_command

    from fastmetrics.cli.app import app

    return {
        name: {"--help", *(word for own in command.params for word in (*own.opts, *own.secondary_opts))}
        for name, command in get_command(app).commands.items()
    }


@cache
def parameters(function):
    try:
        return frozenset(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return frozenset()


@cache
def functions():
    """Public functions, classes and methods by name, each with all that have it."""
    found = defaultdict(list)
    for module in ("fastmetrics", *MODULES):
        try:
            holder = importlib.import_module(module)
        except ImportError:
            continue
        for name in holder.__all__:
            found[name].append(getattr(holder, name))
    for public in [own for same in found.values() for own in same if inspect.isclass(own)]:
        for method in dir(public):
            if not method.startswith("_"):
                found[method].append(getattr(public, method))
    return found


@cache
def keywords():
    """All names that stand before an equals sign: parameters of public functions and methods, options of metrics."""
    found = {name for same in functions().values() for own in same for name in parameters(own)}
    for spec in known_specs().values():
        for form in spec.forms:
            found |= {*form.parameters, *form.roles}
    return found | {GROUP_ROLE, "stat", "rule"}


def wrong_metric(span):
    """A metric with options or a cutoff must parse."""
    found = METRIC.fullmatch(span)
    if found is None or not (found[2] or found[3]) or "..." in span:
        return None
    if found[2] and not found[3] and is_function(found[1]):
        return None  # a call of Python
    try:
        parse(span.replace("@k", "@5"))
    except Exception as error:  # noqa: BLE001 - what is wrong is shown
        return f"{type(error).__name__}: {error}"
    return None


def is_metric(span):
    """Does it parse as a metric string?"""
    try:
        return METRIC.fullmatch(span) is not None and parse(span) is not None
    except Exception:  # noqa: BLE001 - no metric
        return False


def is_function(name):
    """Is it a public function or a method of a public class, and no metric?"""
    return name in functions() and name not in {spec.base_name for spec in known_specs().values()}


def wrong_keyword(span):
    found = KEYWORD.fullmatch(span)
    if found is None or found[1] in keywords():
        return None
    return f"no function, method or metric has a parameter {found[1]!r}"


def wrong_call(span):
    """The keywords of a call of a public function are its parameters."""
    if not re.match(r"[\w.]+\(.*=.*\)$", span):
        return None
    try:
        call = ast.parse(span.replace("…", "..."), mode="eval").body
    except SyntaxError:
        return None
    if not isinstance(call, ast.Call):
        return None
    name = ast.unparse(call.func).removeprefix("fm.").removeprefix("fastmetrics.")
    function = getattr(fm, name, None) if name.isidentifier() else None
    if function is None or not callable(function) or is_metric(span):
        return None
    known = parameters(function)
    if any(own.kind is own.VAR_KEYWORD for own in inspect.signature(function).parameters.values()):
        return None
    wrong = [own.arg for own in call.keywords if own.arg is not None and own.arg not in known]
    return f"{name} has no parameter {', '.join(wrong)}" if wrong else None


def wrong_option(span):
    if span.startswith("fastmetrics ") or not span.startswith("-"):
        words = span.split()
        if words[0] != "fastmetrics" or len(words) < 2 or not re.fullmatch(r"[a-z][\w-]*", words[1]):
            return None
        if words[1] not in commands():
            return f"no command {words[1]!r}"
        known = commands()[words[1]]
    else:
        known = set().union(*commands().values()) | {"--version", "--show-completion", "--install-completion"}
    wrong = [option for option in OPTION.findall(span) if option not in known]
    return f"no option {', '.join(wrong)}" if wrong else None


def wrong_attribute(span):
    for path in DOTTED.findall(span) if DOTTED.match(span) else ():
        first, *names = path.split(".")
        own = fm if first in ("fm", "fastmetrics") else getattr(fm, first)
        for name in names:
            if not hasattr(own, name):
                try:
                    importlib.import_module(f"{own.__name__}.{name}")
                except (ImportError, AttributeError):
                    return f"{path}: no {name!r}" if not is_field(own, name) else None
            own = getattr(own, name)
    return None


def is_field(own, name):
    """A slot or an annotated attribute of a class has no value on it."""
    return inspect.isclass(own) and any(name in getattr(base, "__annotations__", ()) for base in own.__mro__)


CHECKS = (wrong_metric, wrong_keyword, wrong_call, wrong_option, wrong_attribute)


def mistakes(text, others=""):
    found = []
    for span in dict.fromkeys(spans_of(text)):
        name = re.match(r"-*\w*", span)[0]
        if name not in others.split():
            found += [f"`{span}`: {wrong}" for check in CHECKS if (wrong := check(span))]
    return found


@pytest.mark.parametrize("name", [path.relative_to(ROOT).as_posix() for path in PAGES])
def test_names_of_pages_exist(name):
    found = mistakes((ROOT / name).read_text(encoding="utf-8"), OTHER_PROGRAMS.get(Path(name).name, ""))
    assert found == []


def test_names_of_docstrings_exist():
    found, spans = [], 0
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef) and (text := ast.get_docstring(node)):
                spans += len(spans_of(text))
                found += [f"{path.relative_to(ROOT)}: {wrong}" for wrong in mistakes(text, OTHERS_IN_DOCSTRINGS)]
    assert found == []
    assert spans > 1000


def test_names_of_help_texts_exist():
    from typer.main import get_command

    from fastmetrics.cli.app import app

    found, known = [], set().union(*commands().values())
    for name, command in get_command(app).commands.items():
        texts = [command.help or "", *(getattr(parameter, "help", None) or "" for parameter in command.params)]
        for text in texts:
            plain = re.sub(r"\[/?[a-z ]*\]", "", text)
            found += [f"{name}: {option}" for option in OPTION.findall(plain) if option not in known]
            found += [f"{name}: {wrong}" for wrong in mistakes(plain, OTHERS_IN_DOCSTRINGS)]
    assert found == []


@each_case(
    "span",
    [
        "gauc(weight=none)", "ndgc@10", "gaucc(weight=pairs)", "bottstrap=3", "evaluate(log, grup='x')", "--nosuch",
        "fastmetrics evalute x", "fastmetrics evaluate x --nosuch", "fm.roc_auc", "fm.Report.to_htm", "Report.to_htm",
    ],
)
def test_a_name_that_does_not_exist_is_found(span):
    assert mistakes(f"text `{span}` text")


@each_case(
    "span",
    [
        "gauc(weight=pairs)", "ndcg@10", "ndcg@k", "ci=0.95", "evaluate(log, group='x')", "--fail-if", "max_fpr=0.1",
        "fastmetrics evaluate x --by channel", "fm.roc_auc_score", "Report.to_html", "f1(average=macro)", "x = 1",
    ],
)
def test_names_that_exist_are_not_found(span):
    assert mistakes(f"text `{span}` text") == []
