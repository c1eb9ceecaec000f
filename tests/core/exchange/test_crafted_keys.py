"""Keys prepared against the fixed hashes take the work of other keys, and no result depends on the seeds of tables."""

import functools

import numpy as np
import pyarrow as pa
import pytest

import fastmetrics as fm
from fastmetrics._core.columns import group_keys
from fastmetrics._core.columns.row_blocks import RowBlock
from fastmetrics._core.exchange import group_reduction
from fastmetrics._core.exchange.hash_exchange import HASH, GroupLayout, exchange_columns
from fastmetrics._core.tables.key_table import count_keys
from fastmetrics._kernels.columns import label_encoding
from fastmetrics._kernels.exchange import hash_partition
from fastmetrics._kernels.ranking import run_qrels_join
from fastmetrics._kernels.resampling import poisson_weights
from fastmetrics._kernels.significance import delong_placements
from support.cases import each_case
from support.hostile import crafted_keys

KEYS = 100_000
LONGEST_RUN = 1000  # random keys make runs of some 50 slots; one run of prepared keys would have all of them
FEW = 12_000
KINDS = ["one slot", "distances", "pairs", "texts", "long texts"]


@functools.cache
def prepared(kind, n=FEW):
    """Different keys against which the fixed hashes do not help."""
    if kind == "one slot":
        return crafted_keys.integers_in_one_slot(n)
    if kind == "distances":
        return crafted_keys.integers_at_distance(n, 16)
    if kind == "pairs":
        first, second = crafted_keys.pairs_with_equal_hashes(n)
        return pa.table({"first": first, "second": second})
    return crafted_keys.arrow_texts(crafted_keys.texts_with_equal_hashes(n, 2 if kind == "texts" else 4))


def longest_run(used):
    """The longest run of slots in use: at least as many are read to find the key of one of them."""
    starts = np.flatnonzero(np.diff(used.astype(np.int8), prepend=0) == 1)
    ends = np.flatnonzero(np.diff(used.astype(np.int8), append=0) == -1)
    return int((ends - starts).max()) + 1


def exchange_of(keys):
    """The hash exchange of rows with these keys."""
    return exchange_columns(
        keys, lambda start, stop, labels: RowBlock((labels[: stop - start],), ()), [], False, n_threads=1
    )


def hashes_of(keys):
    return np.concatenate([block.columns[HASH] for block in exchange_of(keys).store.blocks_in_memory])


# ------------------------------------------------------------------------------------------------ the prepared keys


@each_case("kind", ["texts", "long texts", "pairs"])
def test_prepared_keys_have_one_fixed_hash(kind):
    keys = group_keys.as_keys(prepared(kind))
    assert np.unique(hashes_of(keys)).shape[0] == 1
    assert len(count_keys(keys)) == FEW


def test_prepared_integers_have_equal_bits():
    hashes = hashes_of(group_keys.as_keys(prepared("one slot")))
    assert np.unique(hashes).shape[0] == FEW
    assert np.unique(hashes >> np.uint64(50)).shape[0] == np.unique(hashes & np.uint64(0xFFFF)).shape[0] == 1


# ------------------------------------------------------------------------------------------------------ the tables


def slots_of_integers():
    slots, classes = np.zeros(1 << 18, np.int32), np.empty(1 << 17, np.int64)
    integers = crafted_keys.integers_in_one_slot(KEYS)
    label_encoding.encode_integers(integers, 0, KEYS, slots, classes, 0, np.empty(KEYS, np.int32))
    return slots


def slots_of_label_texts():
    rows = crafted_keys.texts_with_equal_hashes(FEW)
    slots, classes, hashes = np.zeros(1 << 18, np.int32), np.empty(1 << 17, np.int64), np.empty(1 << 17, np.uint64)
    codes = np.empty(rows.shape[0], np.int32)
    label_encoding.encode_byte_rows(rows, 0, rows.shape[0], slots, classes, hashes, 0, codes)
    return slots


def slots_of_queries():
    rows = crafted_keys.texts_with_equal_hashes(FEW)
    starts = np.arange(rows.shape[0]) * 16
    return run_qrels_join.NumberedTexts(rows.ravel(), starts, starts + 16).table


def slots_of_units():
    hashes = (np.arange(1, KEYS, dtype=np.uint64) << np.uint64(20)) | np.uint64(5)
    table = np.zeros(1 << 18, np.uint64)
    poisson_weights.record_units(hashes, np.zeros(1 << 14, np.uint8), table, np.zeros(2, np.int64), KEYS)
    return table


def slots_of_scores():
    n = delong_placements.MAX_DISTINCT_SCORES
    numbers = np.arange(n, dtype=np.uint64) * np.uint64(pow(0x9E3779B97F4A7C15, -1, 1 << 64))
    keys = numbers & np.uint64((1 << 62) - 1) | np.uint64(1 << 63)
    scores = (keys ^ np.uint64(1 << 63)).view(np.float64)
    table = np.empty(delong_placements.HASH_WORDS, np.uint64)
    outputs = np.empty(n, np.uint64), np.empty((n, 2), np.int32), np.empty(n, np.uint16), np.zeros(1, np.int64)
    delong_placements.encode_scores(np.zeros(n, np.uint8), scores, table, *outputs)
    return table[::2] != ~np.uint64(0)


