"""What functions accept, and what they do not. Read by type checkers, never run."""

import array
import io
import os
from collections import deque
from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

import fastmetrics as fm


class Tensor:
    """What libraries of tensors offer for NumPy."""

    def __array__(self, dtype: Any = None) -> NDArray[Any]:
        raise NotImplementedError

    def __dlpack__(self) -> object:
        raise NotImplementedError


class Sparse:
    """What SciPy's sparse matrices have."""

    shape: tuple[int, ...] = (2, 2)
    nnz: int = 1

    def tocsr(self) -> "Sparse":
        raise NotImplementedError

    def toarray(self) -> NDArray[np.float64]:
        raise NotImplementedError


class Table:
    """What libraries that speak Arrow offer for a table."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        raise NotImplementedError


def batches() -> Iterator[pl.DataFrame]:
    raise NotImplementedError


def column() -> list[Any]:
    raise NotImplementedError


tensor, sparse, table = Tensor(), Sparse(), Table()
series, frame = pl.Series([0, 1]), pl.DataFrame({"y": [0, 1], "p": [0.1, 0.2]})
text: str = "0101"

fm.roc_auc_score([0, 1], (0.1, 0.2))
fm.roc_auc_score([True, False], array.array("d", [0.1, 0.2]))
fm.roc_auc_score(range(2), deque([0.1, 0.2]))
fm.roc_auc_score(["no", "yes"], np.array([0.1, 0.2], np.float32))
fm.roc_auc_score(series, pl.Series([0.1, 0.2]))
fm.roc_auc_score(tensor, tensor, sample_weight=tensor)
fm.roc_auc_score(column(), column())
fm.roc_auc_score(np.array([0, 1]), [np.float32(0.1), np.float64(0.2)])
fm.log_loss([0, 1, 2], [[0.1, 0.2, 0.7]] * 3, labels=[0, 1, 2])
fm.f1_score(sparse, sparse, average="samples")
fm.ndcg_score([[1, 0], [0, 1]], np.eye(2), k=np.int64(1))
fm.ndcg_score([1, 0], [0.1, 0.2], frame, k=(1, 2))
fm.gauc_score([1, 0], [0.1, 0.2], {"user": ["a", "b"], "day": [1, 2]})
fm.gauc_score([1, 0], [0.1, 0.2], table)
fm.mean_squared_error(series, tensor, multioutput=[1.0])
fm.jaccard_distance({"a"}, frozenset(["b"]))
fm.corpus_bleu(["a b"], [["a c"]])
fm.sentence_bleu("a b", ["a c"])
fm.sentence_bleu(["a", "b"], [["a", "c"]])

for data in (
    "log.parquet",
    ["a.csv", "b.csv"],
    io.BytesIO(),
    frame,
    frame.lazy(),
    table,
    {"y": [0, 1], "p": [0.1, 0.2]},
):
    fm.evaluate(data, "auc", label="y", score="p")
fm.evaluate(batches(), "auc", label="y", score="p")
fm.evaluate([{"y": 1, "p": 0.2}], "auc", label="y", score="p")
fm.evaluate(os.fspath("log.parquet"), ["auc", fm.Metric.gauc()], label="y", score="p", group="user")
fm.evaluate(frame, fm.Metric.ndcg(k=10), label="y", score="p", group="user", where=pl.col("y") > 0)

# A text is a sequence of texts, but no column.
fm.roc_auc_score(text, [0.1, 0.2])  # type: ignore[call-overload]
fm.roc_auc_score([0, 1], text)  # type: ignore[call-overload]
fm.accuracy_score("ab", ["a", "b"])  # type: ignore[arg-type]
fm.corpus_chrf("a b", ["a c"])  # type: ignore[arg-type]
fm.silhouette_score(text, [0, 1])  # type: ignore[arg-type]
# Texts, nulls and dates are no numbers.
fm.ks_statistic([0, 1], ["0.1", "0.2"])  # type: ignore[list-item]
fm.ks_statistic([0, 1], [0.1, None])  # type: ignore[list-item]
fm.mean_absolute_error([1.0], ["1.0"])  # type: ignore[list-item]
fm.ks_statistic(None, [0.1, 0.2])  # type: ignore[arg-type]
fm.ks_statistic(1, 0.5)  # type: ignore[arg-type]
fm.ks_statistic({1, 0}, [0.1, 0.2])  # type: ignore[arg-type]
fm.ks_statistic({"y": [1, 0]}, [0.1, 0.2])  # type: ignore[dict-item]
fm.ks_statistic((one for one in [0, 1]), [0.1, 0.2])  # type: ignore[arg-type]
fm.ks_statistic([0, 1], [0.1, 0.2], sample_weight="weights")  # type: ignore[arg-type]
fm.evaluate(3, "auc")  # type: ignore[arg-type]
fm.evaluate(frame, 3)  # type: ignore[arg-type]
fm.evaluate(frame, ["auc", 3])  # type: ignore[list-item]
# One result for one cutoff, an array for several.
one: NDArray[np.float64] = fm.ndcg_score([[1, 0]], [[0.1, 0.2]], k=2)  # type: ignore[assignment]
several: float = fm.ndcg_score([[1, 0]], [[0.1, 0.2]], k=[1, 2])  # type: ignore[assignment]
by_label: float = fm.f1_score([0, 1], [0, 1], average=None)  # type: ignore[assignment]
matrix: NDArray[np.int64] = fm.confusion_matrix([0, 1], [0, 1], normalize="all")  # type: ignore[assignment]

# Data frames may have numbers as names of columns.
numbered = pl.DataFrame({"0": [0, 1], "1": [0.1, 0.9]})
named_by_numbers = [
    fm.evaluate(numbered, "gauc", label=0, score=[1, "2"], group=[3, 4], weight=5, by=[6], item=7, unit=8, ci=0.9),
    fm.evaluate(numbered, "logloss", label=0, probabilities=[[1, 2], [3, 4]], by=[[5], [6]], roles={"x": 7}),
    fm.Accumulator("auc", label=0, score=1).result(),
    fm.evaluate(numbered, "auc", tasks={"a": fm.Task(label=0, score=1)}),
]
fm.compare(numbered, "auc", label=0, score=[1, 2], unit=3, baseline=2)
fm.evaluate(numbered, "auc", label=0.5, score=1)  # type: ignore[arg-type]
