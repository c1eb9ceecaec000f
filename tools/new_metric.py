"""Start a metric: write its module, its definition for the tests, and its line in CHANGELOG.md, ready to run.

The example that is written is a small metric of the exchange; all tests of the checkout pass with it. Replace it by
yours. CONTRIBUTING.md ("How a metric is added") says what to edit.
"""

from __future__ import annotations

import argparse
import builtins
import keyword
import re
import subprocess
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parent
ROOT = TOOLS.parent
PACKAGE = ROOT / "fastmetrics"
METRICS = PACKAGE / "metrics"
ORACLES = ROOT / "tests" / "oracles"
CHANGELOG = ROOT / "CHANGELOG.md"
sys.path[:0] = [str(ROOT), str(TOOLS)]

NAME = re.compile(r"[a-z][a-z0-9]*(_[a-z0-9]+)*")
LONGEST_NAME = 40  # lines of the templates then have at most 120 characters
NAME_NO_METRIC = ("engine", "reporting", "cli", "spark", "testing")
EXCHANGES = {
    "none": "no rows: a sum over rows",
    "range": "rows with neighboring scores: what the classes do from the greatest score down",
    "hash": "the rows of a group: a value for each group, then their mean",
}
EXAMPLES = """\
which rows must meet before the metric can be computed:
{exchanges}

examples:
  python tools/new_metric.py mean_margin --family probability --exchange none
  python tools/new_metric.py recall_at_precision --family curves --exchange range
  python tools/new_metric.py top_row_clicks --family ranking --exchange hash
"""
NEXT = """\
written:
  {module}
  {definition}
  CHANGELOG.md
and what follows from them, by tools/generate.py. `fm.{name}` and the metric "{name}" compute an example now.

make it your metric:
  1. {definition}: the slow definition, with its citation
  2. {module}: the docstring, the statistic,
     the spec, the finalizer, CHECKED_VALUES
  3. CHANGELOG.md: its line
  4. python tools/generate.py
     pytest tests/common tests/smoke -k "{name} or completeness"
     pytest tests/common tests/smoke tests/architecture && ruff check . && mypy
CONTRIBUTING.md has the rules and their reasons.
"""


def main() -> None:
    asked = read_arguments()
    problem = problem_of_name(asked.name) or problem_of_family(asked.family, asked.exchange)
    if problem:
        raise SystemExit(f"{problem}; nothing was written")
    module = METRICS / asked.family / f"{asked.name}.py"
    definition = ORACLES / asked.family / f"{asked.name}.py"
    folder = TOOLS / "templates" / template_of(asked.family, asked.exchange)
    texts = {
        module: filled(folder / "metric.py", asked.name),
        definition: filled(folder / "definition.py", asked.name),
    }
    texts[CHANGELOG] = changelog_with(asked.name, summary_of(texts[module]))
    write_all_or_nothing(texts)
    places = {"module": module.relative_to(ROOT), "definition": definition.relative_to(ROOT)}
    print(NEXT.format(name=asked.name, **places), end="")


