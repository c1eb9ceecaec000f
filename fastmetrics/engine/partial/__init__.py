"""What any set of rows leaves: one partial state, in memory or spilled under one budget, or in a file.

A state is updated with batches, merged with others, and resolved to final states by `scan`. `evaluate` fills one from a
log; an accumulator is one that the caller feeds. The entry points and `scan` import this package; it imports `plan`,
`input` and `_core`. Read `partial_state` first, then `task_state` and `part_state`. `files` has a state as a
file.
"""
