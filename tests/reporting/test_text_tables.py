"""Tables of text: aligned columns, marks of the best values, Markdown, CSV; numbers as text."""

import csv
import math

from fastmetrics.reporting.number_formats import (
    counted,
    format_coverage_value,
    format_fixed,
    format_log_pvalue,
    format_megabytes,
    format_pvalue,
    format_row_rate,
)
from fastmetrics.reporting.tables import BEST, ShownColumn, Table, name_and_number_columns
from fastmetrics.reporting.text_tables import aligned_lines, csv_text, markdown_lines, padded_columns, table_lines
from support.cases import each_case

TABLE = Table(
    name_and_number_columns(["system"], ["BLEU", "n"]),
    [["a|b", "1.5", "12"], ["c", "22.25", "3"]],
    emphasis={(1, 1): BEST},
)


def test_columns_are_aligned_left_or_right():
    rows = [["name", "x", "note"], ["a", "10", "b"]]
    assert aligned_lines(rows, left=(0, 2)) == ["name   x  note", "a     10  b"]
    assert aligned_lines(rows, left=()) == ["name   x  note", "   a  10     b"]
    assert padded_columns([["a"]], left=(0,), min_width=3) == [["a  "]]
    assert aligned_lines([]) == []


def test_plain_lines_have_stars():
    assert table_lines(TABLE) == ["system    BLEU   n", "a|b       1.5   12", "c       22.25*   3"]


def test_markdown_escapes_bars_and_has_bold_values():
    assert list(markdown_lines(TABLE)) == [
        "| system |      BLEU |   n |",
        "| ------ | --------: | --: |",
        "| a\\|b   |       1.5 |  12 |",
        "| c      | **22.25** |   3 |",
    ]


def test_csv_has_the_cells_without_marks():
    table = Table(name_and_number_columns(["a"], ["b"]), [['x,"y"', "1"]], emphasis={(0, 1): BEST})
    assert list(csv.reader(csv_text(table).splitlines())) == [["a", "b"], ['x,"y"', "1"]]
    assert csv_text(table).endswith("\n")


def test_every_kind_of_column():
    kinds = ["name", "count", "value", "detail", "number", "note"]
    rows = [["a", 1200, 0.25, "[0, 1]", "7", "odd"], ["bb", 3, 12.5, "", "10", None], ["c", None, math.nan, "", "", ""]]
    table = Table([ShownColumn(kind, kind, 3) for kind in kinds], rows)
    assert table_lines(table) == [
        "name  count  value      detail  number  note",
        "a     1,200   0.2       [0, 1]       7  odd",
        "bb        3  12.5                   10",
        "c            undefined",
    ]
    assert list(markdown_lines(table))[1:3] == [
        "| ---- | ----: | --------: | ------ | -----: | ---- |",
        "| a    | 1,200 |       0.2 | [0, 1] |      7 | odd  |",
    ]
    assert table.first_rows(1).rows == rows[:1]


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


@each_case(
    ("value", "logarithm", "text"),
    [(0.0123456, None, "0.0123"), (1e-300, None, "1e-300"), (5e-324, None, "4.94e-324"), (0.0, -1000.0, "5.1e-435"),
     (0.0, -math.inf, "below 1e-323"), (math.nan, math.nan, "")],
)  # fmt: skip
def test_no_p_value_is_shown_as_zero(value, logarithm, text):
    assert format_log_pvalue(value, math.log(value) if logarithm is None else logarithm) == text
    assert format_pvalue(value) == ("below 1e-323" if value == 0 else text)
