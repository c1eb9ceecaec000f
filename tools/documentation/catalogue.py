"""The catalogue of metrics, from the registry: a table of all, and an entry for each on the page of its family."""

from collections.abc import Iterator

from fastmetrics._core.metric_spec import MetricSpec
from fastmetrics._core.registry import list_metrics
from generated.reference_pages import WAYS, metric_string, one_line

FOLDER = "reference/metrics"
HEAD = """\
# Metrics

What `evaluate`, `compare`, `Accumulator`, Spark and the command line compute by name: `auc`, `ndcg(gain=exp2)@10`.
An option that is left out has the value shown at the metric. `@k` is a cutoff of ranked lists.
"""
MEET = {"none": "none", "range": "those with neighboring scores", "hash": "those of a group"}
BETTER = {"maximize": "higher", "minimize": "lower"}


def pages() -> Iterator[tuple[str, str]]:
    families: dict[str, list[MetricSpec]] = {}
    for spec in list_metrics().values():
        families.setdefault(spec.family, []).append(spec)
    contents = "\n".join(sorted(families))
    tables = "".join(table(family, families[family]) for family in sorted(families))
    yield f"{FOLDER}/index.md", f"{HEAD}{tables}\n```{{toctree}}\n:hidden:\n\n{contents}\n```\n"
    for family, specs in families.items():
        yield f"{FOLDER}/{family}.md", f"# {family.capitalize()} metrics\n" + "".join(map(entry, specs))


def table(family: str, specs: list[MetricSpec]) -> str:
    rows = "".join(f"| {{ref}}`{own.name} <metric-{own.name}>` | {in_cell(own.summary)} |\n" for own in specs)
    return f"\n## {family.capitalize()}\n\n| metric | what it is |\n| --- | --- |\n{rows}"


def entry(spec: MetricSpec) -> str:
    """The heading of a metric with its anchor, its summary, and what is known of it."""
    lines = [f":{name}: {text}\n" for name, text in fields(spec) if text]
    return f"\n(metric-{spec.name})=\n## {spec.name}\n\n{spec.summary}\n\n{''.join(lines)}"


def fields(spec: MetricSpec) -> Iterator[tuple[str, str]]:
    for form in spec.forms:
        of = f" of `{form.model_role}=`" if len(spec.forms) > 1 else ""
        yield f"Written{of}", f"`{metric_string(form)}`"
        roles = [*form.roles, "group"] if form.exchange == "hash" else form.roles
        yield f"Columns{of}", ", ".join(f"`{role}`" for role in dict.fromkeys(roles))
        yield f"Undefined{of}", form.undefined
    yield "Better", BETTER.get(spec.direction, spec.direction.replace("_", " "))
    yield "Rows that must meet", f"{MEET[spec.exchange]} ({WAYS[spec.exchange]})"
    yield "Function", f"{{py:obj}}`fastmetrics.{spec.function.__name__}`" if spec.function else ""
    yield "Also called", ", ".join(f"`{alias}`" for alias in spec.aliases)
    yield "Other names", "; ".join(f"`{name}`: {one_line(why)}" for name, why in spec.near_names.items())


def in_cell(text: str) -> str:
    return text.replace("|", r"\|")
