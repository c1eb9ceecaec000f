"""Everything that prints or draws a result: text, tables, HTML pages, SVG, matplotlib.

It may import `engine.results` and `_core`; the command line imports it. Results do not import it: they call
`_core.upper_layers.render`, which finds a renderer by name. Read `tables.py` first: builders make tables from results
(`report_table.py`, `comparison_table.py`, `class_tables.py`), writers write any table (`text_tables.py`,
`html_tables.py`, and `terminal/`, which needs the extra `cli`). `html_report.py` and `html_comparison.py` are pages.
A plot is laid out by `plot_layout.py` and drawn by `svg_plots.py` or `matplotlib_plots.py`.
"""
