"""Checks that every metric must pass, for pytest or for a plain loop. Provisional: names and checks may still change.

They need NumPy, and pyarrow where `evaluate` needs it; no pytest. A failing check raises AssertionError, which names
the metric or function, the check, and both values. Nothing in the package imports this folder; it stands above the
engine. Read `metric_checks.py` first: what the engine promises of a registered metric. `function_checks.py` has the
promises of a public function, `sample_logs.py` the data.

Examples
--------
>>> from fastmetrics.testing import check_metric, function_checks, metric_checks
>>> check_metric("ctr")[0].promise
'The same rows in another order give the same report'
>>> [name for name, check in metric_checks("ctr")][:3]
['row_order', 'threads', 'batches']
"""

from fastmetrics._core.suggestions import list_public
from fastmetrics.testing.function_checks import check_function, function_checks
from fastmetrics.testing.metric_checks import check_metric, metric_checks

__all__ = ["check_function", "check_metric", "function_checks", "metric_checks"]
__dir__ = list_public(globals())
