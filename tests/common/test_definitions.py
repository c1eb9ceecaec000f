"""Functions against their definitions: tests/oracles/<family>/<metric>.py stands for metrics/<family>/<metric>.py.

A definition has the name and the arguments of the public function, without n_threads and without the options that it
leaves out. A new metric needs no line here.
"""

import importlib
import inspect
import math
import warnings
from importlib.util import find_spec

import numpy as np
import pytest

import fastmetrics as fm
from fastmetrics.testing.sample_logs import click_log
from oracles.sums import rounded
from support.function_cases import FUNCTIONS

POWERS_OF_TWO = [0.0, 0.25, 1.0, 1.0, 2.0, 4.0]  # a product with such a weight is exact


def definition_of(function):
    """The function of the same name in the oracle of its module; None if there is no such file or name."""
    *_, family, module = function.__module__.split(".")
    name = f"oracles.{family}.{module}"
    is_there = find_spec(f"oracles.{family}") is not None and find_spec(name) is not None
    return getattr(importlib.import_module(name), function.__name__, None) if is_there else None


DEFINITIONS = {
    name: found
    for name, case in FUNCTIONS.items()
    if case.returns is float and (found := definition_of(inspect.unwrap(case.function))) is not None
}


def small_logs(weighted):
    """Few rows with many ties, in both types; some logs have one class."""
    for rows in (1, 2, 3, 5, 8, 13, 40):
        for seed in range(6):
            dtype, levels = ("float64", "float32")[seed % 2], (3, 1000, 1000)[seed % 3]
            log = click_log(rows, users=4, seed=seed, dtype=dtype, levels=levels)
            if weighted:
                log["weight"] = np.random.default_rng(seed).choice(POWERS_OF_TWO, rows)
                log["weight"][0] = 1.0
            yield log


def test_definitions_are_found():
    assert {"copc", "pcoc"} <= DEFINITIONS.keys()


@pytest.mark.parametrize("name", DEFINITIONS)
def test_definition(name):
    """The same bits: exact results are rounded once."""
    case, definition = FUNCTIONS[name], DEFINITIONS[name]
    known = inspect.signature(definition).parameters
    logs = [*small_logs(False), *(small_logs(True) if "sample_weight" in known else [])]
    for options in case.options:
        for log in logs if options.keys() <= known.keys() else []:
            columns = [log[column].tolist() for column in case.columns.values()]
            weights = {"sample_weight": log["weight"].tolist()} if "weight" in log else {}
            expected = definition(*columns, **options, **weights)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                value = case.call(log, **options)
            if expected is None:
                assert math.isnan(value), (log, options)
                assert [warning.category for warning in caught] == [fm.UndefinedMetricWarning]
            else:
                assert value == rounded(expected), (log, options)
