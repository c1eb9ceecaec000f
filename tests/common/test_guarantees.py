"""Guarantees of the design, tested with ==: exact values, any order of rows, no hidden state, inputs never modified."""

import concurrent.futures
import inspect
import itertools
import os
import random
import subprocess
import sys
import textwrap
import threading
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fastmetrics as fm
from oracles import curves
from support import strategies
from support.cases import each_case
from support.curve_cases import LARGE_ROWS
from support.function_cases import (
    FUNCTIONS,
    RANKING_FUNCTIONS,
    UNGROUPED,
    add_weights,
    every_value,
    map_columns,
    needs_both_classes,
)
from support.peers import pandas, polars

TESTS = str(Path(__file__).resolve().parents[1])  # other processes import support from there

BLOCK_SIZES = [32_767, 32_768, 32_769, 65_535, 65_536, 65_537, 131_071, 131_072, 131_073]
ALL_SIZES = [*strategies.EDGE_SIZES, 1023, 1024, 1025, 4095, 4096, 4097, *BLOCK_SIZES]


def log_of(rows, seed=0, **options):
    return strategies.click_log(rows, seed=seed + rows, **options)


def in_order(log, order):
    return map_columns(log, lambda column: column[order])


class TestOrderFree:
    @pytest.mark.parametrize("weights", ["unweighted", "integer weights"])
    @pytest.mark.parametrize("rows", [2, 63, 64, 65, 1000, LARGE_ROWS])
    def test_any_row_order(self, rows, weights):
        log = log_of(rows)
        if weights != "unweighted":
            log = add_weights(log)
            log["weight"][:2] = 1.0
        expected = every_value(log)
        orders = {
            "shuffled": np.random.default_rng(rows).permutation(rows),
            "reversed": np.arange(rows)[::-1],
            "ascending scores": np.argsort(log["score"], kind="stable"),
            "descending scores": np.argsort(-log["score"], kind="stable"),
            "by group": np.argsort(log["group"], kind="stable"),
            "positives last": np.argsort(log["label"], kind="stable"),
        }
        if rows == LARGE_ROWS:  # smaller logs have every order
            names = ["shuffled", "by group", "positives last"] if weights == "unweighted" else ["shuffled"]
            orders = {name: orders[name] for name in names}
        for name, order in orders.items():
            assert every_value(in_order(log, order)) == expected, name

    def test_any_row_order_with_real_weights(self):
        log = add_weights(log_of(30_000), integer=False)
        order = np.random.default_rng(0).permutation(30_000)
        assert every_value(in_order(log, order)) == every_value(log)

    @pytest.mark.parametrize("levels", [1, 2, 7, 1000, None])
    def test_any_amount_of_ties(self, levels):
        log = log_of(20_000, levels=levels)
        log = {**log, "score": log["prob"]}
        expected = every_value(log)
        for seed in range(2):
            assert every_value(in_order(log, np.random.default_rng(seed).permutation(20_000))) == expected

    @given(strategies.grouped_scores(min_size=2), st.randoms(use_true_random=False))
    def test_any_row_order_of_extreme_scores(self, case, randomness):
        log = dict(zip(("label", "score", "group"), case, strict=True))
        order = list(range(len(case[0])))
        randomness.shuffle(order)
        moved = in_order(log, order)
        for names, options in (
            (["roc_auc_score"], {"allow_infinite": True}),
            (["ks_statistic", "gauc_score", "auc_by_group"], {}),
        ):
            assert every_value(moved, names, **options) == every_value(log, names, **options)


