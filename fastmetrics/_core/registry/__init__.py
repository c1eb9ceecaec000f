"""The one list of metrics, and `Metric`: what a metric string such as "gauc(weight=pairs)" or "ndcg@10" means.

Everything that asks for a metric may import it; it imports only modules of `_core`. Other packages import the names
below from here. Start with `registration.py` (how a metric is registered and found), then read `parsed_metric.py`
(`Metric` and `parse`); `resolver.py` finds the metric that a name means, by the rules of `spellings.py`, or says what
to type; `arguments.py` reads what stands in the parentheses; `metric_lists.py` reads what entry points take as metrics;
`metric_table.py` lists all metrics. `plot_registry.py` is the list of plots.
"""

from fastmetrics._core.registry.arguments import column_roles, may_be_several
from fastmetrics._core.registry.metric_lists import (
    Metrics,
    default_metrics,
    list_metrics_of,
    read_metrics,
    split_metrics,
)
from fastmetrics._core.registry.metric_table import MetricTable, list_metrics
from fastmetrics._core.registry.parsed_metric import Metric, parse
from fastmetrics._core.registry.registration import (
    import_plugin,
    is_own,
    known_specs,
    metric,
    metric_form,
    replace_spec,
)
from fastmetrics._core.registry.resolver import explain_names, find_spec

__all__ = [
    "Metric", "MetricTable", "Metrics", "column_roles", "default_metrics", "explain_names", "find_spec",
    "import_plugin", "is_own", "known_specs", "list_metrics", "list_metrics_of", "may_be_several",
    "metric", "metric_form", "parse", "read_metrics", "replace_spec", "split_metrics",
]  # fmt: skip
