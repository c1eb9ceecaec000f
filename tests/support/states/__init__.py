"""Accumulators, their states and bytes, logs that spill, and states of replicates."""