def read_arguments() -> argparse.Namespace:
    exchanges = "\n".join(f"  {name:<7}{meaning}" for name, meaning in EXCHANGES.items())
    parser = argparse.ArgumentParser(
        description=__doc__,
        epilog=EXAMPLES.format(exchanges=exchanges),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("name", metavar="NAME", help="of the function and of the metric: words_with_underscores")
    parser.add_argument("--family", required=True, help="a package of fastmetrics/metrics: its folder gets the module")
    parser.add_argument("--exchange", required=True, choices=EXCHANGES, help="which rows must meet, see below")
    return parser.parse_args()


# --------------------------------------------------------------------------------------------------- what is refused


def problem_of_name(name: str) -> str | None:
    """Why a metric cannot have this name."""
    from fastmetrics._core.metric_spec import CUTOFF
    from fastmetrics._core.registry import known_specs
    from generated.public_names import public_places

    if not NAME.fullmatch(name) or keyword.iskeyword(name) or hasattr(builtins, name):
        return f"NAME must be words in lower case with underscores, and no word of Python; found {name!r}"
    if len(name) > LONGEST_NAME:
        return f"NAME must have at most {LONGEST_NAME} characters; found {len(name)}"
    if name in public_places() or (PACKAGE / name).is_dir():
        return f"fastmetrics.{name} exists"
    for spec in known_specs().values():
        if name in {own.removesuffix(CUTOFF) for own in (spec.name, *spec.aliases)}:
            return f"the metric {name!r} exists" if name == spec.base_name else f"{name!r} is an alias of {spec.name!r}"
    files = [*METRICS.rglob(f"{name}.py"), *METRICS.rglob(f"{name}/"), *ORACLES.rglob(f"{name}.py")]
    if files:
        return f"{files[0].relative_to(ROOT)} exists"
    own_class = re.compile(rf"^class {class_name(name)}(Sum|Runs|ByGroup)\b", re.MULTILINE)
    for path in sorted(PACKAGE.rglob("*.py")):
        source, where = path.read_text(encoding="utf-8"), path.relative_to(PACKAGE)
        if own_class.search(source):
            return f"fastmetrics/{where} has a class {class_name(name)}..."
        # A test forbids names of metrics here, and cannot tell them from other words.
        if where.parts[0] in NAME_NO_METRIC and f'"{name}"' in source:
            return f"fastmetrics/{where} has the word {name!r} for something else"
    return None


def problem_of_family(family: str, exchange: str) -> str | None:
    """Why the family cannot have a metric of this exchange."""
    families = sorted(path.parent.name for path in METRICS.glob("*/__init__.py"))
    if family not in families:
        return f"--family must be one of {', '.join(families)}; found {family!r}"
    targets = targets_of(family)
    if not targets & {"binary", "real", "graded"}:
        return (
            f"metrics of {family} do not read labels and scores: start from a module of "
            f"fastmetrics/metrics/{family}, as its __init__.py says"
        )
    if targets == {"real"} and exchange != "none":
        return f"metrics of numbers need --exchange none: exchanges move classes; found {exchange!r} for {family}"
    return None


def targets_of(family: str) -> set[str]:
    """What the registered metrics of a family read: classes ("binary"), numbers ("real"), texts and so on."""
    from fastmetrics._core.registry import known_specs

    return {spec.target for spec in known_specs().values() if spec.family == family}


# ------------------------------------------------------------------------------------------------- what is written


def template_of(family: str, exchange: str) -> str:
    return "none_of_numbers" if targets_of(family) == {"real"} else exchange


def class_name(name: str) -> str:
    return "".join(word.capitalize() for word in name.split("_"))


def filled(template: Path, name: str) -> str:
    """A template, which is a working module with another name, with the name of the metric."""
    text = template.read_text(encoding="utf-8")
    return text.replace("new_metric", name).replace("NewMetric", class_name(name))


def summary_of(module: str) -> str:
    """The first line of a module's docstring, as the rest of a sentence."""
    first = module.partition("\n")[0].strip('"')
    return first[0].lower() + first[1:]


def changelog_with(name: str, summary: str) -> str:
    """The changelog with a line for the metric, in "Added" of the next version, which has no date yet."""
    text = CHANGELOG.read_text(encoding="utf-8")
    heading = re.search(r"^## \[(?:Unreleased\]|.+\] - unreleased)\n", text, re.MULTILINE)
    if not heading:
        raise SystemExit("CHANGELOG.md has no heading '## [X.Y.Z] - unreleased'; nothing was written")
    head, mark, rest = text.partition(heading[0])
    own, mark_of_next, older = rest.partition("\n## [")
    before, added, after = own.partition("\n### Added\n\n")
    line = f"- `fm.{name}`, metric `{name}`: {summary}\n"
    if after.startswith("#"):
        line += "\n"
    return "".join([head, mark, before, added or "\n### Added\n\n", line, after, mark_of_next, older])


def write_all_or_nothing(texts: dict[Path, str]) -> None:
    """Write the files and what is generated from them. If anything fails, the files are as they were."""
    before = {path: path.read_bytes() if path.exists() else None for path in texts}
    try:
        for path, text in texts.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
        done = subprocess.run([sys.executable, TOOLS / "generate.py"], capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"tools/generate.py failed, nothing was written:\n{done.stdout}{done.stderr}")
    except BaseException:
        for path, content in before.items():
            if content is None:
                path.unlink(missing_ok=True)
            else:
                path.write_bytes(content)
        raise


if __name__ == "__main__":
    main()
