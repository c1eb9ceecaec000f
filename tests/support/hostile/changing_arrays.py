"""Calls every public function of arrays while another thread changes the arrays: an answer or an error, never a crash.

    python -m support.hostile.changing_arrays SECONDS [NAME ...]

calls each function (or those named) for so many seconds and prints its name with the number of calls. Kernels read a
column more than once, its range first and then its rows: whoever trusts the first reading writes outside of a table in
the second. The module is run in a process of its own, also with kernels that check their memory (CONTRIBUTING.md).
"""

import inspect
import sys
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

import fastmetrics as fm
from support.function_cases import FUNCTIONS, PUBLIC

ROWS = 30_000
LISTS = 1000
WRONG = {
    "i": [0, 1, -1, 7, 65_536, 10**9, 2**62, -(2**62)],
    "f": [0.0, 1.0, -1.0, 0.5, np.nan, np.inf, -np.inf, 1e300, 5e-324],
    "b": [True, False],
    "u": [0, 1, 255],
}
# An array that is seen to change may be refused by any of these, and by none that comes from inside.
ALLOWED = (ValueError, TypeError, OverflowError)
# Functions of texts, files, tables of counts and other functions, and of a few numbers.
WITHOUT_ARRAYS = {
    "list_metrics", "trec_metric_names", "read_qrels", "read_run", "evaluate_trec",
    "read_segments",
    "corpus_bleu", "sentence_bleu", "corpus_chrf", "sentence_chrf", "compare_texts", "corpus_meteor", "sentence_meteor",
    "corpus_nist", "sentence_nist", "rouge_score", "segment_statistics", "corpus_ter", "sentence_ter", "tokenize",
    "chi2_test", "two_proportion_test", "tukey_hsd", "coco_map", "voc_map", "mask_iou", "mask_areas", "decode_masks",
    "compare_reports", "compare_runs", "expected_mutual_information", "metric_at_thresholds", "sample_size",
}  # fmt: skip


