"""Parsers, states and functions on input that is wrong at random: an answer or an error that says why.

    python -m support.hostile.fuzz_targets TARGET SEED [SEED ...]

repeats the cases of some seeds. A case is made from its seed alone.
"""

import gzip
import json
import random
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import fastmetrics as fm
from support.function_cases import FUNCTIONS

# Errors from inside (IndexError, KeyError, AttributeError, ZeroDivisionError, RecursionError, ...) are bugs.
ALLOWED = (ValueError, TypeError, OverflowError, OSError)
WORDS = [
    b"", b"\0", b"\xff", b"\r", b"\n", b" ", b"\t", b"-", b"nan", b"inf", b"1e999", b"9" * 40, b"\xe2\x82", b'"', b",",
]  # fmt: skip

RUN = b"1 Q0 d1 1 2.5 tag\n1 Q0 d2 2 1.5 tag\n2 Q0 d1 1 0.5 tag\n"
QRELS = b"1 0 d1 1\n1 0 d2 0\n2 0 d1 2\n"
CSV = b"click,pctr,user\n1,0.75,a\n0,0.5,b\n1,0.25,a\n0,0.125,b\n"
METRICS = [
    "auc", "gauc(group=user)", "ndcg@10", "logloss", "precision(t=0.5)", "ece(n_bins=10)", "gauc(stat=p10)",
    "best_threshold(metric=f1)", "lift(q=0.1)", "rmse(label=click)",
]  # fmt: skip
GROUND_TRUTH = {
    "images": [{"id": 1, "height": 10, "width": 10}], "categories": [{"id": 1, "name": "a"}],
    "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 1, 4, 4], "area": 16, "iscrowd": 0}],
}  # fmt: skip
DETECTIONS = [{"image_id": 1, "category_id": 1, "bbox": [1, 1, 4, 5], "score": 0.5}]


def mutate(data: bytes, rng: random.Random) -> bytes:
    """Bytes that are changed, left out, repeated or cut in a few places."""
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 5])):
        start = rng.randrange(len(changed) + 1)
        stop = min(len(changed), start + rng.choice([0, 1, 1, 4, 16]))
        kind = rng.randrange(5)
        if kind == 0:
            changed[start:stop] = rng.randbytes(stop - start)
        elif kind == 1:
            changed[start:stop] = rng.choice(WORDS)
        elif kind == 2:
            changed[start:start] = changed[start:stop] * rng.choice([1, 3])
        elif kind == 3:
            del changed[start:]
        elif start < len(changed):
            changed[start] ^= 1 << rng.randrange(8)
    return bytes(changed)


def write(folder: Path, name: str, data: bytes) -> str:
    path = folder / name
    path.write_bytes(data)
    return str(path)


def fuzz_trec_files(rng: random.Random, folder: Path) -> None:
    run, qrels = (mutate(RUN, rng), QRELS) if rng.random() < 0.5 else (RUN, mutate(QRELS, rng))
    fm.evaluate_trec(write(folder, "qrels", qrels), write(folder, "run", run))


def fuzz_csv_logs(rng: random.Random, folder: Path) -> None:
    path = write(folder, "log.csv", mutate(CSV, rng))
    fm.evaluate(path, ["auc", "gauc", "logloss"], label="click", score="pctr", group="user", n_threads=1)


def make_log(rng: random.Random) -> pa.Table:
    rows = rng.choice([1, 4, 50])
    users = pa.array([f"u{row % 5}" for row in range(rows)])
    return pa.table({
        "click": np.arange(rows) % 2, "pctr": np.linspace(0.0, 1.0, rows),
        "user": users.dictionary_encode() if rng.random() < 0.5 else users,
        "rest": pa.array([[row] * (row % 3) for row in range(rows)]),
    })  # fmt: skip


def evaluate_file(path: Path) -> None:
    fm.evaluate(path, ["auc", "gauc", "logloss"], label="click", score="pctr", group="user", n_threads=1)


def fuzz_parquet_logs(rng: random.Random, folder: Path) -> None:
    options = {"compression": rng.choice(["zstd", "snappy", "none"]), "data_page_version": rng.choice(["1.0", "2.0"])}
    path = folder / "log.parquet"
    pq.write_table(make_log(rng), path, use_dictionary=rng.random() < 0.5, data_page_size=64, **options)
    path.write_bytes(mutate(path.read_bytes(), rng))
    evaluate_file(path)


