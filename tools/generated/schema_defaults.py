"""tests/golden/files/defaults_of_schema_1.json: what a stored question means where it leaves something out.

New options and metrics are added with their defaults. What stands there is never changed: another default needs another
version of the layout, and a test compares the two.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from fastmetrics._core.registry import parse
from fastmetrics._core.registry.registration import known_specs
from fastmetrics.engine.evaluation.options import OPTIONS
from fastmetrics.engine.evaluation.question_files import VERSION
from generated import ROOT

DEFAULTS = ROOT / "tests" / "golden" / "files" / f"defaults_of_schema_{VERSION}.json"


def outputs() -> dict[Path, str]:
    if not DEFAULTS.parent.is_dir():
        return {}  # a copy without tests
    stored = json.loads(DEFAULTS.read_text(encoding="utf-8")) if DEFAULTS.is_file() else {}
    options: dict[str, Any] = {option.name: option.default for option in OPTIONS}
    metrics: dict[str, Any] = {}
    for spec in known_specs().values():
        for form in spec.forms:
            name, role = form.base_name + ("@3" if form.cutoff else ""), form.model_role
            metrics[f"{name} of {role}"] = parse(name, (role,) if role else ()).full_text
    merged = {
        "options": options | stored.get("options", {}),
        "metrics": dict(sorted((metrics | stored.get("metrics", {})).items())),
    }
    return {DEFAULTS: json.dumps(merged, indent=1, ensure_ascii=False) + "\n"}
