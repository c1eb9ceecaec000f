"""States that are fed batch by batch, travel between processes, and merge: for scoring jobs and streaming loops."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from fastmetrics._core import keys
from fastmetrics._core.by_group import UNKNOWN_ROWS
from fastmetrics._core.histogram import BIN_BYTES, ScoreHistogram
from fastmetrics._core.inputs import check_seen_labels
from fastmetrics._core.memory import parse_integer, parse_text
from fastmetrics._core.parallel import count_threads, for_each
from fastmetrics._core.registry import Metric
from fastmetrics._core.rows import BLOCK_ROWS, Columns
from fastmetrics._kernels import columns as kernels
from fastmetrics.engine.columns import ROW_UNITS, Block, title
from fastmetrics.engine.evaluate import check_rows, make_report, prepare, read_names
from fastmetrics.engine.intervals import Resampling, added_to, find_intervals, read_resampling
from fastmetrics.engine.plan import make_plan
from fastmetrics.engine.report import Report
from fastmetrics.engine.resolve import States, additive_states, resolve
from fastmetrics.engine.scan import Additive, Scan, Worker, found_at, split_by_slice

BESIDE_BINS = 1 << 16  # a state of so many bytes leaves a 64th of them for what is not bins
FLUSH_ROWS = 8 * BLOCK_ROWS  # rows that wait until the exchange is worth several threads
SMALLEST_STATE = 1 << 12
MOST_ROWS = (1 << 63) - 1  # counts are integers of 64 bits
MIX = "labels must be 0 and 1, or -1 and +1, not a mix"


class Accumulator:
    """Metrics of rows that come batch by batch, perhaps in several processes.

    Each worker updates an accumulator of its own; they are merged in any order, and the result is that of one
    `evaluate` over all rows, to the last bit. Metrics of global order and of groups have to see all rows in one place:
    for them a state keeps 9 bytes a row (label and float64 score) and 8 more for an integer group key. With
    ``approximate=True`` a state has a bounded size instead, and `auc` comes with a certified interval.

    An accumulator can be pickled and copied. It is not to be used by two threads at the same time.

    Parameters
    ----------
    metrics : sequence of str, or str
        As for `evaluate`.
    label, score : str or list of str
        Columns of the batches, as for `evaluate`: metrics of text and of partitions have names for them.
    group, weight : str, optional
        Columns of group keys and of row weights.
    by : str or list of str, optional
        Columns that cut the rows into slices.
    on_invalid : {"raise", "drop"}
        A null or NaN in a column that is read: an error that names the row of the batch; or the row is left out and
        counted.
    n_threads : int, optional
        Threads to use in this process; no result depends on it.
    approximate : bool
        Keep the scores in a histogram over their ordered bits, of at most `state_size` for every label, score and
        slice. Values of metrics of global order are then the midpoints of `Result.interval`, which contains the exact
        value. Metrics without an exchange stay exact. Group metrics and weights are refused.
    state_size : int or str
        Bytes, or text such as "4MiB", for the histogram of an approximate state. Larger states give narrower
        intervals.
    ci, ci_method, replicates, seed, unit : optional
        Intervals, as for `evaluate`: the result has them. Units need a column (by default the group): rows of batches
        have no places in a log. For resampling a state keeps the rows with their units.

    Examples
    --------
    >>> import fastmetrics as fm
    >>> whole = fm.Accumulator(["auc", "logloss"], label="click", score="pctr")
    >>> part = fm.Accumulator(["auc", "logloss"], label="click", score="pctr")
    >>> whole.update({"click": [1, 0], "pctr": [0.9, 0.3]})
    >>> part.update({"click": [0, 1], "pctr": [0.8, 0.2]})
    >>> whole.merge(fm.Accumulator.from_bytes(part.to_bytes())).result()["auc"]
    0.5

    Texts are counted as they come, and not kept:

    >>> state = fm.Accumulator("bleu")
    >>> state.update({"hypothesis": ["the cat sat on the mat"], "reference": ["the cat sat on a mat"]})
    >>> round(state.result()["bleu"], 2)
    53.73

    Of partitions the pairs of labels that occur are kept, and how often:

    >>> state = fm.Accumulator(["ari", "purity"])
    >>> state.update({"label": ["a", "a", "b"], "cluster": [1, 1, 2]})
    >>> state.update({"label": ["b", "a"], "cluster": [2, 2]})
    >>> round(state.result()["ari"], 4), state.result()["purity"]
    (0.1667, 0.8)
    """

    def __init__(
        self,
        metrics: str | Sequence[str | Metric],
        *,
        label: str | Sequence[str] | None = None,
        score: str | Sequence[str] | None = None,
        group: str | None = None,
        weight: str | None = None,
        by: str | Sequence[str] | None = None,
        on_invalid: str = "raise",
        n_threads: int | None = None,
        approximate: bool = False,
        state_size: int | str = "4MiB",
        ci: float | None = None,
        ci_method: str = "bootstrap",
        replicates: int = 1000,
        seed: int = 0,
        unit: str | None = None,
    ) -> None:
        plan = make_plan(metrics)
        self.names = read_names(plan, label, score, group, weight, by)
        self.resampling = read_resampling(ci, ci_method, replicates, seed, unit, group, plan, weight)
        plan = added_to(plan, self.resampling)
        self.on_invalid = on_invalid
        self.n_threads = n_threads
        self.approximate = bool(approximate)
        self.state_size = parse_state_size(state_size)
        count_threads(n_threads)
        if self.approximate:
            refuse_approximate(plan, weight)
        read = self.names if plan.needs("group") else self.names._replace(group=None)
        if self.resampling is not None:
            check_resampling(self.resampling, plan, self.approximate)
            self.names = self.names._replace(unit=self.resampling.unit)
            read = read._replace(unit=self.resampling.drawn_unit)
        self.scan = Scan(plan, read, on_invalid, UNKNOWN_ROWS)
        self.additive = Additive(plan, self.scan.views)
        self.histograms: dict[tuple[int, int | None], ScoreHistogram] = {}
        self.types: tuple[str, ...] | None = None
        self.pending: list[Block] = []
        self.pending_rows = 0

    def __repr__(self) -> str:
        metrics = ", ".join(map(str, self.scan.plan.metrics))
        kind = "approximate, " if self.approximate else ""
        return f"Accumulator({metrics}; {kind}{self.rows:,} rows)"

    @property
    def rows(self) -> int:
        """Rows taken in so far, the dropped ones included."""
        return self.scan.rows

    @property
    def capacity(self) -> int:
        """Bins of an approximate state's histogram; a little of the state is left for all that is beside them."""
        return (self.state_size - (self.state_size // 64 if self.state_size >= BESIDE_BINS else 0)) // BIN_BYTES

    def update(self, batch: Any) -> None:
        """Take in rows; if they are refused, nothing has changed.

        Parameters
        ----------
        batch : Arrow data, data frame, dict of arrays or path
            Anything that `evaluate` reads, with the columns named. Column types have to stay the same from batch to
            batch.

        Raises
        ------
        ValueError
            As `evaluate`; rows are counted from the beginning of the batch.
        TypeError
            A column whose type differs from that of earlier batches.
        OverflowError
            More than 2**63 - 1 rows in all.
        """
        from fastmetrics.engine.sources import open_source

        names = self.scan.names
        source = open_source(batch)
        prepare(source, self.scan.plan, names)
        for role, column in names.parts():
            source.require(column, role)
        slices = self.scan.reader.slices
        before = len(slices), self.types, self.scan.exchange, self.scan.units
        waiting = len(self.pending), self.pending_rows
        histograms = {key: histogram.copy() for key, histogram in self.histograms.items()}
        blocks = []
        first_row = 0
        try:
            additive = Additive(self.scan.plan, self.scan.views)
            for rows in source.batches(names.wanted(), use_threads=False):
                block = self.scan.reader.read(rows, first_row)
                first_row += rows.num_rows
                if block.seen:
                    # A batch without a valid row says nothing about types: its columns may be all null.
                    self.check_types(rows.schema)
                    self.scan.prepare(rows)
                if block.columns is not None:
                    additive.update(block.columns)
                    if self.approximate:
                        self.fill_histograms(histograms, block.columns)
                blocks.append(block if self.needs_rows() else block._replace(columns=None, keys=None, unit_keys=None))
            self.check_labels(blocks)
            check_total(self.rows + first_row)
            if self.needs_rows() and self.pending_rows + sum(map(rows_of, blocks)) < FLUSH_ROWS:
                # Rows that wait are copied: the batch may be far larger than what is read of it, and the caller may
                # use its memory again (an Arrow table too can stand on a NumPy array).
                blocks = [copied(block) for block in blocks]
            self.pending += [block for block in blocks if block.columns is not None]
            self.pending_rows += sum(map(rows_of, blocks))
            if self.pending_rows >= FLUSH_ROWS:
                self.flush()
        except BaseException:
            del self.pending[waiting[0] :]
            self.pending_rows = waiting[1]
            known, self.types, self.scan.exchange, self.scan.units = before
            slices.forget(known)
            raise
        for block in blocks:
            self.scan.note(block)
        self.histograms = histograms
        self.additive.merge(additive)

    def needs_rows(self) -> bool:
        """Does an exchange keep the rows?"""
        plan = self.scan.plan
        if self.scan.names.unit is not None:
            return True
        return not self.approximate and (plan.needs("group") or plan.needs("score"))

    def check_types(self, schema: Any) -> None:
        """Types are those of the first batch: hashes and scores of different types do not meet."""
        types = tuple(type_name(schema.field(name).type) for name in self.kept_columns())
        if self.types is None:
            self.types = types
        for name, known, found in zip(self.kept_columns(), self.types, types, strict=True):
            if kind_of(known) != kind_of(found):
                raise TypeError(
                    f"column {name!r} has Arrow type {found}, but {known} in earlier batches; cast it to one type"
                )

    def kept_columns(self) -> list[str]:
        """Columns whose type is part of the state."""
        names = self.scan.names
        labels = names.labels if self.scan.plan.targets.partition else ()
        keyed = [name for name in dict.fromkeys((names.group, names.unit)) if name is not None]
        return [*names.scores, *labels, *keyed, *names.by]

    def check_labels(self, blocks: list[Block]) -> None:
        """0 and 1, or -1 and +1, but not a mix, also with what came before."""
        for number, name in enumerate(self.scan.names.labels):
            seen = self.scan.seen[number]
            for block in blocks:
                seen |= block.seen[number] if block.seen else 0
            rows = [block.minus_one_rows[number] for block in blocks if block.minus_one_rows]
            first = next((row for row in rows if row is not None), None)
            if first is None and is_mix(seen):
                zero = first_zero(blocks, number)
                where = "" if zero is None else f" at row {zero}"
                raise ValueError(f"{title('label', name)} has 0{where} and -1 in earlier batches: {MIX}")
            check_seen_labels(seen, found_at(first or 0), title("label", name))

    def fill_histograms(self, histograms: dict[tuple[int, int | None], ScoreHistogram], columns: Columns) -> None:
        if not self.scan.plan.needs("score"):
            return
        parts = [(None, columns)] if columns.slices is None else split_by_slice(columns, columns.slices)
        for number, part in parts:
            for view_number, view in enumerate(self.scan.views):
                key = (view_number, number)
                if key not in histograms:
                    histograms[key] = ScoreHistogram(self.capacity)
                rows = part.view(view)
                histograms[key].add(rows.labels, rows.scores)

    def flush(self) -> None:
        """Waiting rows go to the exchange, in blocks of good size, by several threads."""
        if not self.pending:
            return
        groups = gather(self.pending)
        scan = self.scan
        block_rows = max(sum(map(rows_of, own)) for own in groups)

        def make_worker() -> Any:
            worker = Worker(scan.plan, scan.views, block_rows)
            worker.slabs.slab_blocks = 1

            def exchange(unit: int) -> None:
                scan.exchange_block(joined(groups[unit]), worker)

            return exchange

        known = [(store, len(store.held)) for store in scan.stores()]
        try:
            for_each(len(groups), make_worker, count_threads(self.n_threads))
        except BaseException:
            # No memory, or an interrupt: the rows wait on, so none of them may be in a store already.
            for store, blocks in known:
                store.keep_first(blocks)
            raise
        self.pending = []
        self.pending_rows = 0

    @contextmanager
    def flushed(self) -> Iterator[None]:
        """For a look at all rows: few waiting ones wait on afterwards, so that many looks do not make many blocks."""
        known = [(store, len(store.held)) for store in self.scan.stores()]
        pending, rows = self.pending, self.pending_rows
        self.flush()
        try:
            yield
        finally:
            for store, blocks in known:
                store.keep_first(blocks)
            self.pending, self.pending_rows = pending, rows

    def merge(self, other: Accumulator) -> Accumulator:
        """Take in all rows of another accumulator, which stays as it is.

        Returns
        -------
        Accumulator
            This one.

        Raises
        ------
        TypeError
            Not an accumulator, or one whose columns have other types.
        ValueError
            Other metrics, columns or options.
        OverflowError
            More than 2**63 - 1 rows in all.
        """
        if not isinstance(other, Accumulator):
            raise TypeError(f"an Accumulator merges with another one; found {type(other).__name__}")
        self.check_mergeable(other)
        # Additive states may be large, and are only read: they are not copied, even where they are our own.
        states = list(other.additive.sums.items())
        other = other.copy_rows()
        self.flush()
        scan, theirs = self.scan, other.scan
        known = len(scan.reader.slices)
        try:
            numbers = scan.reader.slices.number_of(theirs.reader.slices.values())
        except ValueError:
            scan.reader.slices.forget(known)
            raise
        for (statistic, view, number), state in states:
            key = (statistic, view, None if number is None else int(numbers[number]))
            if key not in self.additive.sums:
                self.additive.sums[key] = statistic.new()
            self.additive.sums[key].merge(state)
        for (view, number), histogram in other.histograms.items():
            place = (view, None if number is None else int(numbers[number]))
            if place in self.histograms:
                self.histograms[place].merge(histogram)
            else:
                self.histograms[place] = histogram
        scan.share_rows(theirs, numbers)
        self.types = self.types or other.types
        scan.note_scan(theirs)
        return self

    def check_mergeable(self, other: Accumulator) -> None:
        for what, mine, theirs in (
            ("metrics", [*map(repr, self.scan.plan.metrics)], [*map(repr, other.scan.plan.metrics)]),
            ("columns", self.names.roles(), other.names.roles()),
            ("on_invalid", self.on_invalid, other.on_invalid),
            ("approximate", self.approximate, other.approximate),
            ("state_size", self.state_size if self.approximate else 0, other.state_size if self.approximate else 0),
            ("intervals", self.options_of_intervals(), other.options_of_intervals()),
        ):
            if mine != theirs:
                raise ValueError(f"states of different {what} do not merge: {mine} here, {theirs} there")
        check_total(self.rows + other.rows)
        if self.types and other.types and [*map(kind_of, self.types)] != [*map(kind_of, other.types)]:
            raise TypeError(
                f"states of different column types do not merge: {self.kept_columns()} are {self.types} here, "
                f"{other.types} there"
            )
        for name, mine, theirs in zip(self.names.labels, self.scan.seen, other.scan.seen, strict=True):
            if is_mix(mine | theirs):
                raise ValueError(f"{title('label', name)} has -1 in one of the states and 0 in the other: {MIX}")

    def copy(self) -> Accumulator:
        """An accumulator of the same rows; blocks of rows are shared, for they never change."""
        new = self.copy_rows()
        new.additive.merge(self.additive)
        return new

    def copy_rows(self) -> Accumulator:
        """A copy that lacks the additive states."""
        self.flush()
        new = self.empty()
        new.types = self.types
        new.histograms = {key: histogram.copy() for key, histogram in self.histograms.items()}
        numbers = new.scan.reader.slices.number_of(self.scan.reader.slices.values())
        new.scan.share_rows(self.scan, numbers)
        new.scan.note_scan(self.scan)
        return new

    def empty(self) -> Accumulator:
        """An accumulator of the same metrics, columns and options, without rows."""
        names = self.names
        return Accumulator(
            self.scan.plan.metrics,
            label=names.labels,
            score=names.scores,
            group=names.group,
            weight=names.weight,
            by=names.by,
            on_invalid=self.on_invalid,
            n_threads=self.n_threads,
            approximate=self.approximate,
            state_size=self.state_size,
            **self.options_of_intervals(),
        )

    def options_of_intervals(self) -> dict[str, Any]:
        """What the constructor was told of intervals."""
        own = self.resampling
        if own is None:
            return {}
        return {
            "ci": own.level, "ci_method": own.method, "replicates": own.replicates, "seed": own.seed,
            "unit": own.drawn_unit,
        }  # fmt: skip

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> Accumulator:
        return self.copy()

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, (self.to_bytes(), self.n_threads)

    def result(self) -> Report:
        """The metrics of all rows so far; more rows may follow.

        Returns
        -------
        Report
            Equal to that of `evaluate` over the same rows.

        Raises
        ------
        ValueError
            No rows were taken in, or all were dropped.
        """
        started = time.perf_counter()
        check_rows(self.scan)
        self.scan.workers = [self.as_worker()]
        if self.approximate:
            states = States()
            states.found.update(additive_states(self.scan))
            bounds = self.bounds()
            return make_report(self.scan, states, self.names, time.perf_counter() - started, bounds)
        with self.flushed():
            threads = count_threads(self.n_threads)
            states = resolve(self.scan, threads, None, last=False)
            resampling = self.resampling
            intervals = None if resampling is None else find_intervals(self.scan, states, resampling, threads)
        seconds = time.perf_counter() - started
        return make_report(self.scan, states, self.names, seconds, intervals=intervals)

    def as_worker(self) -> Worker:
        worker = Worker(self.scan.plan, self.scan.views, 1)
        worker.additive = self.additive
        return worker

    def bounds(self) -> dict[tuple[Any, int, int | None], tuple[Any, Any]]:
        """For every score statistic, view and slice: states on both sides of the exact one."""
        totals: dict[tuple[int, int | None], ScoreHistogram] = {}
        for (view, number), histogram in self.histograms.items():
            totals[view, number] = histogram
            if number is None:
                continue
            if (view, None) in totals:
                totals[view, None].merge(histogram)
            else:
                totals[view, None] = histogram.copy()
        return {
            (statistic, view, number): statistic.bounds(histogram)
            for (view, number), histogram in totals.items()
            for statistic in self.scan.plan.statistics["score"]
        }

    def to_bytes(self) -> bytes:
        """The state for another process: a versioned header, a checksum, and the numbers.

        Returns
        -------
        bytes
            What `from_bytes` reads, with the same version of the library on any machine.
        """
        from fastmetrics.engine.state_bytes import write_state

        return write_state(self)

    @classmethod
    def from_bytes(cls, data: bytes, *, n_threads: int | None = None) -> Accumulator:
        """The state that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes
            Also a bytearray or memoryview.
        n_threads : int, optional
            Threads to use in this process.

        Raises
        ------
        ValueError
            Not a state, a damaged one, or one of another version of the library.
        """
        from fastmetrics.engine.state_bytes import read_state

        return read_state(data, n_threads)


def restore(data: bytes, n_threads: int | None) -> Accumulator:
    """How an accumulator is unpickled."""
    return Accumulator.from_bytes(data, n_threads=n_threads)


def check_total(rows: int) -> None:
    """No count may pass what it is kept in."""
    if rows > MOST_ROWS:
        raise OverflowError(f"{rows:,} rows are more than a state counts: at most {MOST_ROWS:,}")


def parse_state_size(value: int | str) -> int:
    size = parse_text(value, "state_size") if isinstance(value, str) else parse_integer(value, "state_size")
    if size < SMALLEST_STATE:
        raise ValueError(f"state_size must be at least {SMALLEST_STATE} bytes; found {value!r}")
    return size


def refuse_approximate(plan: Any, weight: str | None) -> None:
    """What has no approximate state."""
    if plan.needs("group"):
        metric = next(metric for metric in plan.metrics if metric.spec.exchange == "group")
        raise ValueError(f"approximate=True: metric {metric!r} is computed inside groups and needs every row")
    if weight is not None and plan.needs("score"):
        metric = next(metric for metric in plan.metrics if metric.spec.exchange == "score")
        raise ValueError(f"approximate=True: metric {metric!r} has no certified interval for weighted rows")
    for metric in plan.metrics:
        if metric.spec.exchange == "score" and any(own.bounds is None for own in metric.statistics()):
            raise ValueError(f"approximate=True: metric {metric!r} has no certified interval")


def check_resampling(resampling: Resampling, plan: Any, approximate: bool) -> None:
    """What has no intervals here."""
    if approximate:
        raise ValueError("approximate=True keeps no rows to resample; leave out ci=, or approximate=")
    if resampling.drawn_unit == ROW_UNITS:
        raise ValueError(
            "rows of batches have no places in a log, so they cannot be resampled one by one: name a column whose "
            "values are the units, unit=..."
        )
    if plan.targets.alone is not None:
        raise ValueError(f"an Accumulator has no intervals for metrics of {plan.targets.alone.word}; use evaluate")


def is_mix(seen: int) -> bool:
    """Are there both -1 and 0?"""
    return bool(seen & kernels.SAW_MINUS_ONE and seen & kernels.SAW_ZERO)


def first_zero(blocks: list[Block], number: int) -> int | None:
    """The first row with label 0 of blocks without -1; None where the row was left out since."""
    for block in blocks:
        if block.columns is not None and not block.columns.labels[number].all():
            row = int(block.columns.labels[number].argmin())
            places = block.columns.places
            return block.columns.first_row + (row if places is None else int(places[row]))
    return None


def type_name(arrow_type: Any) -> str:
    """The name of a type; a dictionary is no type of its own."""
    import pyarrow

    return str(arrow_type.value_type if pyarrow.types.is_dictionary(arrow_type) else arrow_type)


def kind_of(type_name: str) -> str:
    """Types of one kind may follow each other: they are kept alike."""
    same = {"large_string": "string", "string_view": "string"}
    integers = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32")
    return "int64" if type_name in integers else same.get(type_name, type_name)


def rows_of(block: Block) -> int:
    return 0 if block.columns is None else block.columns.rows


def copied(block: Block) -> Block:
    columns = block.columns
    if columns is None:
        return block
    own_keys = None if block.keys is None else keys.copy_keys(block.keys)
    is_group = block.unit_keys is block.keys
    return block._replace(
        columns=columns._replace(
            labels=tuple(own if own.dtype == np.uint8 else own.copy() for own in columns.labels),
            scores=tuple(own.copy() for own in columns.scores),
            weights=None if columns.weights is None else columns.weights.copy(),
        ),
        keys=own_keys,
        unit_keys=own_keys if is_group or block.unit_keys is None else keys.copy_keys(block.unit_keys),
    )


def gather(pending: list[Block]) -> list[list[Block]]:
    """Neighbouring blocks that together have about as many rows as a block should."""
    groups: list[list[Block]] = []
    rows = BLOCK_ROWS
    for block in pending:
        own = rows_of(block)
        if rows + own > BLOCK_ROWS:
            groups.append([])
            rows = 0
        groups[-1].append(block)
        rows += own
    return groups


def joined(blocks: list[Block]) -> Block:
    """Several blocks as one."""
    found = [block.columns for block in blocks if block.columns is not None]
    if len(found) == 1:
        return blocks[0]
    first = found[0]
    columns = Columns(
        tuple(np.concatenate([own.labels[number] for own in found]) for number in range(len(first.labels))),
        tuple(np.concatenate([own.scores[number] for own in found]) for number in range(len(first.scores))),
        None if first.weights is None else np.concatenate([own.weights for own in found if own.weights is not None]),
        None if first.slices is None else np.concatenate([own.slices for own in found if own.slices is not None]),
    )
    is_group = blocks[0].unit_keys is blocks[0].keys
    own_keys = [block.keys for block in blocks if block.keys is not None]
    own_units = [] if is_group else [block.unit_keys for block in blocks if block.unit_keys is not None]
    joined_keys = keys.concatenate(own_keys) if own_keys else None
    joined_units = keys.concatenate(own_units) if own_units else None
    return blocks[0]._replace(
        columns=columns, keys=joined_keys, unit_keys=joined_keys if is_group else joined_units
    )
