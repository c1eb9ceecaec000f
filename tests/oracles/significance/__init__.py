"""Oracles of tests and intervals."""
