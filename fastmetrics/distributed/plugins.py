"""Metrics that are not the library's own, on workers.

The driver sends the entries of such metrics by value (cloudpickle), so that workers need not have their modules. If an
entry cannot be sent by value, workers import its module by name.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Sequence
from importlib import import_module
from threading import Lock
from typing import Any

from fastmetrics._core.named_tuples import NamedTuple
from fastmetrics._core.registry import Metric, import_plugin, is_own, known_specs, replace_spec

# What a worker has registered last: its threads run tasks of one question side by side.
REGISTERED: dict[bytes, list[Any]] = {}
REGISTERING = Lock()


class Plugins(NamedTuple):
    """The entries of metrics as bytes, and the modules to import if there are none.

    `cloudpickle` is the name of that module on the engine.
    """

    specs: bytes
    modules: tuple[str, ...]
    cloudpickle: str

    def load(self) -> None:
        """Register the metrics, on a worker."""
        if not self.specs:
            for module in self.modules:
                import_plugin(module, "a metric that a cluster evaluates")
            return
        with REGISTERING:
            known, earlier = known_specs(), REGISTERED.get(self.specs)
            if earlier is not None and all(known.get(spec.name) is spec for spec in earlier):
                return
            REGISTERED.clear()
            REGISTERED[self.specs] = pickle.loads(self.specs)
            for spec in REGISTERED[self.specs]:
                replace_spec(spec)

    def dumps(self, content: Any) -> bytes:
        """Pickle what goes to workers or comes from them; states may be of classes that they know by value only."""
        if not self.specs:
            return pickle.dumps(content, pickle.HIGHEST_PROTOCOL)
        data: bytes = import_module(self.cloudpickle).dumps(content)
        return data


def pack_plugins(metrics: Sequence[Metric], cloudpickle: str) -> Plugins:
    """The metrics that are not the library's own, for workers."""
    specs = {metric.spec.name: metric.spec for metric in metrics if not is_own(metric.spec.finalize.__module__)}
    if not specs:
        return Plugins(b"", (), cloudpickle)
    by_value: Any = import_module(cloudpickle)
    modules = tuple(dict.fromkeys(spec.finalize.__module__ for spec in specs.values()))
    for name in modules:
        if name != "__main__" and name in sys.modules:
            by_value.register_pickle_by_value(sys.modules[name])
    try:
        return Plugins(by_value.dumps(list(specs.values())), modules, cloudpickle)
    except (pickle.PicklingError, TypeError, AttributeError) as error:
        if "__main__" in modules:
            names = ", ".join(specs)
            raise TypeError(
                f"metrics {names} cannot be sent to workers ({error}): put them into a module that workers have"
            ) from error
        return Plugins(b"", modules, cloudpickle)
