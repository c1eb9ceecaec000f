"""Metrics of grades inside groups, in every entry point: labels that are grades are validated, kept and sent.

The metrics are registered by these tests only: the sum of every group's grades, with and without a cutoff.
"""

import copy
import itertools
import math
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import fastmetrics as fm
from fastmetrics._core import exact, registry
from fastmetrics._core.columns.row_blocks import SLICE, WEIGHT, Scratch, UnpooledScratch, label_name
from fastmetrics._core.columns.slice_sets import SliceSet
from fastmetrics._core.exchange.hash_exchange import GroupKeys, GroupLayout
from fastmetrics._core.kinds import GRADES, PARTITIONS, SIGNED_GRADES, TEXTS, Real
from fastmetrics._core.registry import parse
from fastmetrics._core.state import Fields, Sums, exact_sum
from fastmetrics._core.statistic import GroupedStatistic, Value
from fastmetrics._kernels.numeric import sums
from support.cases import assert_raises, each_case
from support.registry_cases import own_metrics
from support.states.accumulators import updated
from support.states.spilled_logs import KEYS, counted, log_of, repeated, small_batches
from support.states.state_bytes_parts import code_of, put_rows, put_together, rows_of, set_value, take_apart
from support.states.toy_engine import distributed_report, split_rows

COLUMNS = {"label": "grade", "score": "score", "group": "user"}
MADE: list[tuple[int, int]] = []  # statistics and outputs of every set of tables


class GradesByGroup:
    """The sum of the grades of every group, for each output."""

    ROW_BYTES = 40

    def __init__(
        self, statistics: Sequence[Any], layout: GroupLayout, chunks: Any, outputs: Any, scratch: Scratch,
        key_texts: Any = None, only_pairs: bool = False,
    ):  # fmt: skip
        self.layout, self.outputs, self.statistics = layout, outputs, statistics
        MADE.append((len(statistics), len(outputs)))

    @staticmethod
    def values_per_output(statistics: Sequence[Any]) -> int:
        return len(statistics)

    def tables(self, start: int, stop: int, own: SliceSet | None) -> Iterator[tuple[int, int | None, Any]]:
        if own is not None:
            self.layout.number_slices(own, start, stop)
        for partition in range(start, stop):
            if self.layout.partition_rows[partition]:
                yield from self.of_partition(partition, own is not None)

    def of_partition(self, partition: int, by_slice: bool) -> Iterator[tuple[int, int | None, Any]]:
        layout, rows = self.layout, int(self.layout.partition_rows[partition])
        groups = layout.find_groups(rows, UnpooledScratch().array)
        n = groups.find(partition, by_slice)
        numbers, slices = groups.group_of_row[:rows], groups.slices
        for number, output in enumerate(self.outputs):
            grades = [
                block.columns[label_name(output.label)][slice(*block.offsets[partition : partition + 2])]
                for block in layout.blocks
            ]
            assert {own.dtype for own in grades} == {np.dtype(np.float64 if layout.graded else np.uint8)}
            totals = np.bincount(numbers, np.concatenate(grades), minlength=n)
            for slice_number in np.unique(slices[:n]).tolist() if by_slice else (None,):
                yield number, slice_number, totals if slice_number is None else totals[slices[:n] == slice_number]

    @staticmethod
    def of_large_group(
        statistics: Sequence[Any], rows: Any, keys: GroupKeys, outputs: Any, by_slice: bool, n_threads: int,
        key_texts: Any = None,
    ) -> Iterator[tuple[int, int | None, Any]]:
        for number, output in enumerate(outputs):
            totals: dict[int | None, float] = {}
            for block in rows.block_readers([label_name(output.label), *([SLICE] if by_slice else [])]):
                own = block.load()
                slices = own.get(SLICE, np.zeros(block.rows, np.uint16))
                for slice_number in np.unique(slices).tolist():
                    key = slice_number if by_slice else None
                    grades = own[label_name(output.label)][slices == slice_number]
                    totals[key] = totals.get(key, 0.0) + float(grades.sum())
            for key, total in totals.items():
                yield number, key, np.array([total])


class GradeSums(GroupedStatistic):
    __slots__ = ("k", "power")
    fields = Fields("groups", exact_sum("values"))

    def __init__(self, power: int, k: int | None) -> None:
        self.power, self.k = power, k

    table = GradesByGroup

    def update(self, state: Sums, table: np.ndarray) -> None:
        state.add_count("groups", len(table))
        most = math.inf if self.k is None else self.k
        sums.sum_values(np.minimum(table, most) ** self.power, None, state.sum_of("values"))


def finalize(parameters: dict[str, Any], state: Sums) -> Value:
    """The mean over groups of a power of the sum of grades."""
    n_groups = state.count("groups")
    return Value(exact.divide(state.integer("values"), n_groups << exact.EXPONENT), {"rows": 1, "groups": n_groups})


