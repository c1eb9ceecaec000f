"""The fields of a state file, of a task and of a part: name, type, content, and how they fit each other."""

from __future__ import annotations

from fastmetrics._core.columns.arrow_columns import LISTS
from fastmetrics._core.columns.label_codes import check_type
from fastmetrics._kernels.columns import column_checks as kernels
from fastmetrics.engine.input.batch_validation import mixes_zero_and_minus_one
from fastmetrics.engine.input.row_selection import ZERO_WEIGHT
from fastmetrics.engine.partial.files.containers import (
    COUNT,
    DISTANCE,
    FLAG,
    OBJECT,
    SHAPE,
    TEXT,
    HeaderField,
    list_of,
    object_of,
    optional,
    require,
)
from fastmetrics.engine.partial.part_state import PartState
from fastmetrics.engine.plan.column_names import key_columns

ALL_KINDS = kernels.SAW_ZERO | kernels.SAW_ONE | kernels.SAW_MINUS_ONE

# The fields of the header, of a task and of a part. Files are written, read and checked by them, and the page of state
# files shows them.
NUMBERS = list_of(optional(COUNT))  # of arrays, behind those of what they belong to
FILE = (
    HeaderField("arrays", list_of(SHAPE), "type and shape of every array"),
    HeaderField("sources", list_of(TEXT), "ids of what was merged"),
    HeaderField("tasks", list_of(OBJECT), "the states of tasks"),
)
TASK = (
    HeaderField("rows", COUNT, "rows read"),
    HeaderField("dropped", object_of(COUNT), "dropped rows by reason"),
    HeaderField("filtered", COUNT, "rows that the filter left out"),
    HeaderField("slices", COUNT, "array: the grouping set and the codes of every slice"),
    HeaderField("parts", list_of(OBJECT), "the parts: metrics that read the same columns"),
)
PART = (
    HeaderField(
        "types", optional(list_of(TEXT)), "Arrow types of columns; null before the first row", "types.found", tuple
    ),
    HeaderField("seen", list_of(COUNT), "kinds of labels, by column", "counts.label_kinds_seen"),
    HeaderField(
        "minus_one_rows", list_of(optional(COUNT)), "the first row with label -1, by column", "counts.minus_one_rows"
    ),
    HeaderField("n_classes", optional(COUNT), "how many probabilities a row has", "counts.n_classes"),
    HeaderField(
        "sum_distances", list_of(DISTANCE), "how far probabilities of a row are from 1 together, by model",
        "counts.sum_distances", tuple,
    ),
    HeaderField("differing", list_of(FLAG), "has a model other values than the first?", "counts.differing", tuple),
    HeaderField("float_keys", list_of(TEXT), "columns of keys that are floats", "reader.float_keys", set),
    HeaderField("truth_rows", COUNT, "rows of the truth table, which have NaN as scores", "counts.truth_rows"),
    HeaderField("truth_dropped", COUNT, "its dropped rows", "counts.truth_dropped"),
    HeaderField("truth_types", object_of(TEXT), "Arrow types of its keys, by column of the log", "counts.truth_types"),
    HeaderField("key_kind", optional(TEXT), "are keys of roles texts, or integers?"),
    HeaderField("key_texts", NUMBERS, "arrays: the bytes of texts that have numbers in rows, and their offsets"),
    HeaderField("counts", NUMBERS, "arrays: rows and positives of all rows; slices; rows and positives of each"),
    HeaderField("sums", list_of(NUMBERS), "statistic, output, slice and arrays of every additive state"),
    HeaderField("histograms", list_of(NUMBERS), "output, slice and arrays of every histogram of an approximate state"),
    HeaderField(
        "partitions", object_of(NUMBERS),
        "by section of rows with keys, from 2^16 rows on: an array, the rows of every partition, and the bytes of long "
        "keys",
    ),
)  # fmt: skip


def check_part(part: PartState) -> None:
    """The fields of a part have to fit each other, and the columns that its metrics read."""
    counts, types, names = part.counts, part.types.found, part.names
    seen, first_rows = counts.label_kinds_seen, counts.minus_one_rows
    valid = counts.rows - counts.filtered - sum(own for why, own in counts.dropped.items() if why != ZERO_WEIGHT)
    allowed = [part.plan.label_kinds.allowed_label_kinds] * len(names.labels)
    allowed += [ALL_KINDS] * (len(counts.class_columns) - len(names.labels))
    require(
        len(seen) == len(first_rows) == len(allowed)
        and all(row is None or row < counts.rows for row in first_rows)
        and not any(own & ~may or mixes_zero_and_minus_one(own) for own, may in zip(seen, allowed, strict=True))
        and (valid or not any(seen))
        and all((row is None) != bool(own & kernels.SAW_MINUS_ONE) for own, row in zip(seen, first_rows, strict=True)),
        "its labels are not of one kind",
    )
    require((types is None) == (valid == 0), "it has rows without types, or types without rows")
    require(types is None or len(types) == len(part.types.columns), "its columns have no types")
    for name in types or ():
        check_type(name.replace(LISTS, ""), "a column")
    keys = key_columns(names.group) if counts.truth_rows else ()
    require(part.truth or not (counts.truth_rows or counts.truth_dropped), "it has a truth table that no metric reads")
    require(sorted(counts.truth_types) == sorted(keys), "the keys of its truth table have no types")
    for name in counts.truth_types.values():
        check_type(name, "a key of truth")
    has_classes = types is not None and part.reads_vectors
    require((counts.n_classes is not None) == has_classes, "its number of classes is missing")
    has_sums = part.plan.is_numeric and has_classes
    require(len(counts.sum_distances) == len(names.scores) * has_sums, "its sums of probabilities are no numbers")
    several = len(names.scores) if len(names.scores) > 1 else 0
    lengths = (several,) if counts.rows_kept else (0, several)
    fits = len(counts.differing) in lengths and not any(counts.differing[:1])
    require(fits, "it does not say which models are equal")
