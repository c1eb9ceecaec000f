"""Commands for texts: `bleu`, `chrf`, `nist`, `ter`, `rouge`, `meteor`, each in the file of its name.

A command is named after its function, and the function after the metric as `segment_statistics` knows it. Only
`cli/app.py` imports the commands. Read `systems.py` first: it has the options that all of them share, and runs a
command.
"""