def register_metric(name: str, negative_grades: bool = False, **options: Any) -> None:
    registry.metric(
        name, exchange="hash", statistics=lambda power=1, k=None: (GradeSums(power, k),), function=None, undefined="",
        parameters={"power": 1}, roles=SIGNED_GRADES if negative_grades else GRADES, **options,
    )(finalize)  # fmt: skip


finalize.__module__ = "fastmetrics.metrics.ranking"


@pytest.fixture(autouse=True)
def _metrics():
    with own_metrics(replaced="recall@k"):
        register_metric("sumgrades", cutoff=True)
        register_metric("anygrades", negative_grades=True)
        register_metric("recall", cutoff="required")
        register_metric("capped", cutoff="required")
        yield


def log_with_grades(rows=3000, users=None, seed=4):
    log = log_of(rows, users, seed)
    grades = np.random.default_rng(seed).choice([0.0, 1.0, 2.0, 4.0], rows, p=[0.6, 0.2, 0.1, 0.1])
    return {"grade": grades, "user": log["group"], "score": log["prob"], "hour": log["hour"], "click": log["label"]}


def expected(log, power=1, cap=math.inf, label="grade"):
    _, places = np.unique(log["user"], return_inverse=True)
    return float(np.mean(np.minimum(np.bincount(places, log[label]), cap) ** power))


def evaluate(log, metrics=("sumgrades",), **options):
    return fm.evaluate(log, list(metrics), **{**COLUMNS, **options})


def new(metrics=("sumgrades",), **options):
    return fm.Accumulator(list(metrics), **{**COLUMNS, **options})




class TestNames:
    def test_with_and_without_a_cutoff(self):
        assert parse("recall").spec.target == "binary"
        assert parse("recall@50").spec.target == "graded"
        assert repr(parse(" recall ( power = 2 )@50")) == "recall(power=2)@50"
        assert parse("recall@50").signature({}).startswith("recall@50|power:1|v:")
        assert {"recall", "recall@k", "capped@k", "sumgrades"} <= {spec.name for spec in fm.list_metrics().values()}
        (spec,) = (spec for spec in fm.list_metrics().values() if spec.name == "capped@k")
        assert (spec.base_name, spec.cutoff, spec.example) == ("capped", "required", "capped@10")

    def test_functions_of_ranked_lists_know_their_own_measures(self):
        assert_raises(
            ValueError, r"^metric 'sumgrades' is not one of ranked lists: auc@10, bpref",
            fm.evaluate_ranking, {"q": {"d": 1}}, {"q": {"d": 1.0}}, "sumgrades",
        )

    def test_an_optional_cutoff(self):
        assert (parse("sumgrades").k, parse("sumgrades@7").k) == (None, 7)
        assert parse("sumgrades@7") != parse("sumgrades")
        log = log_with_grades(300)
        assert evaluate(log, ["sumgrades@2", "sumgrades"])["sumgrades@2"] == expected(log, cap=2)

    @each_case(
        ("text", "message"),
        [
            ("capped", r"^metric 'capped' needs a cutoff: write capped@10$"),
            ("capped(power=2)", r"^metric 'capped' needs a cutoff: write capped@10$"),
            ("capped@0", r"^the cutoff of 'capped' must be at least 1; found @0$"),
            ("anygrades@3", r"^metric 'anygrades' takes no cutoff; found @3; write 'anygrades'$"),
            ("capped@k", r"^metric 'capped' needs a cutoff: write capped@10$"),
            ("cappd@3", r"^unknown metric 'cappd'; did you mean 'capped@3'"),
            ("cappd", r"^unknown metric 'cappd'; did you mean 'capped@10'"),
            ("capped(threshold=1)@3", "has no parameter 'threshold'; known: power"),
        ],
    )
    def test_wrong_metric_strings(self, text, message):
        assert_raises(ValueError, message, parse, text)

    @pytest.mark.parametrize(
        ("name", "options"), [("capped", {"cutoff": True}), ("capped", {"cutoff": "required"}), ("sumgrades", {}),
                              ("sumgrades", {"cutoff": "required"})]
    )  # fmt: skip
    def test_a_name_twice(self, name, options):
        assert_raises(ValueError, "is registered twice", register_metric, name, **options)

    def test_a_name_may_have_one_metric_with_and_one_without_a_cutoff(self):
        register_metric("capped")
        assert (parse("capped").spec.cutoff, parse("capped@3").spec.cutoff) == (False, "required")

    @each_case(("exchange", "roles"), itertools.product(("range", "hash"), (TEXTS, PARTITIONS)))
    def test_exchanges_move_numbers(self, exchange, roles):
        options = {"exchange": exchange, "statistics": tuple, "function": None, "undefined": "", "roles": roles}
        message = "metric 'x' needs exchange 'none': exchanges move numbers"
        assert_raises(ValueError, message, registry.metric, "x", **options)

    @each_case("role", ["group", "weight", "by", "unit", "a b"])
    def test_roles_with_another_meaning(self, role):
        options = {"exchange": "none", "statistics": tuple, "function": None, "undefined": "", "roles": {role: Real()}}
        assert_raises(ValueError, f"cannot have a role '{role}'", registry.metric, "x", **options)


