"""Keys in dicts, lists and data frames that no integers or floats of Arrow hold: each is a group of its own."""

import datetime
import uuid
from decimal import Decimal

import numpy as np
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.peers import pandas

LABELS, SCORES = [1, 0, 1, 0, 1, 0], [0.4, 0.3, 0.2, 0.1, 0.9, 0.8]
NAMES = {"label": "y", "score": "s"}
KEYS = {
    "int64 and uint64": (2**63 + 1, 2**63 + 2, -1),
    "NumPy's integers": (np.uint64(2**63 + 1), np.uint64(2**63 + 2), np.int64(-1)),
    "22 digits": (10**21 + 1, 10**21 + 2, 5),
    "beside a float": (2**53 + 1, 2**53, 0.5),
    "91 digits": (10**90, 10**90 + 1, 5),
    "decimals and integers": (Decimal("1.5"), 2, 3),
    "integers and booleans": (0, True, 2),
}


def in_pairs(keys):
    return [key for key in keys for _ in range(2)]


def check_groups(log, expected):
    """Each pair of rows is a group, a slice and a unit of its own, and the keys of slices are as expected."""
    assert fm.evaluate(log, ["gauc"], group="g", **NAMES)["gauc"] == 1.0
    slices = [result.slice["g"] for result in fm.evaluate(log, ["ctr"], by="g", **NAMES) if result.slice]
    assert sorted(map(str, slices)) == sorted(map(str, expected))
    report = fm.evaluate(log, ["ctr"], unit="g", ci=0.95, **NAMES)
    codes = {"y": LABELS, "s": SCORES, "g": in_pairs([0, 1, 2])}
    assert report["ctr"] == fm.evaluate(codes, ["ctr"], unit="g", ci=0.95, **NAMES)["ctr"]


@each_case("keys", KEYS.values(), ids=KEYS.keys())
@each_case("container", [list, tuple, lambda keys: np.fromiter(keys, object, len(keys))])
def test_every_number_is_a_key_of_its_own(container, keys):
    log = {"y": LABELS, "s": SCORES, "g": container(in_pairs(keys))}
    assert fm.evaluate(log, ["gauc"], group="g", **NAMES)["gauc"] == 1.0
    slices = [result.slice["g"] for result in fm.evaluate(log, ["ctr"], by="g", **NAMES) if result.slice]
    exact = [Decimal(repr(key) if isinstance(key, float) else str(key)) for key in map(plain, keys)]
    assert {Decimal(str(key)) for key in slices} == set(exact)
    check_groups(log, slices)
    rows = [{"y": y, "s": s, "g": key} for y, s, key in zip(LABELS, SCORES, in_pairs(keys), strict=True)]
    assert fm.evaluate(rows, ["gauc"], group="g", **NAMES)["gauc"] == 1.0
    frame = pandas().DataFrame({"y": LABELS, "s": SCORES, "g": pandas().Series(in_pairs(keys), dtype=object)})
    assert fm.evaluate(frame, ["gauc"], group="g", **NAMES)["gauc"] == 1.0


def plain(key):
    return int(key) if isinstance(key, (bool, np.integer)) else key


def test_periods_and_intervals_are_their_texts():
    periods = pandas().Series(pandas().PeriodIndex(in_pairs(["2026-01", "2026-02", "2026-03"]), freq="M"))
    cuts = pandas().Series(pandas().cut(pandas().Series(in_pairs([1, 2, 3])), [0, 1, 2, 3]))
    for keys in (periods, cuts, periods.astype("category"), cuts.astype(object), periods.astype(object)):
        check_groups(pandas().DataFrame({"y": LABELS, "s": SCORES, "g": keys}), map(str, keys[::2]))
        check_groups({"y": LABELS, "s": SCORES, "g": keys.tolist()}, map(str, keys[::2]))
    missing = cuts.where(cuts.index > 1)
    frame = pandas().DataFrame({"y": LABELS, "s": SCORES, "g": missing})
    slices = [result.slice["g"] for result in fm.evaluate(frame, ["ctr"], by="g", **NAMES) if result.slice]
    assert set(slices) == {"(1, 2]", "(2, 3]", None}


def test_uuids_are_keys():
    log = {"y": LABELS, "s": SCORES, "g": in_pairs(uuid.UUID(int=number) for number in (2**100, 2**100 + 1, 3))}
    assert fm.evaluate(log, ["gauc"], group="g", **NAMES)["gauc"] == 1.0


def test_a_missing_key_stays_missing():
    log = {"y": LABELS, "s": SCORES, "g": [2**63 + 1, 2**63 + 1, -1, -1, None, None]}
    slices = [result.slice["g"] for result in fm.evaluate(log, ["ctr"], by="g", **NAMES) if result.slice]
    assert set(slices) == {Decimal(-1), Decimal(2**63 + 1), None}


def test_keys_of_two_kinds_are_an_error():
    with pytest.raises(ValueError, match=r"data\['g'\] cannot be read as one column"):
        fm.evaluate({"y": LABELS, "s": SCORES, "g": [1, "a"] * 3}, ["gauc"], group="g", **NAMES)


def test_times_beside_dates_are_an_error():
    """Arrow would drop the hours."""
    days = [datetime.date(2026, 1, 1), datetime.datetime(2026, 1, 1, 12), datetime.date(2026, 1, 2)]
    with pytest.raises(ValueError, match=r"data\['g'\] has the time 2026-01-01 12:00:00 at row 2, and dates in other"):
        fm.evaluate({"y": LABELS, "s": SCORES, "g": in_pairs(days)}, ["gauc"], group="g", **NAMES)
