"""A module for each library: `SUITE`, and the functions that stand in place of the library's.

An adaptor translates arguments and results, and computes nothing that fastmetrics computes.
"""
