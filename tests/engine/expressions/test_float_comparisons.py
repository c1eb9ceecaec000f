"""Floats beside constants: NaN is greater than every number, and float32 columns are compared exactly."""

import math
import operator

import numpy as np
import pyarrow as pa
import pytest

from fastmetrics.engine.expressions.arrow_values import compute, value_type
from fastmetrics.engine.expressions.parser import parse_expression
from fastmetrics.engine.expressions.type_check import check_types

COMPARISONS = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "<>": operator.ne,
}  # fmt: skip
CONSTANTS = ["0.1", "0.5", "0.0", "-0.1", "1e-320", "-1e-320", "1e300", "-1e300", "3.4028234663852886e38", "16777217.0"]
with np.errstate(over="ignore", under="ignore"):
    NEAR = np.array([float(text) for text in CONSTANTS]).astype(np.float32)
    BESIDE = np.concatenate([NEAR, np.nextafter(NEAR, np.float32(-np.inf)), np.nextafter(NEAR, np.float32(np.inf))])
VALUES = [*BESIDE.astype(float).tolist(), math.nan, math.inf, -math.inf, -0.0, None, 1.0]


def holds(operation, first, second):
    """NULL of NULL; NaN equals NaN and is greater than other values."""
    if first is None or second is None:
        return None
    return COMPARISONS[operation]((math.isnan(first), 0 if math.isnan(first) else first), (False, second))


@pytest.mark.parametrize("type_of_column", [pa.float32(), pa.float64()], ids=str)
def test_comparisons_with_constants(type_of_column):
    turned = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "<>": "<>"}
    column = pa.array(VALUES, type_of_column)
    for values in (column, column.slice(3), column.drop_null()):
        for constant in CONSTANTS:
            for operation in COMPARISONS:
                expected = [holds(operation, value, float(constant)) for value in values.to_pylist()]
                for text in (f"x {operation} {constant}", f"{constant} {turned[operation]} x"):
                    value = check_types(parse_expression(text), lambda name: value_type(type_of_column))
                    assert compute(value, {"x": values}, len(values)).to_pylist() == expected, text


@pytest.mark.parametrize("operation", ["+", "-", "*"])
def test_two_float32_columns(operation):
    """Each value is widened before."""
    random = np.random.default_rng(5)
    first, second = (random.normal(size=1001).astype(np.float32) for _ in range(2))
    first[:3], second[:3] = [np.nan, np.inf, 3e38], [1.0, -np.inf, 3e38]
    value = check_types(parse_expression(f"x {operation} y"), lambda name: value_type(pa.float32()))
    found = compute(value, {"x": pa.array(first).slice(1), "y": pa.array(second).slice(1)}, 1000)
    with np.errstate(invalid="ignore"):
        function = {"+": np.add, "-": np.subtract, "*": np.multiply}[operation]
        wide = function(first.astype(float), second.astype(float))
    np.testing.assert_array_equal(found.to_numpy(), wide[1:])
