"""Tables of lakes: the files of a snapshot of Delta Lake or Iceberg, read as one source.

`engine/input/path_sources.py` and `engine/input/sources.py` import this package; it imports `engine/input/files`, which
reads the files. deltalake and pyiceberg (the extra `lake`) are imported when a table is opened. Start with
`lake_tables.py`; `snapshot_source.py` reads the files with the columns and types that the table declares.
"""
