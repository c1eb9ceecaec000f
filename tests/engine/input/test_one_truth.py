"""The README's main log in every form that is read: the same report, to the bit."""

import gzip
import io
import json

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.feather
import pyarrow.orc
import pyarrow.parquet
import pytest

import fastmetrics as fm
from support.cases import each_case
from support.command_line import run
from support.peers import duckdb, pandas, peer, polars

METRICS = ["auc", "gauc", "logloss"]
COLUMNS = {"label": "click", "score": "pctr", "group": "user_id", "by": "channel"}
ROWS = 5000


@pytest.fixture(scope="module")
def log(tmp_path_factory):
    folder = tmp_path_factory.mktemp("log")
    run("sample-log", "clicks.parquet", "--rows", ROWS, folder=folder)
    table = pa.parquet.read_table(folder / "clicks.parquet")
    index = table.schema.get_field_index("channel")
    return table.set_column(index, "channel", table["channel"].cast(pa.string()))  # ORC has no dictionaries


@pytest.fixture(scope="module")
def expected(log):
    return values_of(fm.evaluate(log, METRICS, **COLUMNS))


def values_of(report):
    return [(result.metric, result.slice, repr(result.value)) for result in report]


def csv_of(table, folder, name="log.csv", **options):
    pa.csv.write_csv(table, folder / name, pa.csv.WriteOptions(**options))
    return folder / name


def compressed(path, codec):
    target = path.with_name(path.name + {"gzip": ".gz", "zstd": ".zst"}[codec])
    with pa.output_stream(str(target), compression=codec) as stream:
        stream.write(path.read_bytes())
    return target


def lines_of(table, folder, name="log.jsonl"):
    (folder / name).write_text("".join(json.dumps(row, default=str) + "\n" for row in table.to_pylist()))
    return folder / name


def parquet_of(table, folder, **options):
    pa.parquet.write_table(table, folder / "log.parquet", **options)
    return folder / "log.parquet"


def orc_of(table, folder):
    pa.orc.write_table(table, folder / "log.orc", stripe_size=1 << 14)
    return folder / "log.orc"


def ipc_of(table, folder, name, new):
    with new(str(folder / name), table.schema) as writer:
        writer.write_table(table, max_chunksize=700)
    return folder / name


def feather_of(table, folder):
    pa.feather.write_feather(table, folder / "log.feather", compression="zstd")
    return folder / "log.feather"


def hive_of(table, folder):
    pa.parquet.write_to_dataset(table, folder / "hive", partition_cols=["channel"])
    return folder / "hive"


def result_of(table):
    connection = duckdb().connect()
    connection.register("log", table)
    return connection.execute("select * from log")


def bytes_of(path):
    return io.BytesIO(path.read_bytes())


class Pipe(io.RawIOBase):
    def __init__(self, content):
        super().__init__()
        self.content = io.BytesIO(content)

    def read(self, size=-1):
        return self.content.read(min(size, 4096))


def piece_by_piece(table):
    return (table.slice(start, 700) for start in range(0, table.num_rows, 700))


def decimals_of(table):
    index = table.schema.get_field_index("click")
    return table.set_column(index, "click", table["click"].cast(pa.decimal128(20, 0)))


FORMS = {
    "Parquet": parquet_of,
    "Parquet, small row groups": lambda table, folder: parquet_of(table, folder, row_group_size=700),
    "CSV": csv_of,
    "CSV, gzip": lambda table, folder: compressed(csv_of(table, folder), "gzip"),
    "CSV, zstd": lambda table, folder: compressed(csv_of(table, folder), "zstd"),
    "CSV without quotes": lambda table, folder: csv_of(table, folder, quoting_style="none"),
    "TSV": lambda table, folder: csv_of(table, folder, "log.tsv", delimiter="\t"),
    "JSON lines": lines_of,
    "JSON lines, gzip": lambda table, folder: compressed(lines_of(table, folder), "gzip"),
    "NDJSON": lambda table, folder: lines_of(table, folder, "log.ndjson"),
    "ORC": orc_of,
    "Feather": feather_of,
    "Arrow file": lambda table, folder: ipc_of(table, folder, "log.arrow", pa.ipc.new_file),
    "Arrow stream": lambda table, folder: ipc_of(table, folder, "log.arrows", pa.ipc.new_stream),
    "hive folder": hive_of,
    "list of paths": lambda table, folder: [parquet_of(table, folder)],
    "glob": lambda table, folder: str(parquet_of(table, folder).with_name("*.parquet")),
    "BytesIO of Parquet": lambda table, folder: bytes_of(parquet_of(table, folder)),
    "BytesIO of CSV, gzip": lambda table, folder: io.BytesIO(gzip.compress(csv_of(table, folder).read_bytes())),
    "pipe of CSV": lambda table, folder: Pipe(csv_of(table, folder).read_bytes()),
    "pipe of JSON lines": lambda table, folder: Pipe(lines_of(table, folder).read_bytes()),
    "pipe of Parquet": lambda table, folder: Pipe(parquet_of(table, folder).read_bytes()),
    "pipe of ORC": lambda table, folder: Pipe(orc_of(table, folder).read_bytes()),
    "table": lambda table, folder: table,
    "reader": lambda table, folder: table.to_reader(700),
    "dataset": lambda table, folder: pa.dataset.dataset(parquet_of(table, folder)),
    "Scanner": lambda table, folder: pa.dataset.dataset(parquet_of(table, folder)).scanner(),
    "polars": lambda table, folder: polars().from_arrow(table),
    "LazyFrame": lambda table, folder: polars().from_arrow(table).lazy(),
    "LazyFrame of a file": lambda table, folder: polars().scan_parquet(parquet_of(table, folder)),
    "pandas": lambda table, folder: pandas() and table.to_pandas(),
    "narwhals": lambda table, folder: peer("narwhals").from_native(polars().from_arrow(table)),
    "DuckDB relation": lambda table, folder: duckdb().connect().from_arrow(table),
    "DuckDB result": lambda table, folder: result_of(table),
    "generator of tables": lambda table, folder: piece_by_piece(table),
    "list of record batches": lambda table, folder: table.to_batches(700),
    "generator of polars frames": lambda table, folder: map(polars().from_arrow, piece_by_piece(table)),
    "list of dicts": lambda table, folder: table.to_pylist(),
    "dict of arrays": lambda table, folder: {name: table[name].to_numpy() for name in table.column_names},
    "structured array": lambda table, folder: np.rec.fromarrays(
        [np.asarray(table[name].to_pylist()) for name in table.column_names], names=table.column_names
    ),
    "decimal labels": lambda table, folder: decimals_of(table),
}


@each_case("form", FORMS)
def test_every_form_gives_the_same_bits(form, log, expected, tmp_path):
    assert values_of(fm.evaluate(FORMS[form](log, tmp_path), METRICS, **COLUMNS)) == expected


@each_case("form", ["CSV", "JSON lines", "ORC", "LazyFrame", "generator of tables", "pipe of CSV", "DuckDB result"])
def test_also_in_compare_and_accumulators(form, log, expected, tmp_path):
    state = fm.Accumulator(METRICS, **COLUMNS)
    state.update(FORMS[form](log, tmp_path))
    assert values_of(state.result()) == expected
    options = {"label": "click", "score": ["pctr", "p_true"], "group": "user_id", "replicates": 20}
    found = fm.compare(FORMS[form](log, tmp_path), ["auc", "logloss"], **options)
    wanted = fm.compare(log, ["auc", "logloss"], **options)
    assert [row.difference for row in found] == [row.difference for row in wanted]
