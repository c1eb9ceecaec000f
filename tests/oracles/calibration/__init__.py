"""Oracles of calibration."""
