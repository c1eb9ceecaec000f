"""Oracles of ranked lists."""
