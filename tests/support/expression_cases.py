"""The truth table of expressions: each with its values over a small table, the same on every engine.

The table has nulls, NaN, zeros of both signs, large integers, decimals, dates, times with and without a zone, and texts
beyond ASCII. docs/expressions.md has the rules behind the values.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from fastmetrics.engine.expressions.arrow_values import compute, value_type
from fastmetrics.engine.expressions.parser import parse_expression
from fastmetrics.engine.expressions.type_check import check_types

NAN = float("nan")


def utc(*numbers):
    return datetime(*numbers, tzinfo=UTC)


TABLE = pa.table({
    "i": pa.array([1, -7, None, 2**62, 0]),
    "k": pa.array([3, 2, 5, None, 0], pa.int16()),
    "x": pa.array([0.5, NAN, None, -0.0, 1e300]),
    "f": pa.array([0.1, 2.5, None, -3.5, 4], pa.float32()),
    "d": pa.array([Decimal("1.10"), Decimal("-2.55"), None, Decimal("0.00"), Decimal("9999.99")], pa.decimal128(6, 2)),
    "s": ["a%b", "Ünï", "İß", None, "12"],
    "w": ["a_b", "b", "a", "z", None],
    "b": [True, False, None, True, False],
    "day": pa.array([date(2026, 11, 1), date(1969, 12, 31), None, date(2026, 2, 28), date(2024, 2, 29)]),
    "ts": pa.array([
        datetime(2026, 11, 1, 12, 34, 56, 789), datetime(1969, 12, 31, 23, 59, 59, 999999), None,
        datetime(2026, 1, 1), datetime(2026, 11, 2),
    ]),
    "z": pa.array(
        [
            utc(2026, 11, 1, 0, 34, 56, 789), utc(1969, 12, 31, 23, 59, 59, 999999), None,
            utc(2026, 3, 29, 1, 30), utc(2026, 11, 2),
        ],
        pa.timestamp("us", "UTC"),
    ),
})  # fmt: skip


def comparable(value):
    """A value that compares equal to itself, whatever class an engine gives it."""
    if isinstance(value, float) and value != value:
        return "NaN"
    return value.astimezone(UTC).replace(tzinfo=None) if isinstance(value, datetime) and value.tzinfo else value


ZONES = ("Europe/Berlin", "America/New_York", "Asia/Tokyo", "Australia/Lord_Howe", "UTC")
# Days of 2026 on which a clock changes: New York, Berlin, Lord Howe (by half an hour), and back.
CHANGES = [
    datetime(2026, month, day) for month, day in ((3, 8), (3, 29), (4, 5), (10, 4), (10, 25), (11, 1), (7, 1))
]  # fmt: skip
TIMES = [day + timedelta(minutes=15 * step) for day in CHANGES for step in range(-100, 200)]
OLD_TIMES = [datetime(1960, 6, 1, 12), datetime(1969, 12, 31, 23, 59, 59, 999999), None]


def times_table(unit):
    """The same clock times without a zone and as instants in UTC."""
    times = [time if time is None or unit == "us" else time.replace(microsecond=0) for time in TIMES + OLD_TIMES]
    return pa.table({
        "ts": pa.array(times, pa.timestamp(unit)),
        "z": pa.array([time and time.replace(tzinfo=UTC) for time in times], pa.timestamp(unit, "America/New_York")),
    })  # fmt: skip


# fmt: off
TRUTH_TABLE = [
    ("i + 1", [2, -6, None, 4611686018427387905, 1]),
    ("i - k", [-2, -9, None, None, 0]),
    ("i * k", [3, -14, None, None, 0]),
    ("i * 2.5", [2.5, -17.5, None, 1.152921504606847e+19, 0.0]),
    ("i / 2", [0.5, -3.5, None, 2.305843009213694e+18, 0.0]),
    ("i / k", [0.3333333333333333, -3.5, None, None, None]),
    ("i // 2", [0, -3, None, 2305843009213693952, 0]),
    ("i // k", [0, -3, None, None, None]),
    ("k div 2", [1, 1, 2, None, 0]),
    ("i % 3", [1, -1, None, 1, 0]),
    ("i % k", [1, -1, None, None, None]),
    ("mod(-7, 3)", [-1, -1, -1, -1, -1]),
    ("-i", [-1, 7, None, -4611686018427387904, 0]),
    ("abs(i)", [1, 7, None, 4611686018427387904, 0]),
    ("x / 0", [None, None, None, None, None]),
    ("x / x", [1.0, NAN, None, None, 1.0]),
    ("1 / x", [2.0, NAN, None, None, 1e-300]),
    ("x % 2", [0.5, NAN, None, -0.0, 0.0]),
    ("f * f", [0.010000000298023226, 6.25, None, 12.25, 16.0]),
    ("f + 1", [1.1000000014901161, 3.5, None, -2.5, 5.0]),
    ("x * f", [0.05000000074505806, NAN, None, 0.0, 4e+300]),
    ("i > 0", [True, False, None, True, False]),
    ("i >= 1", [True, False, None, True, False]),
    ("i <> -7", [True, False, None, True, True]),
    ("i != 0.5", [True, True, None, True, True]),
    ("i = 0.5", [False, False, None, False, False]),
    ("i > 0.5", [True, False, None, True, False]),
    ("i < 1e300", [True, True, None, True, True]),
    ("i <= 4611686018427387903.5", [True, True, None, False, True]),
    ("i = 4611686018427387904.0", [False, False, None, True, False]),
    ("x > 0.4", [True, True, None, False, True]),
    ("x = x", [True, True, None, True, True]),
    ("x <> x", [False, False, None, False, False]),
    ("x < 1", [True, False, None, True, False]),
    ("x <= x", [True, True, None, True, True]),
    ("x = 0", [False, False, None, True, False]),
    ("0.0 = x", [False, False, None, True, False]),
    ("x > i", [False, True, None, False, True]),
    ("i = x", [False, False, None, False, False]),
    ("x <= i", [True, False, None, True, False]),
    ("f > 2.5", [False, False, None, False, True]),
    ("f = 0.1", [False, False, None, False, False]),
    ("d + 1", [Decimal("2.10"), Decimal("-1.55"), None, Decimal("1.00"), Decimal("10000.99")]),
    ("d - d", [Decimal("0.00"), Decimal("0.00"), None, Decimal("0.00"), Decimal("0.00")]),
    ("d * d", [Decimal("1.2100"), Decimal("6.5025"), None, Decimal("0.0000"), Decimal("99999800.0001")]),
    ("d * 0.5", [Decimal("0.550"), Decimal("-1.275"), None, Decimal("0.000"), Decimal("4999.995")]),
    ("d * i", [Decimal("1.10"), Decimal("17.85"), None, Decimal("0.00"), Decimal("0.00")]),
    ("d / 2", [0.55, -1.275, None, 0.0, 4999.995]),
    ("d > 1.1", [False, False, None, False, True]),
    ("d = -2.55", [False, True, None, False, False]),
    ("d >= 0", [True, False, None, True, True]),
    ("d < x", [False, True, None, False, True]),
    ("d in (1.1, 0)", [True, False, None, True, False]),
    ("-d", [Decimal("-1.10"), Decimal("2.55"), None, Decimal("0.00"), Decimal("-9999.99")]),
    ("abs(d)", [Decimal("1.10"), Decimal("2.55"), None, Decimal("0.00"), Decimal("9999.99")]),
    ("s like 'a!%%' escape '!'", [True, False, False, None, False]),
    ("s like 'a%'", [True, False, False, None, False]),
    ("s like '%2'", [False, False, False, None, True]),
    ("s like '_n_'", [False, True, False, None, False]),
    ("w like 'a!_b' escape '!'", [True, False, False, False, None]),
    ("w like '%_%'", [True, True, True, True, None]),
    ("w not like 'a%'", [False, True, False, True, None]),
    ("s like ''", [False, False, False, None, False]),
    ("s = 'Ünï'", [False, True, False, None, False]),
    ("s < w", [True, False, False, None, None]),
    ("w >= 'b'", [False, True, False, True, None]),
    ("w between 'a' and 'b'", [True, True, True, False, None]),
    ("s in ('12', 'İß')", [False, False, True, None, True]),
    ("s not in ('12')", [True, True, True, None, False]),
    ("w in ('a', null)", [None, None, True, None, None]),
    ("lower(s)", ["a%b", "ünï", "i̇ß", None, "12"]),
    ("upper(s)", ["A%B", "ÜNÏ", "İSS", None, "12"]),
    ("length(s)", [3, 3, 2, None, 2]),
    ("s || 'x'", ["a%bx", "Ünïx", "İßx", None, "12x"]),
    ("concat(w, '-', s)", ["a_b-a%b", "b-Ünï", "a-İß", None, None]),
    ("substr(s, 2)", ["%b", "nï", "ß", None, "2"]),
    ("substring(s, 1, 2)", ["a%", "Ün", "İß", None, "12"]),
    ("substr(s, 5)", ["", "", "", None, ""]),
    ("b and i > 0", [True, False, None, True, False]),
    ("b or x > 0", [True, True, None, True, True]),
    ("not b", [False, True, None, False, True]),
    ("b = 1", [True, False, None, True, False]),
    ("b <> true", [False, True, None, False, True]),
    ("b is true", [True, False, False, True, False]),
    ("b is not false", [True, False, True, True, False]),
    ("b is null", [False, False, True, False, False]),
    ("i is not null", [True, True, False, True, True]),
    ("null and b", [None, False, None, None, False]),
    ("null or b", [True, None, None, True, None]),
    ("i in (1, -7)", [True, True, None, False, False]),
    ("i in (1, null)", [True, None, None, None, None]),
    ("i not in (1, 2)", [False, True, None, True, True]),
    ("x in (0, 1e300)", [False, False, None, True, True]),
    ("k in (i, 3)", [True, False, None, None, True]),
    ("i between 0 and 1.5", [True, False, None, False, True]),
    ("i not between 0 and 1", [False, True, None, True, False]),
    ("x between 0 and i", [True, False, None, True, False]),
    ("i is distinct from 1", [False, True, True, True, True]),
    ("i is not distinct from k", [False, False, False, False, True]),
    ("k is distinct from null", [True, True, True, False, True]),
    ("case when i > 0 then 'p' when i < 0 then 'n' else 'z' end", ["p", "n", "z", "p", "z"]),
    ("case k when 3 then 1 when 2 then 2 end", [1, 2, None, None, None]),
    ("case when k > 0 then 10 // k else -1 end", [3, 5, 2, -1, -1]),
    ("if(b, i, k)", [1, 2, 5, 4611686018427387904, 0]),
    ("coalesce(i, k, 7)", [1, -7, 5, 4611686018427387904, 0]),
    ("coalesce(x, 1)", [0.5, NAN, 1.0, -0.0, 1e+300]),
    ("nullif(k, 2)", [3, None, 5, None, 0]),
    ("greatest(i, k)", [3, 2, 5, 4611686018427387904, 0]),
    ("least(i, k)", [1, -7, 5, 4611686018427387904, 0]),
    ("greatest(x, 1)", [1.0, NAN, 1.0, 1.0, 1e+300]),
    ("least(x, f)", [0.10000000149011612, 2.5, None, -3.5, 4.0]),
    ("least(w, 'b')", ["a_b", "b", "a", "b", "b"]),
    (
        "greatest(day, '2025-01-01')",
        [date(2026, 11, 1), date(2025, 1, 1), date(2025, 1, 1), date(2026, 2, 28), date(2025, 1, 1)],
    ),
    ("round(x)", [1.0, NAN, None, -0.0, 1e+300]),
    ("round(f)", [0.0, 3.0, None, -4.0, 4.0]),
    ("round(f, 1)", [0.1, 2.5, None, -3.5, 4.0]),
    ("round(x * 0.25, 1)", [0.1, NAN, None, -0.0, 2.5e+299]),
    ("floor(f)", [0.0, 2.0, None, -4.0, 4.0]),
    ("ceil(f)", [1.0, 3.0, None, -3.0, 4.0]),
    ("floor(x)", [0.0, NAN, None, -0.0, 1e+300]),
    ("ceiling(-x)", [-0.0, NAN, None, 0.0, -1e+300]),
    ("round(i)", [1, -7, None, 4611686018427387904, 0]),
    ("sqrt(f)", [0.3162277683729184, 1.5811388300841898, None, None, 2.0]),
    ("ln(x - x + 1)", [0.0, NAN, None, 0.0, 0.0]),
    ("ln(k - 3)", [None, None, 0.6931471805599453, None, None]),
    ("exp(k * 0)", [1.0, 1.0, 1.0, None, 1.0]),
    ("power(f, 2)", [0.010000000298023226, 6.25, None, 12.25, 16.0]),
    ("power(k, 0.5) is null", [False, False, False, True, False]),
    ("day >= '2026-01-01'", [True, False, None, True, False]),
    ("day = '2026-11-01'", [True, False, None, False, False]),
    ("day > date '2026-02-28' - interval 1 day", [True, False, None, True, False]),
    ("day between '2024-01-01' and '2026-03-01'", [False, False, None, True, True]),
    ("day in ('2026-11-01', '2024-02-29')", [True, False, None, False, True]),
    ("ts >= '2026-11-01'", [True, False, None, False, True]),
    ("ts < '2026-11-01 12:34:57'", [True, True, None, True, False]),
    ("ts >= day", [True, True, None, False, True]),
    ("ts = '1969-12-31 23:59:59.999999'", [False, True, None, False, False]),
    ("z >= '2026-11-01'", [True, False, None, False, True]),
    ("z < '2026-11-01 02:00+02:00'", [False, True, None, True, False]),
    ("z = timestamptz '2026-11-02'", [False, False, None, False, True]),
    (
        "date_trunc('year', ts)",
        [datetime(2026, 1, 1), datetime(1969, 1, 1), None, datetime(2026, 1, 1), datetime(2026, 1, 1)],
    ),
    (
        "date_trunc('quarter', ts)",
        [datetime(2026, 10, 1), datetime(1969, 10, 1), None, datetime(2026, 1, 1), datetime(2026, 10, 1)],
    ),
    (
        "date_trunc('month', ts)",
        [datetime(2026, 11, 1), datetime(1969, 12, 1), None, datetime(2026, 1, 1), datetime(2026, 11, 1)],
    ),
    (
        "date_trunc('week', ts)",
        [datetime(2026, 10, 26), datetime(1969, 12, 29), None, datetime(2025, 12, 29), datetime(2026, 11, 2)],
    ),
    (
        "date_trunc('day', ts)",
        [datetime(2026, 11, 1), datetime(1969, 12, 31), None, datetime(2026, 1, 1), datetime(2026, 11, 2)],
    ),
    (
        "date_trunc('hour', ts)",
        [datetime(2026, 11, 1, 12), datetime(1969, 12, 31, 23), None, datetime(2026, 1, 1), datetime(2026, 11, 2)],
    ),
    (
        "date_trunc('minute', ts)",
        [
            datetime(2026, 11, 1, 12, 34),
            datetime(1969, 12, 31, 23, 59),
            None,
            datetime(2026, 1, 1),
            datetime(2026, 11, 2),
        ],
    ),
    (
        "date_trunc('second', ts)",
        [
            datetime(2026, 11, 1, 12, 34, 56),
            datetime(1969, 12, 31, 23, 59, 59),
            None,
            datetime(2026, 1, 1),
            datetime(2026, 11, 2),
        ],
    ),
    ("date_trunc('year', z)", [utc(2026, 1, 1), utc(1969, 1, 1), None, utc(2026, 1, 1), utc(2026, 1, 1)]),
    ("date_trunc('month', z)", [utc(2026, 11, 1), utc(1969, 12, 1), None, utc(2026, 3, 1), utc(2026, 11, 1)]),
    ("date_trunc('week', z)", [utc(2026, 10, 26), utc(1969, 12, 29), None, utc(2026, 3, 23), utc(2026, 11, 2)]),
    ("date_trunc('day', z)", [utc(2026, 11, 1), utc(1969, 12, 31), None, utc(2026, 3, 29), utc(2026, 11, 2)]),
    ("date_trunc('hour', z)", [utc(2026, 11, 1), utc(1969, 12, 31, 23), None, utc(2026, 3, 29, 1), utc(2026, 11, 2)]),
    (
        "date_trunc('second', z)",
        [utc(2026, 11, 1, 0, 34, 56), utc(1969, 12, 31, 23, 59, 59), None, utc(2026, 3, 29, 1, 30), utc(2026, 11, 2)],
    ),
    ("date_trunc('quarter', day)", [date(2026, 10, 1), date(1969, 10, 1), None, date(2026, 1, 1), date(2024, 1, 1)]),
    ("date_trunc('month', day)", [date(2026, 11, 1), date(1969, 12, 1), None, date(2026, 2, 1), date(2024, 2, 1)]),
    ("date_trunc('week', day)", [date(2026, 10, 26), date(1969, 12, 29), None, date(2026, 2, 23), date(2024, 2, 26)]),
    ("extract(year from day)", [2026, 1969, None, 2026, 2024]),
    ("extract(quarter from ts)", [4, 4, None, 1, 4]),
    ("extract(month from z)", [11, 12, None, 3, 11]),
    ("extract(week from day)", [44, 1, None, 9, 9]),
    ("extract(day from ts)", [1, 31, None, 1, 2]),
    ("extract(dow from day)", [0, 3, None, 6, 4]),
    ("extract(isodow from z)", [7, 3, None, 7, 1]),
    ("extract(doy from day)", [305, 365, None, 59, 60]),
    ("extract(hour from ts)", [12, 23, None, 0, 0]),
    ("extract(hour from z)", [0, 23, None, 1, 0]),
    ("extract(minute from z)", [34, 59, None, 30, 0]),
    ("extract(second from ts)", [56, 59, None, 0, 0]),
    ("extract(second from z)", [56, 59, None, 0, 0]),
    ("extract(epoch from ts)", [1793536496.000789, -1e-06, None, 1767225600.0, 1793577600.0]),
    ("extract(epoch from z)", [1793493296.000789, -1e-06, None, 1774747800.0, 1793577600.0]),
    ("extract(epoch from day)", [1793491200.0, -86400.0, None, 1772236800.0, 1709164800.0]),
    ("year(day)", [2026, 1969, None, 2026, 2024]),
    ("hour(ts)", [12, 23, None, 0, 0]),
    (
        "ts + interval '1' day",
        [
            datetime(2026, 11, 2, 12, 34, 56, 789),
            datetime(1970, 1, 1, 23, 59, 59, 999999),
            None,
            datetime(2026, 1, 2),
            datetime(2026, 11, 3),
        ],
    ),
    (
        "ts - interval 90 minute",
        [
            datetime(2026, 11, 1, 11, 4, 56, 789),
            datetime(1969, 12, 31, 22, 29, 59, 999999),
            None,
            datetime(2025, 12, 31, 22, 30),
            datetime(2026, 11, 1, 22, 30),
        ],
    ),
    (
        "z + interval 1 day",
        [
            utc(2026, 11, 2, 0, 34, 56, 789),
            utc(1970, 1, 1, 23, 59, 59, 999999),
            None,
            utc(2026, 3, 30, 1, 30),
            utc(2026, 11, 3),
        ],
    ),
    (
        "z - interval 1 week",
        [
            utc(2026, 10, 25, 0, 34, 56, 789),
            utc(1969, 12, 24, 23, 59, 59, 999999),
            None,
            utc(2026, 3, 22, 1, 30),
            utc(2026, 10, 26),
        ],
    ),
    ("day + interval 1 week", [date(2026, 11, 8), date(1970, 1, 7), None, date(2026, 3, 7), date(2024, 3, 7)]),
    ("day - interval 1 day", [date(2026, 10, 31), date(1969, 12, 30), None, date(2026, 2, 27), date(2024, 2, 28)]),
    (
        "day + interval 6 hour",
        [datetime(2026, 11, 1, 6), datetime(1969, 12, 31, 6), None, datetime(2026, 2, 28, 6), datetime(2024, 2, 29, 6)],
    ),
    ("try_cast(s as int)", [None, None, None, None, 12]),
    ("try_cast(s as double)", [None, None, None, None, 12.0]),
    ("try_cast(s as decimal(3, 1))", [None, None, None, None, Decimal("12.0")]),
    ("try_cast(w as date)", [None, None, None, None, None]),
    ("cast(i as text)", ["1", "-7", None, "4611686018427387904", "0"]),
    ("cast(b as int)", [1, 0, None, 1, 0]),
    ("cast(b as text)", ["true", "false", None, "true", "false"]),
    ("cast(k as boolean)", [True, True, True, None, False]),
    ("cast(k as double)", [3.0, 2.0, 5.0, None, 0.0]),
    ("cast(k as decimal(4, 1))", [Decimal("3.0"), Decimal("2.0"), Decimal("5.0"), None, Decimal("0.0")]),
    ("cast(d as double)", [1.1, -2.55, None, 0.0, 9999.99]),
    ("cast(d as int)", [1, -2, None, 0, 9999]),
    ("cast(d as decimal(6, 1))", [Decimal("1.1"), Decimal("-2.6"), None, Decimal("0.0"), Decimal("10000.0")]),
    ("try_cast(d as decimal(3, 1))", [Decimal("1.1"), Decimal("-2.6"), None, Decimal("0.0"), None]),
    ("try_cast(x as int)", [0, None, None, 0, None]),
    ("try_cast(f as tinyint)", [0, 2, None, -3, 4]),
    ("try_cast(i as smallint)", [1, -7, None, None, 0]),
    ("cast(day as text)", ["2026-11-01", "1969-12-31", None, "2026-02-28", "2024-02-29"]),
    (
        "cast(day as timestamp)",
        [datetime(2026, 11, 1), datetime(1969, 12, 31), None, datetime(2026, 2, 28), datetime(2024, 2, 29)],
    ),
    ("cast(ts as date)", [date(2026, 11, 1), date(1969, 12, 31), None, date(2026, 1, 1), date(2026, 11, 2)]),
    ("cast(z as date)", [date(2026, 11, 1), date(1969, 12, 31), None, date(2026, 3, 29), date(2026, 11, 2)]),
    (
        "cast(ts as timestamptz)",
        [
            utc(2026, 11, 1, 12, 34, 56, 789),
            utc(1969, 12, 31, 23, 59, 59, 999999),
            None,
            utc(2026, 1, 1),
            utc(2026, 11, 2),
        ],
    ),
    (
        "cast(z as timestamp)",
        [
            datetime(2026, 11, 1, 0, 34, 56, 789),
            datetime(1969, 12, 31, 23, 59, 59, 999999),
            None,
            datetime(2026, 3, 29, 1, 30),
            datetime(2026, 11, 2),
        ],
    ),
    ("cast(day as timestamptz)", [utc(2026, 11, 1), utc(1969, 12, 31), None, utc(2026, 2, 28), utc(2024, 2, 29)]),
    ("cast('2026-11-01' as date) <= day", [True, False, None, False, False]),
    ("cast(null as int) is null", [True, True, True, True, True]),
    ("case when k <> 0 then i // k end", [0, -3, None, None, None]),
    ("k <> 0 and i // k > 0", [False, False, None, None, False]),
    ("case when s = '12' then cast(s as int) else 0 end", [0, 0, 0, 0, 12]),
    ("s = '12' and cast(s as int) = 12", [False, False, False, None, True]),
    ("s <> '12' or cast(s as int) = 12", [True, True, True, None, True]),
    ("coalesce(k, cast(s as int))", [3, 2, 5, None, 0]),
    ("d in (1.1, 2.0) and b", [True, False, None, False, False]),
    ("try_cast(d as decimal(3, 1)) is null", [False, False, True, False, True]),
    ("i = 9007199254740993", [False, False, None, False, False]),
    ("cast(i as double) = i", [True, True, None, True, True]),
    ("x = 4611686018427387904", [False, False, None, False, False]),
    ("cast('9007199254740993' as bigint) > 9007199254740992.0", [True, True, True, True, True]),
    ("'9007199254740993'::bigint = 9007199254740992.0", [False, False, False, False, False]),
    ("cast(k as double) <= i", [False, False, None, None, True]),
    ("cast(4611686018427387905 - k * 0 as double) = 4611686018427387905 - k * 0", [False, False, False, None, False]),
    ("cast(9223372036854775807 - k * 0 as double) > 9223372036854775807 - k * 0", [True, True, True, None, True]),
]
# fmt: on


def values_of(text, table=TABLE):
    """The typed value of an expression, and what pyarrow computes for the rows of a table."""
    value = check_types(parse_expression(text), lambda name: value_type(table.schema.field(name).type))
    return value, compute(value, {name: table[name].combine_chunks() for name in table.column_names}, len(table))