class TestGrades:
    @each_case("dtype", ["f2", "f4", "f8", ">f8", "i1", "u1", "i8", "u8", "?"])
    def test_any_type(self, dtype):
        log = log_with_grades()
        log["grade"] = log["grade"].astype(dtype)
        assert evaluate(log)["sumgrades"] == expected({**log, "grade": log["grade"].astype(np.float64)})

    def test_minus_one_and_one_are_numbers(self):
        log = log_with_grades()
        log["grade"] = np.where(log["click"], 1, -1)
        assert evaluate(log, ["anygrades"])["anygrades"] == expected(log)

    @pytest.mark.parametrize("by", [None, "hour"])
    def test_negative_grades_are_refused_with_their_row(self, by):
        log = log_with_grades()
        log["grade"][[1999, 2500]] = -0.5
        message = (
            r"^label column 'grade' has -0.5 at row 1999: grades of relevance \(sumgrades\) must not be negative$"
        )
        for data in (log, pa.table(log).to_reader(max_chunksize=70)):
            assert_raises(ValueError, message, evaluate, data, ["anygrades", "sumgrades"], by=by)
        assert evaluate(log, ["anygrades"])["anygrades"] == expected(log)
        state = updated(new(), log_with_grades(50))
        before = state.to_bytes()
        assert_raises(ValueError, r"-0\.5 at row 1999", state.update, log)
        assert state.to_bytes() == before

    def test_minus_zero_is_zero(self):
        log = log_with_grades(20)
        log["grade"] = -0.0 * log["grade"]
        assert evaluate(log)["sumgrades"] == 0

    @pytest.mark.parametrize("value", [math.inf, math.nan])
    def test_grades_that_are_not_finite(self, value):
        log = log_with_grades(200)
        log["grade"][17] = value
        assert_raises(ValueError, r"'grade' has (inf|NaN) at row 17", evaluate, log)
        if math.isnan(value):
            left = {name: np.delete(column, 17) for name, column in log.items()}
            report = evaluate(log, on_invalid="drop")
            assert (report["sumgrades"], report.dropped) == (expected(left), {"null or NaN label": 1})

    def test_beside_metrics_of_numbers(self):
        log = log_with_grades()
        report = evaluate(log, ["mse", "sumgrades", "mae"])
        assert report["sumgrades"] == expected(log)
        assert report["mse"] == fm.mean_squared_error(log["grade"], log["score"])

    def test_beside_metrics_of_classes(self):
        log = log_with_grades()
        report = evaluate(log, ["sumgrades", "gauc", "auc", "mse"], label="click", by="hour")
        assert report.value("sumgrades", slice={}) == expected(log, label="click")
        assert report.value("gauc", slice={}) == fm.gauc_score(log["click"], log["score"], log["user"])
        message = (
            r"^label column 'grade' has 4.0 at row \d+: labels must be 0 and 1 where metrics of classes \(gauc\) and "
            r"of grades \(sumgrades\) share them; ask for the two kinds separately$"
        )
        log["grade"][log["grade"] == 2] = 0
        assert_raises(ValueError, message, evaluate, log, ["gauc", "sumgrades"])
        assert_raises(
            ValueError, r"\(gauc\), of numbers \(mse\) and of grades \(sumgrades\) share",
            evaluate, log, ["gauc", "sumgrades", "mse"],
        )

    def test_gauc_keeps_one_byte_per_label(self):
        log = log_with_grades()
        for metrics, n_bytes in ((["gauc"], 1), (["gauc", "anygrades"], 1), (["anygrades"], 8)):
            state = updated(new(metrics, label="click"), log)
            state.flush()
            assert state._state.parts[0].range_store().types["label 0"].itemsize == n_bytes

    def test_metrics_that_share_tables_share_a_pass(self):
        MADE.clear()
        log = log_with_grades()
        report = evaluate(log, ["sumgrades", "sumgrades(power=2)", "capped@3", "gauc"], label="click")
        assert MADE == [(3, 1)]
        assert report["sumgrades(power=2)"] == expected(log, 2, label="click")
        assert report["capped@3"] == expected(log, cap=3, label="click")


