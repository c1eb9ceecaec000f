"""The commands for logs, `evaluate` and `compare`, and what they share.

Only `cli/app.py` and the commands for synthetic logs import this package. Read `evaluate.py` first: it reads its
options (`log_options.py`), calls the public function (`log_evaluation.py`), and writes the result (`cli/outputs.py`).
"""
