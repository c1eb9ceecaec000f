"""Commands that draw a click log: one keeps it, the other shows an evaluation of it.

The command line alone imports it. Read `synthetic_log.py` first: how the log is drawn.
"""
