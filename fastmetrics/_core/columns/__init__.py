"""Columns: arrays and tables of any container become checked arrays that the kernels can read.

Metric families, the engine and the packages of `_core` above it may import it. It imports the kernels and the modules
at the top of `_core`. Start with `validation.py`: coercion is exact, and all error texts about columns are there.
`row_blocks.py` has the blocks of rows that statistics read. Every other module reads one kind of column: class labels,
categorical codes, group keys, texts, binary labels with probabilities. `small_inputs.py` compiles
the guard of calls on few rows.
"""
