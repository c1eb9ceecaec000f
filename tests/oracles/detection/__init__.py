"""Oracles of boxes and masks."""