def fuzz_arrow_logs(rng: random.Random, folder: Path) -> None:
    log = make_log(rng)
    options = pa.ipc.IpcWriteOptions(compression=rng.choice(["zstd", "lz4", None]))
    path = folder / "log.arrow"
    with rng.choice([pa.ipc.new_file, pa.ipc.new_stream])(path, log.schema, options=options) as file:
        file.write_table(log, max_chunksize=20)
    path.write_bytes(mutate(path.read_bytes(), rng))
    evaluate_file(path)


def fuzz_segments(rng: random.Random, folder: Path) -> None:
    """Segments that are read are those of Python; a file that is no gzip file, or is damaged, is an error."""
    text = mutate("a line\nein Läufer\r\n\u3042\n\n".encode() * rng.choice([1, 30]), rng)
    data = mutate(gzip.compress(text, 1, mtime=0), rng) if rng.random() < 0.5 else text
    segments = list(fm.read_segments(write(folder, "segments", data)))
    if data is text and not text.startswith(b"\x1f\x8b") and segments != lines_of(text):
        raise AssertionError(f"{segments} of {text!r}")


def lines_of(text: bytes) -> list[str]:
    """The lines of UTF-8 bytes: a line ends at a newline, and a carriage return before it is dropped."""
    lines = text.removeprefix(b"\xef\xbb\xbf").decode().split("\n")
    return [line.removesuffix("\r") for line in (lines if lines[-1] else lines[:-1])]


LETTERS = [
    "a", "b", "c", "the", "A", "é", "e\u0301", "\u3042", "漢", "\U0001f600", "\u200b", "\u0130", "ß", "1", "2,5", "-",
]  # fmt: skip
SEPARATORS = [" ", " ", " ", "", "\t", "\n", "\u3000", "\xa0", ".", "&amp;", "'", "\0"]


def random_text(rng: random.Random) -> str:
    def character() -> str:
        return chr(rng.choice([rng.randrange(128), rng.randrange(0x3000), 0x10000 + rng.randrange(0x100000)]))

    words = rng.choice([0, 1, 2, 5, 30, 200])
    pieces = [character() if rng.random() < 0.1 else rng.choice(LETTERS) for _ in range(words)]
    lone_surrogate = "\ud800" if rng.random() < 0.02 else ""
    return "".join(piece + rng.choice(SEPARATORS) for piece in pieces) + lone_surrogate


TEXT_OPTIONS: dict[str, dict[str, list[Any]]] = {
    "bleu": {
        "tokenize": ["13a", "none", "char", "intl", "zh"], "smooth": ["exp", "none", "floor", "add-k"],
        "max_order": [1, 4, 9], "lowercase": [False, True],
    },
    "chrf": {"char_order": [1, 6], "word_order": [0, 2], "whitespace": [False, True], "lowercase": [False, True]},
    "ter": {"normalized": [False, True], "no_punct": [False, True], "asian_support": [False, True]},
    "nist": {"max_order": [1, 5], "tokenize": ["13a", "none", "intl"], "lowercase": [False, True]},
    "meteor": {"modules": [["exact"], ["exact", "stem"]], "alignment": ["fewest_crossings", "nltk"]},
}  # fmt: skip


# The values of a text compared with itself: the second if no token or character is left of it. TER may be above 0: like
# sacrebleu's, it tokenizes references twice.
OF_EQUAL_TEXTS = {"bleu": (100, 0), "chrf": (100, 0)}


def fuzz_texts(rng: random.Random, folder: Path) -> None:
    """Measures of texts are not negative, and a text has the best value with itself."""
    texts = [random_text(rng) for _ in range(3)]
    for name, values in TEXT_OPTIONS.items():
        options = {option: rng.choice(allowed) for option, allowed in values.items()}
        measure = getattr(fm, f"sentence_{name}")
        found, of_equal = measure(texts[0], texts[1:], **options), measure(texts[0], texts[:1], **options)
        if not (found >= 0 and of_equal >= 0):
            raise AssertionError(f"{name} is {found} and {of_equal} of {texts!r}, {options}")
        if round(float(of_equal), 9) not in OF_EQUAL_TEXTS.get(name, [round(float(of_equal), 9)]):
            raise AssertionError(f"{name} is {of_equal} of equal texts {texts[0]!r}, {options}")
    rouge = fm.rouge_score(texts[:1], [texts[1:]], stem=rng.random() < 0.5)
    if not all(0 <= score.fmeasure <= 1 for score in dict(rouge).values()):
        raise AssertionError(f"rouge is {rouge} of {texts!r}")


def fuzz_metric_strings(rng: random.Random, folder: Path) -> None:
    text = mutate(rng.choice(METRICS).encode(), rng).decode("utf-8", "replace")
    log = {"click": [1, 0, 1, 0], "pctr": [0.75, 0.5, 0.25, 0.125], "user": [1, 2, 1, 2]}
    fm.evaluate(log, [text], label="click", score="pctr", group="user", n_threads=1)