class TestThreadFree:
    @pytest.mark.parametrize(
        ("rows", "weights"),
        [*itertools.product([2, 65, 5000], [None, "integer", "real"]), (LARGE_ROWS, None), (LARGE_ROWS, "real")],
    )
    def test_any_number_of_threads(self, rows, weights):
        log = log_of(rows, users=max(rows // 10, 2))
        if weights is not None:
            log = add_weights(log, integer=weights == "integer")
            log["weight"][:2] = 1.0
        expected = every_value(log, n_threads=1)
        many = (7, None) if weights is None else (7,)
        for n_threads in (2, 7, None) if rows < LARGE_ROWS else many:
            assert every_value(log, n_threads=n_threads) == expected, n_threads

    def test_one_thread_starts_no_thread(self, monkeypatch):
        def refuse(thread):
            raise AssertionError(f"started {thread}")

        monkeypatch.setattr(threading.Thread, "start", refuse)
        every_value(log_of(140_003), n_threads=1)

    def test_no_more_threads_than_asked_for(self):
        """Sampled by another thread: the process never has more than n_threads extra threads."""
        log = log_of(140_003)
        before, most, done = threading.active_count(), 0, threading.Event()

        def watch():
            nonlocal most
            while not done.is_set():
                most = max(most, threading.active_count())
                done.wait(0.0005)

        watcher = threading.Thread(target=watch)
        watcher.start()
        every_value(log, n_threads=3)
        done.set()
        watcher.join()
        assert most <= before + 1 + 3

    def test_concurrent_calls_do_not_disturb_each_other(self):
        logs = [log_of(20_000, seed=seed) for seed in range(4)]
        expected = [every_value(log) for log in logs]
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            for _ in range(2):
                assert list(pool.map(every_value, logs)) == expected


class TestTypes:
    @pytest.mark.parametrize("rows", [64, 20_000])
    def test_float32_and_float64_of_the_same_numbers(self, rows):
        """The values that are exact in float32 give the same result in both types."""
        log = log_of(rows, dtype="float32")
        wide = {name: c.astype("float64") if c.dtype.kind == "f" else c for name, c in log.items()}
        assert every_value(log) == every_value(wide)

    @each_case("name", UNGROUPED)
    def test_float16_and_integer_scores_are_converted_exactly(self, name):
        log = log_of(500)
        narrow = {**log, "score": log["score"].astype("float16"), "prob": log["prob"].astype("float16")}
        wide = {**log, "score": narrow["score"].astype("float64"), "prob": narrow["prob"].astype("float64")}
        assert every_value(narrow, [name]) == every_value(wide, [name])
        for dtype in ("bool", "int8", "int32", "uint16", "int64", "uint64"):
            whole = {**log, "score": (log["score"] > 0).astype(dtype), "prob": (log["prob"] > 0.1).astype(dtype)}
            wide = {**log, "score": whole["score"].astype("float64"), "prob": whole["prob"].astype("float64")}
            assert every_value(whole, [name]) == every_value(wide, [name]), dtype

    def test_large_integer_scores_are_exact_or_refused(self):
        """2**53 and 2**53 + 1 are the same double: no silent tie."""
        for scores in (np.array([2**53, 2**53 + 1]), np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64)):
            y_true = (scores == scores.max()).astype(int)
            try:
                value = fm.roc_auc_score(y_true, scores)
            except (ValueError, TypeError):
                continue
            assert value == 1.0

    @pytest.mark.parametrize("dtype", strategies.LABEL_DTYPES)
    def test_label_types(self, dtype):
        log = log_of(5000)
        assert every_value({**log, "label": log["label"].astype(dtype)}) == every_value(log)

    @pytest.mark.parametrize("dtype", strategies.SIGNED_LABEL_DTYPES)
    def test_labels_of_minus_one_and_one(self, dtype):
        log = log_of(5000)
        names = [name for name in FUNCTIONS if all("labels" not in options for options in FUNCTIONS[name].options)]
        names = [name for name in names if name not in RANKING_FUNCTIONS]  # relevance of -1 is no class
        expected = every_value(log, names)
        signed = {name: (2 * log[name] - 1).astype(dtype) for name in ("label", "pred")}
        assert every_value({**log, **signed}, names) == expected

    def test_labels_of_minus_zero(self):
        log = log_of(100)
        assert every_value({**log, "label": np.where(log["label"] == 1, 1.0, -0.0)}) == every_value(log)

    @pytest.mark.parametrize(
        "container",
        [
            list,
            tuple,
            np.ndarray.tolist,
            lambda column: pandas().Series(column),
            lambda column: pandas().Series(column, index=np.arange(len(column))[::-1]),
            lambda column: polars().Series(column),
            pa.array,
            lambda column: pa.chunked_array([column[:1], column[1:4], column[4:4], column[4:]]),
            memoryview,
        ],
        ids=[
            "list of scalars",
            "tuple",
            "list",
            "pandas",
            "pandas with an index",
            "polars",
            "arrow",
            "chunked",
            "buffer",
        ],
    )
    def test_containers(self, container):
        log = log_of(500)
        assert every_value(map_columns(log, container)) == every_value(log)

    def test_nullable_and_arrow_backed_pandas(self):
        log = log_of(500)
        expected = every_value(log)
        series = pandas().Series
        arrow_array = pandas().arrays.ArrowExtensionArray
        nullable = {name: series(column).convert_dtypes() for name, column in log.items()}
        arrow = {name: series(arrow_array(pa.array(column))) for name, column in log.items()}
        assert every_value(nullable) == expected
        assert every_value(arrow) == expected

    def test_arrow_booleans_with_an_offset(self):
        """Arrow packs booleans into bits: a slice need not start at a byte."""
        log = log_of(500)
        labels = pa.array(np.concatenate([np.zeros(3, bool), log["label"].astype(bool)])).slice(3)
        assert every_value({**log, "label": labels}) == every_value(log)


class TestInputs:
    """Inputs are only read, in any memory layout."""

    @pytest.mark.parametrize("rows", [100, LARGE_ROWS])
    def test_inputs_are_never_modified(self, rows):
        log = add_weights(log_of(rows))
        before = map_columns(log, np.copy)
        every_value(log)
        for name, column in log.items():
            assert column.tobytes() == before[name].tobytes(), name

    @pytest.mark.parametrize("rows", [65, 10_000])
    def test_any_memory_layout(self, rows):
        log = add_weights(log_of(rows))
        expected = every_value(log)
        layouts = {
            "strided": lambda column: np.repeat(column, 3)[::3],
            "negative stride": lambda column: column[::-1].copy()[::-1],
            "column of a matrix": lambda column: np.stack([column, column], axis=1)[:, 0],
            "byte-swapped": lambda column: column.astype(column.dtype.newbyteorder()),
            "of ctypes": lambda column: column.astype(column.dtype.newbyteorder("<")),
            "byte-swapped and strided": lambda column: np.repeat(column.astype(column.dtype.newbyteorder()), 2)[::2],
            "unaligned": unaligned,
            "broadcast": None,
        }
        for name, layout in layouts.items():
            if layout is not None:
                assert every_value(map_columns(log, layout)) == expected, name
        constant = np.broadcast_to(np.float64(1.0), rows)
        assert every_value({**log, "weight": constant}) == every_value({**log, "weight": np.ones(rows)})

    @each_case("rows", ALL_SIZES)
    def test_sizes_around_words_vectors_and_blocks(self, rows):
        log = log_of(rows, users=7)
        one_class = rows == 1
        names = [name for name in FUNCTIONS if not (one_class and needs_both_classes(name))]
        values = every_value(log, names, n_threads=2)
        assert every_value(map_columns(log, np.ndarray.tolist) if rows < 5000 else log, names, n_threads=1) == values
        if not one_class:
            for dtype in strategies.SCORE_DTYPES:
                scores = log["score"].astype(dtype)
                expected = curves.auc_by_ranks(log["label"].tolist(), scores.tolist())
                assert fm.roc_auc_score(log["label"], scores) == float(expected)


def unaligned(column):
    """The same values one byte off their natural alignment."""
    buffer = np.empty(column.nbytes + 1, dtype=np.uint8)
    view = (
        buffer[1:].view(column.dtype)
        if column.itemsize == 1
        else np.ndarray(column.shape, column.dtype, buffer.data, offset=1)
    )
    view[:] = column
    return view


class TestGlobalState:
    """No mutable globals, no threads at import, no effect of the environment, safe after fork."""

    @staticmethod
    def run(code, **environment):
        """Run code in a new interpreter and return its output; it fails after a timeout."""
        variables = {**os.environ, **environment}
        result = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, env=variables
        )
        assert result.returncode == 0, result.stderr
        return result.stdout.strip()

    def test_import_starts_no_thread_and_loads_no_extra(self):
        code = """
            import sys, threading
            import numpy
            before = set(sys.modules)
            import fastmetrics
            assert threading.active_count() == 1
            extra = {name.split(".")[0] for name in set(sys.modules) - before}
            print(sorted(extra & {"pyarrow", "pandas", "polars", "duckdb", "sklearn", "scipy", "typer", "rich"}))
        """
        assert self.run(code) == "[]"

    def test_functions_need_numpy_alone(self):
        """With every extra missing the functions still work on arrays and lists."""
        code = """
            import sys
            for name in ("pyarrow", "pandas", "polars", "duckdb", "sklearn", "scipy", "typer", "rich"):
                sys.modules[name] = None
            import fastmetrics as fm
            import numpy as np
            y_true, y_score = [0, 1], np.array([0.1, 0.2])
            print(fm.roc_auc_score(y_true, y_score), fm.log_loss(y_true, y_score) > 0,
                  fm.gauc_score(y_true, y_score, ["a", "a"]), fm.gauc_score(y_true, y_score, np.array(["a", "a"])))
        """
        assert self.run(code) == "1.0 True 1.0 1.0"

    def test_the_environment_changes_no_result(self):
        code = """
            from support import strategies
            from support.function_cases import every_value
            print(sorted(every_value(strategies.click_log(20_000)).items()))
        """
        code = f"import sys; sys.path.insert(0, {TESTS!r})\n" + textwrap.dedent(code)
        plain = self.run(code)
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NPY_DISABLE_CPU_FEATURES": ""}
        assert self.run(code, PYTHONHASHSEED="1", **threads) == plain

    @pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
    def test_fork_after_use(self):
        code = """
            import os, warnings
            warnings.simplefilter("ignore")
            from support import strategies
            from support.function_cases import every_value
            log = strategies.click_log(70_003)
            expected = every_value(log, n_threads=3)
            child = os.fork()
            if child == 0:
                os._exit(0 if every_value(log, n_threads=3) == expected else 3)
            _, status = os.waitpid(child, 0)
            print(os.waitstatus_to_exitcode(status), every_value(log, n_threads=3) == expected)
        """
        code = f"import sys; sys.path.insert(0, {TESTS!r})\n" + textwrap.dedent(code)
        assert self.run(code) == "0 True"

    def test_calls_leave_no_thread_behind_that_keeps_the_process_alive(self):
        code = """
            from support import strategies
            from support.function_cases import every_value
            every_value(strategies.click_log(70_003), n_threads=3)
            print("done")
        """
        code = f"import sys; sys.path.insert(0, {TESTS!r})\n" + textwrap.dedent(code)
        assert self.run(code) == "done"

    def test_a_call_changes_no_global(self):
        """A call changes no plain value at module level, in any module of the package."""
        every_value(log_of(1000))
        before = module_values()
        every_value(log_of(70_003), n_threads=3)
        assert module_values() == before

    def test_calls_touch_no_global_random_state(self):
        random.seed(1)
        state, numpy_state = random.getstate(), np.random.get_state()[1].tobytes()  # noqa: NPY002
        every_value(log_of(1000))
        assert random.getstate() == state
        assert np.random.get_state()[1].tobytes() == numpy_state  # noqa: NPY002


