"""Ranking: the table of functions, and measures of long lists in plain arrays."""
