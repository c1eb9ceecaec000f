"""An option: what a value is, which functions have it, and what they cannot do."""

from __future__ import annotations

from typing import Any

from fastmetrics._core.named_tuples import NamedTuple

# What a value is, and so how it is read, written and compared.
METRICS = "metrics"
COLUMN = "column"
COLUMNS = "columns"
MODELS = "models"
ROLES = "roles"
TRUTH = "truth columns"
FILTER = "filter"
SLICES = "slices"
TASKS = "tasks"
LEVEL = "level"
COUNT = "count"
SEED = "seed"
FLAG = "flag"
ZONE = "zone"
SIZE = "size"
CHOICE = "choice"
UNITS = "units"
BASELINE = "baseline"
MARGINS = "margins"
# Of a run.
PATH = "path"
TEXT = "text"
TEXTS = "texts"
CALLABLE = "callable"
OBJECT = "object"

# The entry points that have an option.
EVALUATE, COMPARE, ACCUMULATOR = "evaluate", "compare", "Accumulator"
SPARK, SPARK_COMPARE = "spark.evaluate", "spark.compare"
RAY, RAY_COMPARE = "ray.evaluate", "ray.compare"
DASK, DASK_COMPARE = "dask.evaluate", "dask.compare"
DISTRIBUTED = "Evaluation.plan"  # which takes a whole question
UPDATE, TRAINING = "Accumulator.update", "TrainingMetrics"
FROM_BYTES, LOAD = "Accumulator.from_bytes", "Accumulator.load"
PARTIAL, PROCESSES = "DistributedPlan.partial", "distributed.processes.evaluate"
FUNCTIONS = "functions"  # of arrays
ON_SPARK, ON_TASKS = (SPARK, SPARK_COMPARE), (RAY, RAY_COMPARE, DASK, DASK_COMPARE)
ON_CLUSTERS = (*ON_SPARK, *ON_TASKS)
COMPARISONS = (COMPARE, SPARK_COMPARE, RAY_COMPARE, DASK_COMPARE)
EVERYWHERE = (EVALUATE, COMPARE, ACCUMULATOR, *ON_CLUSTERS)
OF_VALUES = (EVALUATE, ACCUMULATOR, SPARK, RAY, DASK)  # comparisons have intervals of differences

# What entry points refuse that is not a whole option.
ROWS, QUANTILES, DELONG_TEST = "rows as units", "quantiles", "DeLong's test"
NATIVE_EXPRESSIONS, MASKS = "expressions of pyarrow and polars", "masks of rows"
COUNTED_ROWS = "metrics of texts and of labels, whose rows are counted and not kept"
# Beside the entry points: questions in files, and with the bytes of states.
STORED = "a stored question"
# The baseline of slices that are compared with the rest of the rows.
REST = "rest"


class Refusal(NamedTuple):
    """What some entry points cannot do.

    Attributes
    ----------
    entry_points : tuple of str
    text : str
        What the error says, of the `entry_point` and what was `found`.
    of : str or None
        Which values; None: all but the default.
    error : type
        The class of the error.
    """

    entry_points: tuple[str, ...]
    text: str
    of: str | None = None
    error: type[Exception] = ValueError


class Option(NamedTuple):
    """An option of a question, or of a run.

    Attributes
    ----------
    name : str
        The keyword, and the key in files.
    kind : str
        What its value is.
    type : str
        The type, as docstrings write it.
    text : str
        What it means: the first paragraph of its entry in docstrings.
    default : object
        The value where none is given.
    entry_points : tuple of str
        The functions that have it as a keyword. All take one of the question as a part of an `Evaluation`.
    of_tasks : bool
        May every task have its own?
    choices : tuple of str
        The values of a choice.
    refusals : tuple of Refusal
        What entry points cannot do, and say so.
    help : str
        What `--help` says; by default the first sentence of the text.
    metavar : str
        What stands for the value on the command line; by default that of the kind.
    flags : tuple of str or None
        The names on the command line, none if it is empty; None: the name of the option.
    least : int or None
        The least number.
    """

    name: str
    kind: str
    type: str
    text: str
    default: Any = None
    entry_points: tuple[str, ...] = EVERYWHERE
    of_tasks: bool = False
    choices: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    help: str = ""
    metavar: str = ""
    flags: tuple[str, ...] | None = None
    least: int | None = None
