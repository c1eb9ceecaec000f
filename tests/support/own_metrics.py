"""Metrics that a test registers, and the worked examples in examples/extend/: they are forgotten after the test."""

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType

import pytest

from fastmetrics._core import registry

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "extend"


@contextmanager
def same_registry() -> Iterator[None]:
    """What is registered inside is forgotten at the end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(registry, "_specs", dict(registry.known_specs()))
        patch.setattr(registry, "_spec_of_spelling", dict(registry._spec_of_spelling))
        yield


def load_example(name: str) -> ModuleType:
    """A worked example, registered anew, under the name by which a caller in the root of the checkout imports it."""
    module_name = f"examples.extend.{name}"
    spec = importlib.util.spec_from_file_location(module_name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    spec.loader.exec_module(module)
    return module
