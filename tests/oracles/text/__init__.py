"""Oracles of text metrics."""
