"""Numbers in text files that stay as they are written: those of keys, and those that expressions compare.

The rest of the engine imports it; it imports `engine/input/files/formats.py` and what is below. Start with
`numeral_texts.py`; `exact_columns.py` says which columns are read so.
"""
