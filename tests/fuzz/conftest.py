"""Tests with the marker `fuzz` run only where `-m` names it."""

import pytest


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "fuzz" in config.option.markexpr:
        return
    left_out = [item for item in items if item.get_closest_marker("fuzz")]
    items[:] = [item for item in items if item not in left_out]
    config.hook.pytest_deselected(items=left_out)
