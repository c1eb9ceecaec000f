"""Accumulators, their states and bytes, and logs that spill."""
