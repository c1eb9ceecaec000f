"""The engine: evaluates logs of any size in one pass, within a memory limit, without knowing a metric by name.

Four entry points: `evaluate`, `compare`, `accumulator` and `training_metrics`. They use the packages `evaluation` (the
question), `plan` (metric strings to statistics), `expressions`, `input` (data to validated batches), `partial` (what
rows leave), `scan` (one pass, and what is made of it) and `results` (reports). The command line, Spark and reporting
import the engine; the engine imports `_core` and these packages. Read `evaluate` first.
"""