def module_values():
    """Plain containers and scalars at module level, as text."""
    values = {}
    for name, module in sorted(sys.modules.items()):
        if name.split(".")[0] == "fastmetrics" and inspect.ismodule(module):
            for key, value in vars(module).items():
                if not key.startswith("__") and isinstance(value, (dict, list, set, int, float, str, tuple)):
                    values[f"{name}.{key}"] = repr(value)
    return values


class TestExact:
    def test_counts_beyond_32_bits(self):
        """100 000 x 100 000 pairs do not fit 32 bits, nor does twice their number fit a float32."""
        positives, negatives = 100_001, 99_999
        y_true = np.r_[np.ones(positives, np.int8), np.zeros(negatives, np.int8)]
        y_score = np.r_[np.ones(positives), np.zeros(negatives - 1), 2.0]
        assert fm.roc_auc_score(y_true, y_score) == (negatives - 1) / negatives

    def test_one_positive_among_many(self):
        rows = 200_003
        y_true, y_score = np.zeros(rows, np.int8), np.arange(rows, dtype=np.float64)
        for position in (0, 1, rows // 2, rows - 1):
            y_true[:] = 0
            y_true[position] = 1
            assert fm.roc_auc_score(y_true, y_score) == position / (rows - 1)
            assert fm.roc_auc_score(y_true, -y_score) == (rows - 1 - position) / (rows - 1)

    def test_a_large_sum_is_rounded_once(self):
        """200,000 probabilities, none of which is an exact binary fraction of few digits."""
        y_proba = np.tile([0.1, 0.9, 0.3, 0.7], 50_000)
        y_true = np.tile([1, 0, 1, 0], 50_000)
        predicted = 50_000 * sum(Fraction(p) for p in (0.1, 0.9, 0.3, 0.7))
        assert fm.copc(y_true, y_proba) == float(100_000 / predicted)
