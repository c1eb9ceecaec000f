"""A worker process of `bench.paired`: it makes the data, and times calls of one checkout when it is told to.

    python -P bench/paired_worker.py CHECKOUT ROWS FOLDER

It reads one JSON object a line and answers with one:

    {"do": "describe"}                  names of the rows, versions
    {"do": "prepare", "row": NAME}      makes data, calls once, answers with a digest of the answer or with the error
    {"do": "time", "calls": N}          seconds of N calls of the prepared row
    {"do": "memory"}                    peak resident memory, in bytes

The checkout is first on the path. Data and rows come from the folder of this file, so that both workers run the same.
"""

import gc
import hashlib
import importlib.util
import json
import os
import platform
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

BENCH = Path(__file__).resolve().parent
SHOWN_CHARACTERS = 200


def import_rows() -> tuple[ModuleType, ModuleType]:
    """`bench.paired_rows` and `bench.paired_data` of this folder, not of the package `bench` of the checkout."""
    file, folders = BENCH / "__init__.py", [str(BENCH)]
    spec = importlib.util.spec_from_file_location("bench", file, submodule_search_locations=folders)
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["bench"] = package
    spec.loader.exec_module(package)
    return importlib.import_module("bench.paired_rows"), importlib.import_module("bench.paired_data")


def check_origin(checkout: Path) -> None:
    """All of fastmetrics that is loaded lies inside of the checkout: an installed one is not used by mistake."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if name.partition(".")[0] == "fastmetrics" and file is not None:
            assert Path(file).resolve().is_relative_to(checkout), f"{name} is {file}, outside of {checkout}"


def pieces(answer: Any) -> Iterator[bytes]:
    """All of an answer as bytes, to the last bit and with types."""
    if isinstance(answer, (tuple, list)):
        yield b"[%d" % len(answer)
        for one in answer:
            yield from pieces(one)
    elif isinstance(answer, dict):
        yield b"{%d" % len(answer)
        for key, value in answer.items():
            yield from pieces(key)
            yield from pieces(value)
    elif isinstance(answer, np.ndarray) and answer.dtype != object:
        yield f"array {answer.dtype.str} {answer.shape}".encode()
        yield answer.tobytes()
    elif isinstance(answer, np.ndarray):
        yield from pieces(answer.tolist())
    elif isinstance(answer, float):
        yield b"float " + float(answer).hex().encode()
    elif answer is None or isinstance(answer, (bool, int, str, bytes, np.generic)):
        yield f"{type(answer).__name__} {answer!r}".encode("utf-8", "surrogatepass")
    else:
        raise TypeError(f"the answer of a row must be plain values; found {type(answer).__name__}")


def digest(answer: Any) -> str:
    found = hashlib.sha256()
    for piece in pieces(answer):
        found.update(piece)
        found.update(b"\0")
    return found.hexdigest()


class Worker:
    def __init__(self, checkout: Path, n_rows: int, folder: Path) -> None:
        rows, data = import_rows()
        self.rows = {row.name: row for row in rows.ROWS}
        self.makers_of_data = data.DATA
        self.checkout = checkout
        self.n_rows = n_rows
        self.folder = folder
        self.data_name: str | None = None
        self.data: Any = None
        self.call: Callable[[], Any] | None = None
        check_origin(checkout)

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        match request["do"]:
            case "describe":
                return {"rows": list(self.rows), "versions": self.versions()}
            case "prepare":
                return self.prepare(request["row"])
            case "time":
                return {"seconds": self.seconds(request["calls"])}
            case "memory":
                from bench.memory import peak_of_this_process

                return {"bytes": peak_of_this_process()}
        raise ValueError(f"unknown request {request!r}")

    def versions(self) -> dict[str, str]:
        import fastmetrics

        return {"fastmetrics": fastmetrics.__version__, "python": platform.python_version(), "numpy": np.__version__}

    def prepare(self, name: str) -> dict[str, Any]:
        """Only one set of data is held at a time: rows of the same data follow each other."""
        row = self.rows[name]
        self.call = None
        if row.data != self.data_name:
            self.drop_data()
            self.data_name = row.data
            files = self.folder / row.data
            files.mkdir()
            self.data = self.makers_of_data[row.data](self.n_rows, files)
        self.call = row.bind(self.data)
        gc.freeze()  # a collection before every turn would look through all objects of the data
        answer = row.answer(self.call())
        check_origin(self.checkout)
        return {"digest": digest(answer), "shown": repr(answer)[:SHOWN_CHARACTERS]}

    def drop_data(self) -> None:
        gc.unfreeze()
        self.data = None
        gc.collect()
        if self.data_name is not None:
            shutil.rmtree(self.folder / self.data_name)
        self.data_name = None

    def seconds(self, calls: int) -> float:
        """Cyclic garbage is collected before and not meanwhile, as `timeit` does."""
        assert self.call is not None
        call, numbers = self.call, range(calls)
        gc.collect()
        gc.disable()
        try:
            start = time.perf_counter()
            for _ in numbers:
                call()
            return time.perf_counter() - start
        finally:
            gc.enable()


def main() -> None:
    checkout, n_rows, folder = sys.argv[1:]
    with os.fdopen(os.dup(1), "w", encoding="utf-8") as replies:
        os.dup2(2, 1)  # whatever a library prints must not stand between the replies
        warnings.simplefilter("ignore")
        worker = Worker(Path(checkout).resolve(), int(n_rows), Path(folder))
        for line in sys.stdin:
            try:
                reply = worker.answer(json.loads(line))
            except Exception:  # noqa: BLE001 - the driver reports it beside the row
                reply = {"error": traceback.format_exc(limit=-1)}
            print(json.dumps(reply), file=replies, flush=True)


if __name__ == "__main__":
    main()
