"""The layers of fastmetrics, lowest first. This is the one list; docs/architecture.md and the tests read it.

A module belongs to the longest entry that its name begins with. It imports from its own entry and from lower layers.
Entries of one layer do not import each other: a metric family never imports another family.
"""

from pathlib import Path

METRICS = Path(__file__).resolve().parents[2] / "fastmetrics" / "metrics"
FAMILIES = tuple(sorted(f"metrics.{path.parent.name}" for path in METRICS.glob("*/__init__.py")))
LAYERS: tuple[tuple[str, ...], ...] = (
    ("_version",),
    ("_kernels.numeric",),
    ("_kernels.columns",),
    ("_kernels.sweep", "_kernels.exchange", "_kernels.formats"),
    (
        "_kernels.classification", "_kernels.probability", "_kernels.regression", "_kernels.ranking",
        "_kernels.clustering", "_kernels.detection", "_kernels.resampling", "_kernels.significance",
        "_kernels.text.tokens",
    ),
    ("_kernels.text",),
    ("_kernels",),
    ("_core",),
    ("_core.inference",),
    ("_core.columns",),
    ("_core.exchange",),
    ("_core.tables",),
    ("_core.resampling",),
    ("_core.score_statistics",),
    ("_core.comparison",),
    FAMILIES,
    ("metrics",),
    ("engine.expressions",),
    ("engine.evaluation.options",),
    ("engine.plan",),
    ("engine.evaluation",),
    ("engine.input",),
    ("engine.results",),
    ("engine.partial",),
    ("engine.scan",),
    ("engine",),
    ("reporting",),
    ("testing", "extend"),
    ("selfcheck",),
    ("distributed",),
    ("cli", "spark", "ray", "dask"),
    ("__main__",),
    ("",),
)  # fmt: skip

# A question, its results and its plan name each other in types: the first of a pair imports the second for type
# checkers alone.
FOR_TYPES_ALONE = (
    ("fastmetrics.engine.evaluation.evaluation", "fastmetrics.engine.results.report"),
    ("fastmetrics.engine.evaluation.evaluation", "fastmetrics.distributed.plan"),
    ("fastmetrics._core.comparison.comparison", "fastmetrics.engine.evaluation.evaluation"),
)

# These reach metrics through the registry alone: a new metric needs no line in them.
KNOW_NO_METRIC_BY_NAME = ("engine", "reporting", "distributed", "cli", "spark", "ray", "dask", "testing", "__main__")
# Where users start: `import fastmetrics` does not load them.
ENTRY_POINTS = ("cli", "distributed", "spark", "ray", "dask", "testing", "selfcheck")


def entry_of(module: str) -> str | None:
    """The entry of LAYERS that a module ("fastmetrics.engine.plan.metric_plan") belongs to; None for a stranger."""
    name = module.removeprefix("fastmetrics").removeprefix(".")
    if name == "":
        return ""
    entries = [entry for layer in LAYERS for entry in layer if entry and (name + ".").startswith(entry + ".")]
    return max(entries, key=len, default=None)


def height_of(module: str) -> int | None:
    """The number of the module's layer, 0 the lowest."""
    entry = entry_of(module)
    return next((height for height, layer in enumerate(LAYERS) if entry in layer), None)
