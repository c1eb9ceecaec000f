"""The worked examples are registered for the tests of this folder, and forgotten afterwards."""

import pytest

from support.extend.worked_examples import EXAMPLES, NAMES, load_example
from support.registry_cases import own_metrics


@pytest.fixture(autouse=True, scope="module")
def worked_examples():
    """The modules of the examples, by name."""
    if not EXAMPLES.is_dir():
        pytest.skip("no examples beside the tests")
    with own_metrics():
        yield {name: load_example(name) for name in NAMES}


@pytest.fixture(autouse=True)
def forget_metrics(worked_examples):
    """Metrics that a test registers are forgotten after it."""
    with own_metrics():
        yield
