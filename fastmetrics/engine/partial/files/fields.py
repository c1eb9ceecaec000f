"""The fields of the header of a state file, of a task and of a part: name, type, content, and what they belong to."""

from __future__ import annotations

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
)

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
