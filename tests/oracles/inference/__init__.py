"""Oracles of errors, intervals and tests of units."""
