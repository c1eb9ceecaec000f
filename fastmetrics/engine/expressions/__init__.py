"""Expressions in SQL, from text to values: filters of rows and computed columns, with one grammar for all entry points.

`parser` turns text into a small tree of our own (`tree`); sqlglot is imported there, when an expression is first used.
`type_check` checks types, and `common_types` brings values to one type: the result is a tree of primitives
(`primitives`), which say exactly what is computed.
`arrow_values` computes primitives on Arrow arrays, `spark_sql` writes them as SQL for Spark. The meaning of every
primitive stands in docs/expressions.md; tests/support/expression_cases.py has a table that runs on all engines.

Plans, sources and the entry points import this package; it imports `_core` alone. Read `tree` first.
"""
