"""Metrics that are not the library's own, on executors.

The driver sends the entries of such metrics by value (cloudpickle), so that executors need not have their modules. If
an entry cannot be sent by value, executors import its module by name.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric, import_plugin, is_own, replace_spec


class Plugins(NamedTuple):
    """The entries of metrics as bytes, and the modules to import if there are none."""

    specs: bytes
    modules: tuple[str, ...]

    def load(self) -> None:
        """Register the metrics, on an executor."""
        if not self.specs:
            for module in self.modules:
                import_plugin(module, "a metric that Spark evaluates")
            return
        for spec in pickle.loads(self.specs):
            replace_spec(spec)


NO_PLUGINS = Plugins(b"", ())


def pack_plugins(metrics: Sequence[Metric]) -> Plugins:
    """The metrics that are not the library's own, for executors."""
    specs = {metric.spec.name: metric.spec for metric in metrics if not is_own(metric.spec.finalise.__module__)}
    if not specs:
        return NO_PLUGINS
    cloudpickle: Any = import_module("pyspark.cloudpickle")
    modules = tuple(dict.fromkeys(spec.finalise.__module__ for spec in specs.values()))
    for name in modules:
        if name != "__main__" and name in sys.modules:
            cloudpickle.register_pickle_by_value(sys.modules[name])
    try:
        return Plugins(cloudpickle.dumps(list(specs.values())), modules)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        if "__main__" in modules:
            names = ", ".join(specs)
            raise TypeError(
                f"metrics {names} cannot be sent to executors ({error}): put them into a module that executors have"
            ) from error
        return Plugins(b"", modules)


def dumps(content: Any, plugins: Plugins) -> bytes:
    """Pickle an outcome; states may be of classes that executors know by value only."""
    if not plugins.specs:
        return pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
    data: bytes = import_module("pyspark.cloudpickle").dumps(content)
    return data
