"""Every metric of the registry with its variants: plain, in slices, with intervals, and with weights."""

import hashlib
from collections.abc import Callable
from typing import Any

import fastmetrics as fm
from fastmetrics.testing import metric_cases
from fastmetrics.testing.metric_cases import MetricCase
from fastmetrics.testing.sample_logs import Log, sample_log
from golden.encoding import encode, text_of
from golden.engine_cases import encode_report

ROWS = 200
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "slices": {"by": "slice"},
    "intervals": {"ci": 0.9, "replicates": 8, "seed": 1},
    "weights": {"weight": "weight"},
}
NEEDS_WORDNET = "meteor"


def log_digest() -> str:
    """A digest of the log. It is drawn with functions of NumPy that may differ between machines."""
    content = text_of({name: encode(column) for name, column in sample_log(ROWS).items()})
    return hashlib.sha256(content.encode()).hexdigest()


def value_cases() -> dict[str, Callable[[], Any]]:
    log = sample_log(ROWS)
    return {
        f"{case} {name}": lambda case=case, own=own: value_of(case, log, own)
        for spec in fm.list_metrics().values()
        if spec.base_name != NEEDS_WORDNET
        for case in metric_cases.joint_cases(spec.name)
        for name, own in OPTIONS.items()
    }


def value_of(case: MetricCase, log: Log, options: dict[str, Any]) -> Any:
    """The values, or a digest of the report if there are options; the message if it takes no weights."""
    columns = {name: log[name] for name in dict.fromkeys([*case.column_names(), *metric_cases.SHARED_COLUMNS])}
    try:
        found = encode_report(case.evaluate(columns, **options))
    except ValueError as error:
        if "weight" not in str(error):
            raise
        return "no weights"
    return found["sha256"] if options else found
