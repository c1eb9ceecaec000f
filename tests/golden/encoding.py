"""Results as JSON, and their comparison: equal texts mean equal bits, types and order."""

import hashlib
import json
import math
import re
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

import fastmetrics as fm

FOLDER = Path(__file__).parent
# A signature ends with the version that computed it.
VERSIONS = [
    (re.compile(r"\bv:\d[^|\s\"]*"), "v:*"),
    (re.compile(r"version:[^|\s\"]+"), "version:*"),
    (re.compile(r"\|v\d[^|\s\"]*"), "|v*"),
]
NOT_COMPARED = ("seconds", "version", "evaluation")
EXPLANATIONS = ("reason", "interval")  # "interval" of a coverage says why there is none
SHOWN = 3  # of an array's values; the digest stands for all of them
# What users read of results that are no tuples, mappings or numbers. Other attributes may change.
ATTRIBUTES = {
    "CategoryTable": ["columns"],
    "CocoResult": [
        "stats",
        "values",
        "per_class",
        "coverage",
        "undefined",
        "signature",
        "precision",
        "recall",
        "scores",
        "iou_type",
        "iou_thresholds",
        "recall_thresholds",
        "max_detections",
        "area_ranges",
        "category_ids",
    ],
    "ErrorTable": ["group", "n", "bias", "mse", "mae"],
    "GroupTable": ["group", "auc", "n", "n_positives"],
    "RankingResult": ["values", "per_query", "coverage", "missing_queries"],
    "RankingTable": ["columns"],
    "RougeResult": ["by_type"],
    "RougeScore": ["precision", "recall", "fmeasure"],
    "SegmentStatistics": ["columns"],
    "Estimate": ["name", "value", "interval"],
    "TukeyResult": ["names", "pairs", "results"],
    "SignificanceResult": [
        "statistic", "pvalue", "df", "effect_size", "interval", "n", "method", "effect", "interval_of", "estimates",
    ],
    "TrecResult": ["runid", "summary", "queries", "per_query", "missing", "unjudged"],
    "VocResult": ["map", "per_class", "coverage", "undefined", "signature"],
}


def without_wording(value: Any) -> Any:
    """A report's or comparison's document without run time and version. Of explanations it says that they are there."""
    if isinstance(value, list):
        return [without_wording(item) for item in value]
    if not isinstance(value, dict):
        return value
    kept = {key: without_wording(own) for key, own in value.items() if key not in NOT_COMPARED}
    kept |= {key: "explained" for key, own in kept.items() if key in EXPLANATIONS and isinstance(own, str)}
    return kept | ({"notes": len(kept["notes"])} if "notes" in kept else {})


def without_version(text: str) -> str:
    for pattern, replacement in VERSIONS:
        text = pattern.sub(replacement, text)
    return text


def encode(value: Any) -> Any:
    """A value as JSON that is equal only where every bit and every type is."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return without_version(value)
    if isinstance(value, np.generic):
        return {f"numpy {value.dtype}": encode(value.item())}
    if type(value) is float:
        return value if math.isfinite(value) else f"float {value}"
    if isinstance(value, bytes):
        return {"bytes": value.hex()}
    if isinstance(value, np.ndarray):
        return encode_array(value)
    if isinstance(value, (fm.Report, fm.Comparison)):
        return encode(without_wording(value.to_dict()))
    return encode_object(value)


def encode_object(value: Any) -> Any:
    if isinstance(value, float):  # a score with its parts
        names = sorted(own for own in set(dir(value)) - set(dir(float)) if own[0] != "_")
        parts = {own: encode(getattr(value, own)) for own in names if not callable(getattr(value, own))}
        return {"float": encode(float(value)), "text": encode(str(value))} | parts
    if isinstance(value, tuple):
        names = getattr(value, "_fields", None)
        items = [encode(item) for item in value]
        return {"tuple": items} if names is None else dict(zip(names, items, strict=True))
    if isinstance(value, list):
        return [encode(item) for item in value]
    if isinstance(value, Mapping):
        if all(isinstance(key, str) for key in value):
            return {str(key): encode(own) for key, own in value.items()}
        return {"items": [[encode(key), encode(own)] for key, own in value.items()]}
    name = type(value).__name__
    if name in ATTRIBUTES:
        found = {own: dict(value) if own == "values" else getattr(value, own) for own in ATTRIBUTES[name]}
        return {own: encode(item() if callable(item) else item) for own, item in found.items()}
    if hasattr(value, "toarray"):  # a sparse matrix
        return {"sparse": encode_array(value.toarray())}
    raise TypeError(f"cannot encode {type(value)}")


def encode_array(array: np.ndarray) -> Any:
    """Type, shape, the first values, and a digest of all of them in little-endian order."""
    if array.dtype.kind in "OUT":
        content = json.dumps([encode(item) for item in array.ravel().tolist()]).encode()
    else:
        content = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    first = [encode(item) for item in array.ravel()[:SHOWN].tolist()]
    dtype = "text" if array.dtype.kind in "UT" else array.dtype.name
    return {"array": dtype, "shape": list(array.shape), "first": first, "sha256": hashlib.sha256(content).hexdigest()}


def outcome(call: Callable[[], Any]) -> Any:
    """What a call gives: its value, the categories of its warnings, or the type of its error. Wordings may change."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            value = call()
        except (ValueError, TypeError, LookupError) as error:
            return {"error": type(error).__name__}
    kinds = sorted({own.category.__name__ for own in caught})
    return {"value": encode(value)} | ({"warnings": kinds} if kinds else {})


def text_of(value: Any) -> str:
    """Unlike ==, it tells 1 from 1.0 and 0.0 from -0.0."""
    return json.dumps(value, ensure_ascii=False)


def read(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / "files" / name).read_text(encoding="utf-8")))


def write(name: str, entries: Mapping[str, Any]) -> None:
    """Write a file, one entry a line."""
    lines = [f"{text_of(key)}: {text_of(value)}" for key, value in sorted(entries.items())]
    (FOLDER / "files" / name).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8", newline="\n")