OPTIONS = {
    "plain": {},
    "slices": {"by": "hour"},
    "two labels": {"label": ["grade", "click"]},
    "classes too": {"label": "click", "metrics": ["sumgrades", "gauc", "auc"], "by": "hour"},
    "numbers too": {"metrics": ["sumgrades", "mse"]},
}  # fmt: skip


@pytest.mark.parametrize("name", OPTIONS)
class TestEveryEntryPoint:
    def test_rows_batches_threads_and_files(self, name, tmp_path):
        options, log = OPTIONS[name], log_with_grades()
        whole = evaluate(log, **options)
        order = np.random.default_rng(1).permutation(3000)
        table = pa.table({column: values[order] for column, values in log.items()})
        pa.parquet.write_table(table, tmp_path / "log.parquet", row_group_size=400)
        for data in (table, tmp_path / "log.parquet"):
            for n_threads in (1, 3):
                assert evaluate(data, n_threads=n_threads, **options) == whole
        assert evaluate(table.to_reader(max_chunksize=13), **options) == whole

    @each_case("kind", ["int64", "any text"])
    def test_spilled_and_large_groups(self, name, kind, monkeypatch):
        options, log = OPTIONS[name], repeated(log_with_grades(60_000, seed=9), "user", 0.5, 5)
        log["user"] = KEYS[kind](log["user"])
        whole = evaluate(log, **options)
        small_batches(monkeypatch, 3000)
        with monkeypatch.context() as patch:
            patch.setattr("support.states.spilled_logs.RARE_PATHS", {"large group": (GradesByGroup, "of_large_group")})
            with counted() as calls:
                assert evaluate(log, memory_limit="1MiB", **options) == whole
        assert calls["large group"] > 0

    def test_accumulators(self, name):
        options, log = OPTIONS[name], log_with_grades()
        whole = evaluate(log, **options)
        state = new(**options)
        ways = [copy.copy, lambda own: pickle.loads(pickle.dumps(own))]
        ways += [lambda own: fm.Accumulator.from_bytes(own.to_bytes())]
        for start in range(0, 3000, 500):
            part = new(**options)
            for at in (start, start + 100):
                stop = at + (100 if at == start else 400)
                columns = {column: values[at:stop].copy() for column, values in log.items()}
                # Types of labels may change between batches, and the caller may overwrite its memory.
                columns["grade"] = columns["grade"].astype(("f8", "f4", "i4")[start % 3])
                part.update(columns)
                columns["grade"][:] = 99
            state.merge(ways[start // 500 % 3](part))
        assert state.result() == whole
        assert fm.Accumulator.from_bytes(state.to_bytes()).result() == whole

    @each_case("n_sources", [1, 3])
    def test_rows_that_an_engine_moves(self, name, n_sources):
        log = log_with_grades()
        options = {**COLUMNS, "metrics": ["sumgrades"], **OPTIONS[name]}
        assert distributed_report(options.pop("metrics"), options, split_rows(log, n_sources)) == evaluate(
            log, **OPTIONS[name]
        )

    def test_wrong_grades_in_a_state(self, name):
        options, log = OPTIONS[name], log_with_grades(40)
        state = updated(new(**options), log)
        is_graded = "classes" not in name
        for value in (math.nan, math.inf, -1.0) if is_graded else ():
            header, arrays, sections = take_apart(state.to_bytes())
            set_value(sections, "label 0", 3, code_of(value))
            assert_raises(
                ValueError, "a grade is (not finite|negative)",
                fm.Accumulator.from_bytes, put_together(header, arrays, sections),
            )  # fmt: skip
        header, arrays, sections = take_apart(state.to_bytes())
        columns = rows_of(sections)
        columns["label 0"] = columns["label 0"].astype(np.bool_ if is_graded else np.int64)
        put_rows(sections, columns)
        assert_raises(ValueError, "damaged", fm.Accumulator.from_bytes, put_together(header, arrays, sections))


def test_a_state_of_any_grades_may_have_negative_ones():
    log = log_with_grades(40)
    log["grade"] -= 1
    state = updated(new(["anygrades"]), log)
    assert fm.Accumulator.from_bytes(state.to_bytes()).result()["anygrades"] == expected(log)


def test_a_group_column_is_needed():
    assert_raises(
        ValueError, "metric capped@3 is computed inside groups",
        fm.evaluate, log_with_grades(9), ["capped@3"], label="grade", score="score",
    )


def test_weights_reach_the_tables():
    seen = []

    class Looking(GradesByGroup):
        def of_partition(self, partition, by_slice):
            seen.append(self.layout.rows.has_weights and WEIGHT in self.layout.blocks[0].columns)
            return super().of_partition(partition, by_slice)

    log = {**log_with_grades(100), "w": np.ones(100)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GradeSums, "table", Looking)
        evaluate(log, weight="w")
    assert seen
    assert all(seen)
