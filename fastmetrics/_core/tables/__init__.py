"""Tables of keys: the state of statistics that count keys of any type, and groups that add keys to them.

A table merges, and spills under the memory limit of the rows. The resampling, the metrics and everything above may
import this package; it imports the exchanges and the columns. Read `key_table` first; what it reads and spills are the
entries of `key_entries`, and `stored_keys` turns keys into arrays and back. `cell_table` counts and weighs pairs of
labels, for the states of `contingency_state`.
"""
