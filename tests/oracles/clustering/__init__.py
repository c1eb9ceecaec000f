"""Oracles of partitions and clusters."""
