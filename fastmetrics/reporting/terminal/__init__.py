"""Tables drawn on a terminal with rich: reports, comparisons, tables of text.

Only the command line imports it. It imports the rest of `fastmetrics.reporting`, which does not import it: only this
package needs rich, which comes with the extra `cli`. Read `drawn_tables.py` first.
"""