@each_case("slots", [slots_of_integers, slots_of_label_texts, slots_of_queries, slots_of_units, slots_of_scores])
def test_prepared_keys_use_slots_all_over_a_table(slots):
    used = slots() != 0
    assert longest_run(used) < LONGEST_RUN


@each_case("kind", KINDS)
def test_seeded_hashes_of_prepared_keys_are_about_as_different_as_random_ones(kind):
    """Integers at equal distances have up to a fifth fewer hashes under some seeds; a fixed hash would have one."""
    exchange = exchange_of(group_keys.as_keys(prepared(kind)))
    columns = GroupLayout(exchange.store.blocks_in_memory, exchange.key_dtype).key_columns
    places = np.empty(FEW, np.uint64)
    hash_partition.place_keys(*columns, np.zeros(1, np.int64), np.array([FEW]), places)
    for slots in (places & np.uint64(0x7FFF), places >> np.uint64(49), places >> np.uint64(32) & np.uint64(0x7FFF)):
        expected = (1 << 15) * (1 - np.exp(-FEW / (1 << 15)))
        assert expected / 2 < np.unique(slots).shape[0] < 1.05 * expected


# ----------------------------------------------------------------------------------------------------- the results


def log_of(keys, rows=2 * FEW):
    """A log whose users have these keys, and the number of each row's user."""
    random = np.random.default_rng(5)
    users = np.concatenate([np.arange(FEW), random.integers(0, FEW, rows - FEW)])
    columns = {"label": random.integers(0, 2, rows), "score": random.random(rows).round(2)}
    columns |= {"hour": random.integers(0, 3, rows), "number": users}
    table = keys if isinstance(keys, pa.Table) else pa.table({"user": keys})
    return pa.table(columns | {name: table[name].take(pa.array(users)) for name in table.column_names})


def key_columns(kind):
    return ["first", "second"] if kind == "pairs" else "user"


def numbers_of(log, group, **options):
    """The values of grouped metrics, for all rows and for slices."""
    columns = {"label": "label", "score": "score", "group": group, "by": "hour"}
    report = fm.evaluate(log, ["gauc", "ndcg@5", "mrr", "auc"], **columns, **options)
    slices = [{}, *({"hour": hour} for hour in range(3))]
    return [report.value(name, slice=one) for name in ("gauc", "ndcg@5", "mrr", "auc") for one in slices]


@each_case("kind", KINDS)
@pytest.mark.usefixtures("scaled")
def test_prepared_keys_give_the_results_of_other_keys(kind, change_table_seeds):
    log = log_of(prepared(kind))
    expected = numbers_of(log, "number")
    for seed, options in enumerate([{"n_threads": 2}, {"memory_limit": "128KiB", "n_threads": 1}]):
        change_table_seeds(seed)
        assert numbers_of(log, key_columns(kind), **options) == expected


@pytest.mark.usefixtures("scaled")
def test_partitions_of_prepared_keys_are_divided():
    layouts = {}
    for kind in KINDS:
        exchange = exchange_of(group_keys.as_keys(prepared(kind, 2 * FEW)))
        layouts[kind] = GroupLayout(exchange.store.blocks_in_memory, exchange.key_dtype)
        filled = np.flatnonzero(layouts[kind].partition_rows).tolist()
        assert group_reduction.crowded_partitions(layouts[kind]) == filled, kind
        assert len(filled) == 1


@pytest.mark.usefixtures("scaled")
def test_a_partition_of_one_frequent_key_is_not_divided():
    random = np.random.default_rng(3)
    users = np.where(random.random(10 * FEW) < 0.9, 7, random.integers(0, 5000, 10 * FEW))
    exchange = exchange_of(group_keys.as_keys(users))
    layout = GroupLayout(exchange.store.blocks_in_memory, exchange.key_dtype)
    assert layout.partition_rows.max() > group_reduction.CROWDED_ROWS
    assert group_reduction.crowded_partitions(layout) == []


def test_no_result_depends_on_the_seeds(change_table_seeds):
    random = np.random.default_rng(9)
    wide = random.integers(-(2**62), 2**62, 300)
    true, pred = wide[random.integers(0, 300, 20_000)], wide[random.integers(0, 300, 20_000)]
    words = [" ".join(row) for row in random.integers(0, 40, (50, 12)).astype(str)]
    others = [words[1:] + words[:1]]
    names = np.array([f"label {number}" for number in range(300)])

    def results():
        matrix = fm.contingency_matrix(true, pred)
        yield fm.adjusted_rand_score(true, pred), fm.v_measure_score(true, pred), matrix.tobytes()
        yield fm.f1_score(true, pred, average="macro"), fm.cohen_kappa_score(names[true % 300], names[pred % 300])
        yield fm.corpus_bleu(words, others), fm.corpus_chrf(words, others), fm.corpus_nist(words, others[0])
        yield fm.delong_test(true > 0, pred % 1000, true % 1000)

    found = []
    for seed in range(3):
        change_table_seeds(seed)
        found.append(repr(list(results())))
    assert found[1:] == found[:1] * 2
