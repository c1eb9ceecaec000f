"""Types of `Metric` and its methods, as a type checker reveals them. Read by type checkers, never run."""

from typing import reveal_type

import fastmetrics as fm

gauc = fm.Metric.gauc(weight="pairs", single_class="skip")
revealed: list[object] = [
    reveal_type(gauc),  # reveals: Metric
    reveal_type(fm.Metric.ndcg(k=10, gain="exp2", group=["user", "day"])),  # reveals: Metric
    reveal_type(fm.Metric.auc(max_fpr=0.1)),  # reveals: Metric
    reveal_type(fm.Metric.auc(multi_class="ovr", average="macro")),  # reveals: Metric
    reveal_type(fm.Metric.auc(k=10, ties="average")),  # reveals: Metric
    reveal_type(fm.Metric.of_name("my_metric", k=10, level=0.5)),  # reveals: Metric
    reveal_type(fm.Metric.names()),  # reveals: list[str]
    reveal_type(gauc.k),  # reveals: int | None
    reveal_type(str(gauc)),  # reveals: str
]
report = fm.evaluate({"y": [0, 1], "p": [0.1, 0.9]}, [gauc, "auc", fm.Metric.ctr()], label="y", score="p")
revealed = [
    reveal_type(report[gauc]),  # reveals: float
    reveal_type(report["auc"]),  # reveals: float
    reveal_type(report.result(gauc)),  # reveals: Result
    reveal_type(gauc in report),  # reveals: bool
]
comparison = fm.compare("log.parquet", [gauc], label="y", score=["a", "b"])
reveal_type(comparison[gauc])  # reveals: Difference
mixed: list[str | fm.Metric] = ["auc", fm.Metric.hr(k=5)]
fm.TrainingMetrics(mixed)
fm.Accumulator(fm.Metric.bleu(tokenize="intl"))

fm.Metric.hr()  # type: ignore[call-arg]
fm.Metric.ctr(k=10)  # type: ignore[call-arg]
fm.Metric.ndcg(k="10")  # type: ignore[arg-type]
fm.Metric.ndcg(10)  # type: ignore[call-arg]
fm.Metric.ndcg(k=10, gian="exp2")  # type: ignore[call-arg]
fm.Metric.auc(max_fpr=0.1, multi_class="ovr")  # type: ignore[call-overload]
fm.Metric.ndgc(k=10)  # type: ignore[attr-defined]
report[3]  # type: ignore[index]
