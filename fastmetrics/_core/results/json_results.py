"""Results as JSON and back. JSON has no dates, decimals, bytes, NaN and infinities: they are texts or null there, and
the types of such values stand beside them under "types", so that a result that is read equals the one written.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from fastmetrics._core.calls.missing_files import read_file
from fastmetrics._version import __version__

TYPES = "types"
NOT_FINITE = ("nan", "inf", "-inf")


def as_json_value(value: Any) -> Any:
    """Convert to types of JSON. Values of other types become text."""
    if isinstance(value, Mapping):
        return {str(key): as_json_value(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json_value(inner) for inner in value]
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)


def json_types(value: Any) -> Any:
    """The types that JSON loses, nested as the values are; None if it has all of them."""
    if isinstance(value, Mapping):
        return {str(key): own for key, inner in value.items() if (own := json_types(inner))} or None
    if isinstance(value, list | tuple):
        return json_types(dict(enumerate(value)))
    if isinstance(value, float):
        return None if math.isfinite(value) else str(float(value))
    if value is None or isinstance(value, bool | int | str):
        return None
    if isinstance(value, bytes):
        return f"bytes {value.hex()}"
    if isinstance(value, timedelta):
        return f"timedelta {value.days} {value.seconds} {value.microseconds}"
    return type(value).__name__.lower()


def with_types(plain: dict[str, Any], values: Mapping[str, Any], undefined: tuple[str, ...] = ()) -> dict[str, Any]:
    """The plain fields, with the types that their values lose. `undefined` are fields in which null means NaN."""
    found = json_types(values) or {}
    found = {name: own for name, own in found.items() if own != "nan" or name not in undefined}
    return plain | ({TYPES: found} if found else {})


def restored(value: Any, types: Any = None) -> Any:
    """The value of JSON with the types that it lost; arrays are tuples."""
    if isinstance(value, dict):
        return {name: restored(inner, (types or {}).get(name)) for name, inner in value.items()}
    if isinstance(value, list):
        return tuple(restored(inner, (types or {}).get(str(place))) for place, inner in enumerate(value))
    return value if types is None else value_of_type(value, str(types))


def value_of_type(value: Any, kind: str) -> Any:
    name, _, rest = kind.partition(" ")
    if kind in NOT_FINITE:
        return float(kind)
    if name == "bytes":
        return bytes.fromhex(rest)
    if name == "timedelta":
        return timedelta(*map(int, rest.split()))
    if name == "timestamp":
        import pandas  # whose type it is

        return pandas.Timestamp(value)
    readers: dict[str, Any] = {
        "date": date.fromisoformat, "datetime": datetime.fromisoformat, "time": time.fromisoformat, "decimal": Decimal,
    }  # fmt: skip
    return readers[name](value) if name in readers else value


def read_document(source: str | bytes | os.PathLike[str], noun: str, items: str, schema: int) -> dict[str, Any]:
    """The document of a result that `to_json` wrote, checked; `items` is the key of its results."""
    text = read_file(source).decode("utf-8") if isinstance(source, os.PathLike) else source
    try:
        document = json.loads(text)
    except ValueError as error:
        raise ValueError(f"this is no JSON of a {noun}, which to_json writes: {error}") from None
    if not isinstance(document, dict) or "schema" not in document:
        raise ValueError(f"this is no JSON of a {noun}, which to_json writes: it has no schema")
    if document["schema"] != schema:
        raise ValueError(
            f"this {noun} has schema {document['schema']!r}, written by version {document.get('version')}; "
            f"fastmetrics {__version__} reads schema {schema}"
        )
    if items not in document:
        other = {"results": "a report: Report.from_json", "differences": "a comparison: Comparison.from_json"}
        found = next((f"; it is of {what} reads it" for key, what in other.items() if key in document), "")
        raise ValueError(f"this is no JSON of a {noun}: it has no {items!r}{found}")
    return document
