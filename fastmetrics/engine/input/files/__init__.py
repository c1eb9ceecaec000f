"""Files as sources: which files a path, a folder or a glob names, their formats, and how they are read.

Only `engine/input/sources.py` imports this package; it imports the interface of sources from `engine/input/batches.py`.
Start with `file_source.py`: it reads several files as one source. `paths.py` finds files, `data_file.py` opens them,
`formats.py` and `parquet_reading.py` read each format, `compressed_pieces.py` bounds what a compressed piece of a file
may expand to.
"""
