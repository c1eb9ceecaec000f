"""The one table of options, from which keywords, docstrings, files, the schema and commands come.

An entry is all that a new option needs. `python tools/generate.py` writes it into signatures, docstrings, the schema
and the reference page; the command line and the files of questions read the table itself. Every layer above may import
it. Read `question.py` first, or `run.py`.
"""

from fastmetrics.engine.evaluation.options.option import Option
from fastmetrics.engine.evaluation.options.question import OPTIONS as OPTIONS
from fastmetrics.engine.evaluation.options.run import RUN_OPTIONS as RUN_OPTIONS

BY_NAME = {own.name: own for own in OPTIONS}
OF_TASKS = tuple(own for own in OPTIONS if own.of_tasks)


def options_of(entry_point: str) -> dict[str, Option]:
    """The options that an entry point has as keywords, by name."""
    return {own.name: own for own in (*OPTIONS, *RUN_OPTIONS) if entry_point in own.entry_points}