def fuzz_coco_json(rng: random.Random, folder: Path) -> None:
    truth, found = json.dumps(GROUND_TRUTH).encode(), json.dumps(DETECTIONS).encode()
    truth, found = (mutate(truth, rng), found) if rng.random() < 0.5 else (truth, mutate(found, rng))
    fm.coco_map(write(folder, "truth.json", truth), write(folder, "found.json", found))


def make_state() -> bytes:
    state = fm.Accumulator(["auc", "gauc", "logloss"], label="y", score="p", group="g")
    state.update({"y": [1, 0, 1, 0, 1], "p": [0.75, 0.5, 0.25, 0.125, 0.5], "g": ["a", "b", "a", "b", "b"]})
    return state.to_bytes()


def fuzz_states(rng: random.Random, folder: Path) -> None:
    """A state that is damaged is refused, or has the value of the whole one."""
    data = make_state()
    whole = fm.Accumulator.from_bytes(data).result()["auc"]
    damaged = mutate(data, rng)
    if fm.Accumulator.from_bytes(damaged).result()["auc"] != whole:
        raise AssertionError("a damaged state has another value")


def fuzz_functions(rng: random.Random, folder: Path) -> None:
    name = rng.choice(sorted(FUNCTIONS))
    numbers = np.random.default_rng(rng.getrandbits(32))
    rows = rng.choice([0, 1, 2, 3, 10, 100])
    log: dict[str, Any] = {
        "label": numbers.integers(0, 2, rows), "score": numbers.random(rows), "prob": numbers.random(rows),
        "group": numbers.integers(0, 3, rows), "pred": numbers.integers(0, 2, rows), "target": numbers.random(rows),
        "forecast": numbers.random(rows), "weight": numbers.random(rows),
    }  # fmt: skip
    if rng.random() < 0.5:
        del log["weight"]
    for column in rng.sample(sorted(log), rng.choice([1, 1, 2, 3])):
        log[column] = wrong_column(log[column], rng)
    FUNCTIONS[name].call(log)


def wrong_column(values: np.ndarray, rng: random.Random) -> Any:
    """A column of another type, shape or length, or with values that few columns have."""
    kind = rng.randrange(9)
    if kind == 0:
        types = ["?", "i1", "u1", "u8", "f2", "f4", "c16", "U3", "S3", "O", "M8[s]", "m8[s]", ">f8"]
        return values.astype(rng.choice(types))
    if kind == 1 and values.size:
        changed = values.astype(np.float64)
        changed[rng.randrange(values.size)] = rng.choice([np.nan, np.inf, -np.inf, -1.0, 1e300, 5e-324, -0.0, 2.0**63])
        return changed
    if kind == 2:
        return values.reshape(rng.choice([(-1, 1), (1, -1), (values.size, 1, 1)]))
    if kind == 3:
        return values[: rng.randrange(values.size + 1)]
    if kind == 4:
        items = values.tolist()
        for _ in range(min(len(items), 2)):
            items[rng.randrange(len(items))] = rng.choice([None, "x", b"x", (), [1], {}, 2**70, True, float("nan"), 1j])
        return items
    if kind == 5:
        return np.ma.masked_array(values, numpy_mask(values, rng))
    if kind == 6:
        return rng.choice([None, 0, "text", b"text", 0.5, {}, [], np.float64(1), np.zeros((2, 3)), object(), iter([1])])
    if kind == 7:
        return values[::-1]
    return np.repeat(values, 2)[::2]


def numpy_mask(values: np.ndarray, rng: random.Random) -> np.ndarray:
    return np.array([rng.random() < 0.3 for _ in range(values.size)], bool)


TARGETS: dict[str, Callable[[random.Random, Path], None]] = {
    "trec_files": fuzz_trec_files, "csv_logs": fuzz_csv_logs, "metric_strings": fuzz_metric_strings,
    "coco_json": fuzz_coco_json, "states": fuzz_states, "functions": fuzz_functions,
    "segments": fuzz_segments, "parquet_logs": fuzz_parquet_logs, "arrow_logs": fuzz_arrow_logs, "texts": fuzz_texts,
}  # fmt: skip


def run_case(target: str, seed: int, folder: Path) -> None:
    """Run the case of a seed. Raises what is not a documented error."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            TARGETS[target](random.Random(f"{target} {seed}"), folder)
        except ALLOWED as error:
            if not str(error):
                raise AssertionError(f"{type(error).__name__} without a message") from error


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        for number in sys.argv[2:]:
            run_case(sys.argv[1], int(number), Path(folder))
