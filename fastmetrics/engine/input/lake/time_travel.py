"""The options `version` and `timestamp`: which snapshot of a table is read."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from fastmetrics.engine.input.input_options import InputOptions


def read_version(options: InputOptions) -> int | None:
    """The number of `version`. It is wrong to give both a version and a time."""
    version = options.version
    if version is not None and options.timestamp is not None:
        raise ValueError("version and timestamp each name a snapshot; give one of them")
    if version is None:
        return None
    if isinstance(version, bool) or not isinstance(version, int | str):
        raise TypeError(f"version must be an integer; got {type(version).__name__}")
    try:
        number = int(version)
    except ValueError:
        raise ValueError(f"version must be an integer; got {version!r}") from None
    if number < 0:
        raise ValueError(f"version must not be negative; got {version}")
    return number


def read_timestamp(options: InputOptions) -> datetime:
    """The time of `timestamp`; without a zone it is UTC."""
    moment = options.timestamp
    if isinstance(moment, str):
        try:
            moment = datetime.fromisoformat(moment)
        except ValueError:
            raise ValueError(f"timestamp: type a time such as 2026-11-01T00:00:00Z; got {moment!r}") from None
    if not isinstance(moment, datetime):
        raise TypeError(f"timestamp must be a str or a datetime; got {type(moment).__name__}")
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def pick_time(label: str, times: Sequence[tuple[int, int]], moment: datetime) -> int:
    """The last of the numbers whose time, in milliseconds, is not after a moment."""
    wanted = moment.timestamp() * 1000
    past = [(time, number) for number, time in times if time <= wanted]
    if not past:
        first = min((time for _, time in times), default=None)
        since = "has no snapshot" if first is None else f"has snapshots since {shown_time(first)}"
        raise ValueError(f"timestamp: {label} {since}, none at {moment.isoformat()}")
    return max(past)[1]


def shown_time(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
