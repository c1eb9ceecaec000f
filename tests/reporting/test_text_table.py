"""Tables of text: aligned columns, marks of the best values, Markdown, CSV; numbers as text."""

import csv
import math

from fastmetrics.reporting.number_formats import (
    counted,
    format_coverage_value,
    format_fixed,
    format_megabytes,
    format_row_rate,
)
from fastmetrics.reporting.text_table import TextTable, aligned_lines, padded_columns
from support.cases import each_case

TABLE = TextTable(["system", "BLEU", "n"], [["a|b", "1.5", "12"], ["c", "22.25", "3"]], 2, {(1, 1)})


def test_columns_are_aligned_left_or_right():
    rows = [["name", "x", "note"], ["a", "10", "b"]]
    assert aligned_lines(rows, left=(0, 2)) == ["name   x  note", "a     10  b"]
    assert aligned_lines(rows, left=()) == ["name   x  note", "   a  10     b"]
    assert padded_columns([["a"]], left=(0,), min_width=3) == [["a  "]]
    assert aligned_lines([]) == []


def test_plain_lines_have_stars():
    assert list(TABLE.plain_lines()) == ["system    BLEU   n", "a|b       1.5   12", "c       22.25*   3"]


def test_markdown_escapes_bars_and_has_bold_values():
    assert list(TABLE.markdown_lines()) == [
        "| system |      BLEU |   n |",
        "| ------ | --------: | --: |",
        "| a\\|b   |       1.5 |  12 |",
        "| c      | **22.25** |   3 |",
    ]


def test_csv_has_the_cells_without_marks():
    table = TextTable(["a", "b"], [['x,"y"', "1"]], 1, {(0, 1)})
    assert list(csv.reader(table.csv().splitlines())) == [["a", "b"], ['x,"y"', "1"]]
    assert table.csv().endswith("\n")


@each_case(
    ("value", "digits", "text"),
    [
        (0.125, 2, "0.12"), (0.1, None, "0.1"), (3, 2, "3"), ("as it is", 2, "as it is"), (math.nan, 2, "–"),
        (math.nan, None, "–"),
    ],
)  # fmt: skip
def test_fixed_decimals(value, digits, text):
    assert format_fixed(value, digits, undefined="–") == text


@each_case(
    ("value", "text"),
    [
        (12345, "12,345"), (283.83057, "283.8"), (123_456.789, "123,456.8"), (1 / 3, "0.3333"), ("text", "text"),
        ({"x": 2000}, "(x: 2,000)"),
    ],
)  # fmt: skip
def test_values_of_coverage(value, text):
    assert format_coverage_value(value) == text


def test_counts_sizes_and_rates():
    assert (counted(1, "row"), counted(2000, "row")) == ("1 row", "2,000 rows")
    assert format_megabytes(2_500_000) == "2.5 MB"
    assert [format_row_rate(rows, 2.0) for rows in (10, 62_400_000)] == ["5 rows/s", "31.2M rows/s"]
    assert format_row_rate(10, 0.0) == "0 rows/s"