def make_arrays() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    prob = random.random(ROWS)
    ends = np.sort(random.integers(0, ROWS, LISTS - 1))
    return {
        "label": (random.random(ROWS) < prob).astype(np.int8),
        "prob": prob,
        "score": np.round(prob, 3),
        "single": prob.astype(np.float32),
        "pred": (prob > 0.5).astype(np.int64),
        "group": random.integers(0, ROWS // 20, ROWS),
        "target": np.round(random.random(ROWS) + 0.5, 2),
        "forecast": random.random(ROWS) + 0.5,
        "weight": random.integers(0, 5, ROWS).astype(np.float64),
        "classes": random.integers(0, 5, ROWS),
        "predicted": random.integers(0, 5, ROWS),
        "many": random.integers(0, ROWS, ROWS),
        "others": random.integers(0, ROWS, ROWS),
        "items": random.permutation(ROWS),
        "offsets": np.concatenate([[0], ends, [ROWS]]),
        "small_offsets": np.concatenate([[0], ends, [ROWS]]).astype(np.int32),
        "probabilities": random.dirichlet(np.ones(5), ROWS // 5),
        "log_probs": -random.random(ROWS),
        "label_sets": (random.random((ROWS // 20, 20)) < 0.3).astype(np.int64),
        "set_scores": random.random((ROWS // 20, 20)),
        "points": random.random((300, 3)),
        "clusters": random.integers(0, 4, 300),
        "boxes": random.random((200, 4)) + np.array([0, 0, 1, 1]),
        "masks": random.integers(0, 2, (3, 40, 50)).astype(np.uint8),
        "lists": random.permuted(np.tile(np.arange(50), (LISTS, 1)), axis=1)[:, :10].copy(),
        "relevant_lists": random.permuted(np.tile(np.arange(50), (LISTS, 1)), axis=1)[:, :10].copy(),
        "curve": np.sort(random.random(ROWS)),
        "pvalues": random.random(ROWS),
        "texts": random.integers(97, 123, 8 * ROWS, dtype=np.uint8),
    }


def arrow_columns(arrays: dict[str, np.ndarray]) -> pa.Table:
    """A table whose buffers are the arrays. Offsets and codes stay: pyarrow's own functions trust them."""
    offsets = pa.py_buffer(np.arange(ROWS + 1, dtype=np.int32) * 8)
    texts = pa.Array.from_buffers(pa.string(), ROWS, [None, offsets, pa.py_buffer(arrays["texts"])])
    names = ("label", "score", "prob", "group", "weight", "classes", "many")
    numbers = {name: pa.array(arrays[name]) for name in names}
    keys = pa.array([f"k{number % 20}" for number in range(ROWS)]).dictionary_encode()
    return pa.table({**numbers, "text": texts, "key": keys})


def make_calls(data: dict[str, np.ndarray]) -> dict[str, list[Callable[[], Any]]]:
    """The calls of every public function with the arrays."""
    calls: dict[str, list[Callable[[], Any]]] = {}

    def add(name: str, *arguments: Any, **options: Any) -> None:
        calls.setdefault(name, []).append(lambda: getattr(fm, name)(*arguments, **options))

    weighted = dict(data)
    plain = {key: array for key, array in data.items() if key != "weight"}
    for name, case in FUNCTIONS.items():
        for log in (plain, weighted) if case.weighted else (plain,):
            calls.setdefault(name, []).append(lambda case=case, log=log: case.call(log))
        parameters = inspect.signature(case.function).parameters
        if "offsets" in parameters and name != "ranking_by_group":
            for offsets in ("offsets", "small_offsets"):
                add(name, data["label"], data["score"], **case.required, offsets=data[offsets])
        if "average" in parameters and case.label_column == "label" and "y_pred" in parameters:
            add(name, data["classes"], data["predicted"], **case.required, average="macro")
            add(name, data["label_sets"], data["label_sets"][::-1], **case.required, average="samples")
    classes = (data["classes"], data["predicted"])
    for name in PUBLIC:
        parameters = list(inspect.signature(PUBLIC[name]).parameters)
        if parameters[:2] == ["labels_true", "labels_pred"]:
            add(name, *classes)
            add(name, data["many"], data["others"], **({"sparse": True} if "sparse" in parameters else {}))
        elif parameters[:2] == ["X", "labels"]:
            add(name, data["points"], data["clusters"])
        elif parameters[:2] == ["y_true", "y_pred"] and "multioutput" in parameters:
            add(name, data["label_sets"] + 0.0, data["set_scores"])
            add(name, data["set_scores"], data["set_scores"][:, ::-1])
        elif parameters[:2] == ["y_true", "y_proba"]:
            add(name, data["classes"][: ROWS // 5], data["probabilities"])
    for name in ("confusion_matrix", "cohen_kappa_score", "balanced_accuracy_score", "matthews_corrcoef",
                 "classification_report", "multilabel_confusion_matrix", "accuracy_score"):  # fmt: skip
        add(name, *classes)
        add(name, *classes, sample_weight=data["weight"])
    for name in ("coverage_error", "label_ranking_average_precision_score", "label_ranking_loss", "roc_auc_score",
                 "average_precision_score"):  # fmt: skip
        add(name, data["label_sets"], data["set_scores"])
    add("ndcg_score", data["label_sets"], data["set_scores"])
    add("dcg_score", data["label_sets"], data["set_scores"], k=3)
    add("top_k_accuracy_score", data["classes"][: ROWS // 5], data["probabilities"])
    add("top_k_accuracy_score", data["label"], data["score"], k=1)
    add("roc_auc_score", data["classes"][: ROWS // 5], data["probabilities"], multi_class="ovo")
    add("roc_auc_score", data["label"], data["single"])
    add("negative_log_likelihood", data["prob"])
    for name in ("perplexity", "token_nll"):
        add(name, data["log_probs"], offsets=data["offsets"])
        add(name, data["log_probs"], mask=data["label"], offsets=data["small_offsets"])
    add("auc", data["curve"], data["score"])
    add("entropy", data["classes"])
    add("hinge_loss", data["label"], data["score"])
    add("box_iou", data["boxes"], data["boxes"][::-1])
    add("encode_masks", data["masks"])
    add("delong_test", data["label"], data["score"], data["prob"])
    add("delong_test", data["label"], data["score"], data["prob"], groups=data["group"])
    add("roc_auc_interval", data["label"], data["score"])
    add("roc_auc_interval", data["label"], data["score"], groups=data["group"])
    add("mcnemar_test", data["label"], data["pred"])
    for name in ("benjamini_hochberg", "holm"):
        add(name, data["pvalues"])
    for name in ("paired_t_test", "sign_flip_test", "wilcoxon"):
        add(name, data["score"][:3000], data["prob"][:3000])
    add("ranking_by_group", data["label"], data["score"], data["group"], ["ndcg@5", "mrr"])
    add("ndcg_score", data["label"], data["score"], data["group"], ties="docid", items=data["items"])
    add("evaluate_recommendations", data["relevant_lists"], data["lists"], ["ndcg@5", "recall@3"])
    run = {"query": data["group"], "item": data["items"], "score": data["score"]}
    qrels = {"query": data["group"], "item": data["items"], "relevance": data["label"]}
    add("evaluate_ranking", qrels, run, ["ndcg@5", "map"])
    table = arrow_columns(data)
    columns = {"label": "label", "score": "prob", "group": "group"}
    metrics = ["auc", "gauc", "ndcg@5", "logloss", "ece"]
    for log in ({name: data[name] for name in ("label", "prob", "group", "weight", "classes")}, table):
        add("evaluate", log, metrics, **columns, by="classes", weight=None)
        add("evaluate", log, ["auc", "gauc"], **columns, weight="weight", ci=0.95, replicates=20)
        add("evaluate", log, metrics, **columns, memory_limit="1MiB")
        options = {"score": ["prob", "weight"], "label": "label", "group": "group", "replicates": 20}
        add("compare", log, ["auc", "gauc"], unit="group", **options)
    for key in ("text", "key"):
        add("evaluate", table, ["auc", "gauc"], **(columns | {"group": key}))
    add("roc_auc_score", table["label"], table["prob"])
    add("gauc_score", table["label"], table["prob"], table["text"])
    add("gauc_score", table["label"], table["prob"], table["key"])
    add("accuracy_score", table["text"], table["key"])
    add("adjusted_rand_score", table["text"], table["key"])

    def accumulate() -> Any:
        state = fm.Accumulator(["auc", "gauc", "logloss"], **columns)
        for _ in range(2):
            state.update({name: data[name] for name in ("label", "prob", "group")})
        return state.result()

    calls["Accumulator"] = [accumulate]
    return calls


def change(arrays: dict[str, np.ndarray], stop: threading.Event) -> None:
    """Write wrong values to parts of the arrays, and the right ones again, so that calls get past the first checks."""
    random = np.random.default_rng(1)
    originals = {name: array.copy() for name, array in arrays.items()}
    while not stop.is_set():
        for array in arrays.values():
            flat = array.reshape(-1)
            start, length = random.integers(0, flat.shape[0]), random.choice([1, 100, flat.shape[0]])
            flat[start : start + length] = np.array(random.choice(WRONG[array.dtype.kind])).astype(array.dtype)
        time.sleep(random.choice([0.0, 0.0005]))
        for name, array in arrays.items():
            array[...] = originals[name]
        time.sleep(random.choice([0.0, 0.0005, 0.003]))


def main(seconds: float, names: list[str]) -> None:
    warnings.simplefilter("ignore")
    arrays = make_arrays()
    calls = make_calls(arrays)
    stop = threading.Event()
    thread = threading.Thread(target=change, args=(arrays, stop))
    sys.setswitchinterval(1e-4)
    thread.start()
    try:
        for name in names or sorted(calls):
            print(name, end=" ", flush=True)
            answers, errors = 0, set()
            for call in calls[name]:
                until = time.monotonic() + seconds / len(calls[name])
                while True:
                    try:
                        call()
                        answers += 1
                    except ALLOWED:
                        pass
                    except Exception as error:  # noqa: BLE001 - printed, and the test fails
                        errors.add(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
                    if time.monotonic() >= until:
                        break
            print(answers, *errors, flush=True)
    finally:
        stop.set()
        thread.join()


if __name__ == "__main__":
    main(float(sys.argv[1]), sys.argv[2:])
