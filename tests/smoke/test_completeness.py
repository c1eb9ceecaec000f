"""No public name and no metric is without a case; `test_commands.py` asks the same of commands."""

import pytest

import fastmetrics as fm

from . import (
    test_classification,
    test_clustering,
    test_curves,
    test_detection,
    test_entry_points,
    test_metrics,
    test_probability,
    test_ranking,
    test_regression,
    test_significance,
    test_stated_values,
    test_text,
)

pytestmark = pytest.mark.smoke

FAMILIES = (
    test_classification, test_clustering, test_curves, test_detection, test_entry_points, test_probability,
    test_ranking, test_regression, test_significance, test_text,
)  # fmt: skip


def names_with_a_case():
    cases = {name for family in FAMILIES for name, *_ in [*family.CASES, *getattr(family, "FILE_CASES", [])]}
    return cases | set(test_stated_values.FUNCTIONS)


def metrics_with_a_case():
    return {*test_metrics.NAMES, *test_stated_values.METRICS}


def test_every_public_name_has_a_case():
    missing = sorted(set(fm.__all__) - names_with_a_case())
    assert not missing, f"add CHECKED_VALUES, calls and their values, beside {missing}"


def test_every_metric_has_a_case():
    missing = sorted({spec.name for spec in fm.list_metrics().values()} - metrics_with_a_case())
    assert not missing, f"add CHECKED_VALUES beside the function, or a line to test_metrics.py, for {missing}"


def test_every_case_is_of_a_public_name():
    assert names_with_a_case() <= set(fm.__all__)
    assert metrics_with_a_case() <= {spec.name for spec in fm.list_metrics().values()}
