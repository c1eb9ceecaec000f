"""Floor 1: typed kernels.

Arrays in, caller-owned arrays out; no validation, no allocation by row, no Python objects in loops.
"""
