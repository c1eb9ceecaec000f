"""Metrics of plug-ins on workers whose threads run tasks of one question side by side."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from fastmetrics._core.registry import known_specs, parse
from fastmetrics.distributed import plugins
from support.extend.worked_examples import NAMES, load_example
from support.registry_cases import own_metrics

pytest.importorskip("cloudpickle")


def test_threads_register_the_metrics_of_a_question_once(monkeypatch):
    monkeypatch.setattr(plugins, "REGISTERED", {})
    with own_metrics():
        for name in NAMES:
            load_example(name)
        packed = plugins.pack_plugins([parse(name) for name in NAMES], "cloudpickle")
        with ThreadPoolExecutor(8) as threads:
            for found in [threads.submit(packed.load) for _ in range(200)]:
                found.result()
        registered = [known_specs()[spec.name] for spec in plugins.REGISTERED[packed.specs]]
        packed.load()
        assert all(known_specs()[own.name] is own for own in registered)
        other = plugins.pack_plugins([parse(NAMES[0])], "cloudpickle")
        other.load()
        packed.load()
        assert not any(known_specs()[own.name] is own for own in registered)
