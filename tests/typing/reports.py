"""Types of `evaluate` and its report, as a type checker reveals them. Read by mypy, never run."""

import warnings
from typing import reveal_type

import fastmetrics as fm


def show(stage: str, rows_done: int, rows_total: int | None) -> None: ...


report = fm.evaluate(
    "log/*.parquet",
    ["auc", "gauc(weight=pairs)"],
    label="click",
    score="pctr",
    group="user_id",
    weight="weight",
    on_invalid="drop",
    progress=show,
)
revealed: list[object] = [
    reveal_type(report),  # reveals: Report
    reveal_type(fm.evaluate({"y": [0, 1], "p": [0.1, 0.9]}, "auc, logloss", label="y", score="p")),  # reveals: Report
    reveal_type(fm.evaluate({"hypothesis": ["a"], "reference": ["a"]}, "bleu")),  # reveals: Report
]

revealed = [
    reveal_type(report["auc"]),  # reveals: float
    reveal_type(report.value("auc", slice={})),  # reveals: float
    reveal_type("auc" in report),  # reveals: bool
    reveal_type(len(report)),  # reveals: int
    reveal_type(report.rows),  # reveals: int
    reveal_type(report.results),  # reveals: tuple[Result, ...]
    reveal_type(report.to_json(indent=2)),  # reveals: str
    reveal_type(report.to_dict()),  # reveals: dict[str, Any]
    reveal_type(fm.Report.from_json(report.to_json())),  # reveals: Report
    reveal_type(fm.Comparison.from_json("{}")),  # reveals: Comparison
    reveal_type(fm.__version__),  # reveals: str
]
for result in report:
    reveal_type(result)  # reveals: Result
    reveal_type(result.metric)  # reveals: str
    reveal_type(result.value)  # reveals: float
    reveal_type(result.signature)  # reveals: str

comparison = fm.compare("log.parquet", "auc", label="y", score=["a", "b"], by="day", correction=None)
revealed = [
    reveal_type(comparison),  # reveals: Comparison
    reveal_type(comparison["auc"]),  # reveals: Difference
    reveal_type(comparison.difference("auc", other="b", slice={}).interval),  # reveals: tuple[float, float] | None
    reveal_type(comparison["auc"].won),  # reveals: int | None
    reveal_type(comparison["auc"].verdict),  # reveals: str
    reveal_type(fm.sample_size(comparison, "auc", 0.001)),  # reveals: int
    reveal_type(fm.compare_reports(report, report, margin={"auc": 0.001})),  # reveals: Comparison
]

warnings.simplefilter("ignore", fm.UndefinedMetricWarning)

# Wrong uses are errors: under --strict an ignore that nothing needs is itself an error.
fm.evaluate()  # type: ignore[call-arg]
fm.evaluate("log.parquet", ["auc"], label="y", score=0.5)  # type: ignore[arg-type]
fm.evaluate("log.parquet", ["auc"], label="y", score="p", progress=print)
report[0]  # type: ignore[index]
report.rows = "many"  # type: ignore[assignment]
