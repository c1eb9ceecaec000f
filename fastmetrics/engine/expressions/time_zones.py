"""Names of time zones, and what clocks show there: of constants; `arrow_kernels` has columns."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import cache

from fastmetrics._core.suggestions import close_matches

OFFSET = re.compile(r"([+-])(0\d|1[0-4]):([0-5]\d)")
OF_UTC = frozenset(("UTC", "Etc/UTC", "Z", "utc", "+00:00", "-00:00"))


@cache
def time_zones() -> frozenset[str]:
    """The names of time zones: areas with places, and UTC. Short names such as EST differ between databases."""
    return frozenset(name for name in all_zones() if "/" in name or name in ("UTC", "GMT"))


@cache
def all_zones() -> frozenset[str]:
    from zoneinfo import available_timezones

    return frozenset(available_timezones())


def explain_zone(name: object, of_column: bool = False) -> str | None:
    """What is wrong with the name of a zone; None if it is a place, UTC or an offset such as +09:00.

    Columns may have any zone that is known here, such as EST.
    """
    if isinstance(name, str) and (name in time_zones() or OFFSET.fullmatch(name)):
        return None
    if of_column and name in all_zones():
        return None
    similar = close_matches(name, sorted(time_zones()))[:3] if isinstance(name, str) else []
    ask = f"; did you mean {' or '.join(similar)}?" if similar else "; write 'Europe/Berlin', 'UTC' or '+09:00'"
    return f"there is no time zone {name!r}{ask}"


def zone_of_column(name: str | None) -> str:
    """The zone of a column as expressions have it: empty for UTC."""
    return "" if name is None or name in OF_UTC else name


def offset_of(zone: str) -> timedelta | None:
    """The offset that is the name of a zone; None for a place."""
    found = OFFSET.fullmatch(zone)
    if found is None:
        return None
    offset = timedelta(hours=int(found[2]), minutes=int(found[3]))
    return offset if found[1] == "+" else -offset


def instant_of(local: datetime, zone: str, first: bool) -> datetime:
    """The instant of a local time: the first or the later one of two, and in a gap with the offset before it."""
    from zoneinfo import ZoneInfo

    offset = offset_of(zone)
    rules: tzinfo = ZoneInfo(zone) if offset is None else timezone(offset)
    early, late = (local.replace(tzinfo=rules, fold=fold) for fold in (0, 1))
    is_gap = early.astimezone(UTC).astimezone(rules).replace(tzinfo=None) != local
    return (early if is_gap or first else late).astimezone(UTC)
