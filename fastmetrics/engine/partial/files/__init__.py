"""A partial state as a file: its header, arrays and sections, and the rows that exchanges keep, as Parquet.

`Accumulator.save` and `load`, pickles, and sources of clusters that are kept as bytes; docs/internals/state-files.md
has the layout. The entry points and `distributed` may import it; nothing else in `engine/partial` does. Read
`fields.py` first, then `writing.py` and `reading.py`.
"""
