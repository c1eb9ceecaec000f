"""Labels beyond 64 bits, and beside floats, stay what they are."""

from decimal import Decimal

import numpy as np
import pyarrow as pa

import fastmetrics as fm
from support.cases import each_case

CODES = [0, 0, 1, 1, 2, 2]
LABELS = {
    "beside a float": [2**53 + 1, 2**53, 1.0],
    "int64 and uint64": [2**63 + 1, 2**63 + 2, -5],
    "22 digits": [10**21, 10**21 + 1, -5],
    "booleans and integers": [True, 2, 3],
}


@each_case("labels", LABELS.values(), ids=LABELS.keys())
@each_case("container", [list, tuple, lambda values: np.fromiter(values, object, len(values))])
def test_every_number_is_a_label_of_its_own(container, labels):
    column = container([label for label in labels for _ in range(2)])
    for function in (fm.adjusted_rand_score, fm.v_measure_score, fm.purity_score):
        assert function(column, CODES) == function(CODES, column) == function(column, column) == 1.0
    first, second, third = labels
    other = container([first, first, first, second, third, third])
    assert fm.accuracy_score(column, other) == 5 / 6
    expected = fm.confusion_matrix([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 2, 2])
    order = [sorted(labels).index(label) for label in labels]
    assert fm.confusion_matrix(column, other)[np.ix_(order, order)].tolist() == expected.tolist()
    assert fm.adjusted_rand_score(column, other) == fm.adjusted_rand_score([0, 0, 1, 1, 2, 2], [0, 0, 0, 1, 2, 2])


@each_case("numbers", [[10**50, 10**50 + 1, 1], [2**63, 2**63 + 1, -1], [1, 2, 3]])
@each_case("is_coded", [False, True])
def test_decimals_of_arrow_are_labels(numbers, is_coded):
    codes = [0, 0, 1, 1, 2, 2]
    column = pa.array([Decimal(numbers[code]) for code in codes], pa.decimal256(60, 0))
    column = column.dictionary_encode() if is_coded else column
    assert fm.rand_score(codes, column) == fm.v_measure_score(column, codes) == 1.0
    assert fm.accuracy_score(column, [numbers[code] for code in codes]) == 1.0
