"""The options of a run: how a log is read, and with which memory and threads."""

from fastmetrics.engine.evaluation.options.option import (
    ACCUMULATOR,
    CALLABLE,
    CHOICE,
    COMPARE,
    COUNT,
    DASK_COMPARE,
    EVALUATE,
    FROM_BYTES,
    FUNCTIONS,
    LOAD,
    OBJECT,
    ON_CLUSTERS,
    ON_SPARK,
    ON_TASKS,
    PARTIAL,
    PATH,
    PROCESSES,
    RAY_COMPARE,
    SIZE,
    SPARK_COMPARE,
    TEXT,
    TEXTS,
    TRAINING,
    UPDATE,
    Option,
    Refusal,
)

OF_LOGS = (EVALUATE, COMPARE, UPDATE)
OF_THREADS = (EVALUATE, COMPARE, ACCUMULATOR, FROM_BYTES, LOAD, TRAINING)
OF_MEMORY = (*OF_THREADS, PARTIAL)

RUN_OPTIONS = (
    Option(
        "truth",
        OBJECT,
        "path, table or frame",
        "The relevant items of every group, a second table beside the log: a row for each item, perhaps with its "
        "grade. Anything that `data` may be. Its columns are `truth_columns`; without these, `label` is a column of "
        "this table, and groups and items have the names that they have in the log. A list of the log gets the grades "
        "of its items, 0 for those that the table lacks; relevant items that it does not show count as not found. A "
        "group without a row of the log has no list.",
        entry_points=(EVALUATE, COMPARE, PROCESSES),
        help=(
            "A table of the relevant items of every group; with --role item=COLUMN. Without --truth-column, --label is "
            "a column of it."
        ),
        metavar="PATH",
        flags=("--truth",),
    ),
    Option(
        "truth",
        OBJECT,
        "table of the same engine",
        "The relevant items of every group, as for `fastmetrics.evaluate`: a second table of the kind of `data`.",
        entry_points=ON_CLUSTERS,
    ),
    Option(
        "n_threads",
        COUNT,
        "int",
        "Number of threads; by default and with -1 the number of CPUs that the process may use. The result does not "
        "depend on it.",
        entry_points=(*OF_THREADS, FUNCTIONS),
        help="-1, as the default: all cores.",
        flags=("--threads",),
    ),
    Option(
        "memory_limit",
        SIZE,
        "int or str",
        'Bytes, or text such as "2GiB". When the rows that metrics keep take half of it, further rows are written to a '
        "spill file and read back partition by partition. By default half of the memory available to the process. The "
        "results do not depend on it. Reading takes memory on top: about 100 MiB for Parquet. The different labels of "
        "classes and of partitions stay in memory; if they take more than half of the limit, it is an error.",
        entry_points=OF_MEMORY,
        help=(
            "For example 2GiB or 500MB. When half of it is used, rows go to a spill file. Default: half of the free "
            "memory."
        ),
    ),
    Option(
        "memory_limit",
        SIZE,
        "int or str",
        "Memory of a task in its Python worker; rows that do not fit spill to a file. By default half of the memory "
        "available on the worker's machine, divided by its cores.",
        entry_points=ON_CLUSTERS,
    ),
    Option(
        "memory_limit",
        SIZE,
        "int or str",
        "Memory of rows in all processes together; those that do not fit spill to files.",
        entry_points=(PROCESSES,),
    ),
    Option(
        "spill_dir",
        PATH,
        "path",
        "Folder for the spill file, by default the system's folder for temporary files. The file has no name: nothing "
        "is left of it, however the process ends.",
        entry_points=OF_MEMORY,
        help="The folder of the spill file, if one is needed. Default: the system's folder.",
    ),
    Option(
        "spill_dir",
        PATH,
        "str",
        "A folder on the workers for spill files; by default their folder for temporary files.",
        entry_points=ON_CLUSTERS,
    ),
    Option("spill_dir", PATH, "str", "The folder for spill files and pieces.", entry_points=(PROCESSES,)),
    Option(
        "n_processes",
        COUNT,
        "int",
        "By default and with -1 one for every CPU that this process may use.",
        entry_points=(PROCESSES,),
    ),
    Option(
        "n_partitions",
        COUNT,
        "int",
        "Partitions of a shuffle; by default Spark decides (`spark.sql.shuffle.partitions`, adaptive execution).",
        entry_points=ON_SPARK,
        least=1,
    ),
    Option(
        "n_partitions",
        COUNT,
        "int",
        "Into how many places rows are moved, if some have to meet; by default one for each CPU of the cluster, at "
        "most 64.",
        entry_points=ON_TASKS,
        least=1,
    ),
    Option(
        "against",
        OBJECT,
        "as data",
        "Another log, of which every value is compared with that of `data`: of yesterday, or of the other arm of an "
        "experiment. One score is enough. Units that are in both logs are paired, others are independent; `method` and "
        "`notes` say which. With `by`, the slices that both logs have are compared. Both are read in the same way.",
        entry_points=(COMPARE,),
        refusals=(
            Refusal(
                (SPARK_COMPARE, RAY_COMPARE, DASK_COMPARE),
                "{entry_point} reads one log, because units of two logs do not meet on a cluster: evaluate each log "
                "with ci=0.95, and type fm.compare_reports(before, after) with both reports",
            ),
        ),
        flags=(),
    ),
    Option(
        "progress",
        CALLABLE,
        "callable",
        'Called as progress(stage, rows_done, rows_total) with stage "scan", "resolve" and, with intervals, '
        '"resample"; rows_total is None while unknown.',
        entry_points=(EVALUATE, COMPARE),
        flags=(),
    ),
    Option(
        "filesystem",
        OBJECT,
        "file system",
        'Where paths are looked up: a pyarrow or fsspec file system. By default a path that begins as in "s3://" says '
        "it, and any other path is local.",
        entry_points=OF_LOGS,
        flags=(),
    ),
    Option(
        "storage_options",
        TEXTS,
        "dict of str and str",
        'Options of the file system that a path names, such as ``{"region": "eu-west-1"}``. Credentials are found as '
        "that file system finds them.",
        entry_points=OF_LOGS,
        help=(
            "An option of the store that a path such as s3://bucket/logs names, such as region=eu-west-1 or "
            "endpoint_url=http://localhost:9000. Credentials are found as the store defines it. May be repeated."
        ),
        metavar="KEY=VALUE",
        flags=("--storage-option",),
    ),
    Option(
        "version",
        TEXT,
        "int",
        "The version of a Delta table, or the snapshot of an Iceberg table, that is read; by default the latest.",
        entry_points=OF_LOGS,
        help="The version of a Delta table, or the snapshot of an Iceberg table. Default: the latest.",
        metavar="N",
        flags=("--table-version",),
    ),
    Option(
        "timestamp",
        TEXT,
        "str or datetime",
        'Read a table as it was at this time, such as "2026-11-01T00:00:00Z".',
        entry_points=OF_LOGS,
        help="Read a Delta or Iceberg table as of a time, such as 2026-11-01T00:00:00Z.",
        metavar="TIME",
    ),
    Option(
        "format",
        TEXT,
        "str",
        "The format of the files, if their names do not say it: parquet, csv, tsv, jsonl, orc or arrow.",
        entry_points=OF_LOGS,
        help=(
            "The format of the files, if their names do not say it: parquet, csv, tsv, jsonl, orc or arrow. That of "
            "standard input is recognized."
        ),
        metavar="NAME",
        flags=("--input-format",),
    ),
    Option(
        "format_options",
        OBJECT,
        "dict",
        "Of CSV and TSV: `delimiter`, `quote`, `escape`, `header` (False: columns are f0, f1 and so on; or a list of "
        'names), `null_values` (texts that mean null), `column_types` (column -> type, ``{"user_id": "string"}``), '
        "`decimal_point`, `encoding`. Of JSON lines: `column_types`, `encoding`.",
        entry_points=OF_LOGS,
        flags=(),
    ),
    Option(
        "missing_columns",
        CHOICE,
        '{"raise", "null"}',
        "For a column that some of the files lack: raise an error that names the first of them, or read it as null in "
        "them; `notes` of the result names these files. A column that no file has is an error. Tables of Delta Lake "
        "and Iceberg have nulls where an older file lacks a column.",
        default="raise",
        entry_points=OF_LOGS,
        choices=("raise", "null"),
        help="A column that some of the files lack: raise an error, or read it as null in them.",
    ),
)
