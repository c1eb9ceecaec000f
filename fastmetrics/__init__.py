"""Evaluation metrics, exact and order-free: from a NumPy array to a log larger than memory.

The public names are those of the modules' `__all__`. `__init__.pyi` lists them with their modules; it is written by
`python tools/generate.py`. A module is imported at the first use of one of its names: `confusion_matrix` does not
import regression or the engine, and `import fastmetrics` alone does not import NumPy.
"""

from importlib import import_module
from importlib.util import find_spec

from fastmetrics._core import upper_layers
from fastmetrics._core.suggestions import list_public

upper_layers.METRIC_PACKAGES += [f"{__name__}.metrics"]
upper_layers.RENDERERS |= {
    "aligned lines": f"{__name__}.reporting.text_tables:aligned_lines",
    "comparison document": f"{__name__}.reporting.comparison_table:comparison_document",
    "comparison page": f"{__name__}.reporting.html_comparison:comparison_html",
    "markdown": f"{__name__}.reporting.text_tables:document_markdown",
    "notebook": f"{__name__}.reporting.html_tables:notebook_html",
    "notebook rows": f"{__name__}.reporting.html_tables:rows_html",
    "plot picture": f"{__name__}.reporting.svg_plots:svg_picture",
    "report document": f"{__name__}.reporting.report_table:report_document",
    "report page": f"{__name__}.reporting.html_report:report_html",
    "report plot": f"{__name__}.reporting.matplotlib_plots:plot_report",
    "text": f"{__name__}.reporting.text_tables:document_text",
}
upper_layers.ENTRY_POINTS |= {
    "metric string with": f"{__name__}._core.registry.metric_lists:metric_string_with",
    "refusal of keyword": f"{__name__}.engine.evaluation.refusals:refusal_of_keyword",
    "evaluate": f"{__name__}.engine.evaluate:evaluate",
    "question": f"{__name__}.engine.evaluation.evaluation:Evaluation",
    "plan": f"{__name__}.distributed.plan:plan_question",
}

# Its lines are `from MODULE import NAME`. The loader also reads it from an archive.
STUB = __spec__.loader.get_data(f"{__path__[0]}/__init__.pyi").decode()
PLACES = {line.split()[3]: line.split()[1] for line in STUB.splitlines() if line.startswith("from ")}
__all__ = list(PLACES)
upper_layers.PUBLIC_NAMES += __all__
__dir__ = list_public(globals())


def __getattr__(name: str) -> object:
    if name not in PLACES:
        advice = ""
        # Tools ask for names with an underscore, and for any text; a package may not be imported yet.
        if name.isidentifier() and not name.startswith("_") and find_spec(f"{__name__}.{name}") is None:
            from fastmetrics._core.registry.metric_lists import advice_for_attribute  # imports all metrics

            advice = advice_for_attribute(name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}{advice}", name=name)
    globals()[name] = getattr(import_module(PLACES[name]), name)
    return globals()[name]
