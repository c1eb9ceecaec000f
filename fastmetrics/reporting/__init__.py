"""Everything that prints or draws a result: text, tables, HTML pages, SVG, matplotlib.

It may import `engine.results` and `_core`; the command line imports it. Results do not import it: they call
`_core.upper_layers.render`, which finds a renderer by name. Read `report_text.py` first. `html_report.py` and
`html_comparison.py` are the pages. `terminal/` draws with rich and needs the extra `cli`. All of them share
`text_table.py` and `number_formats.py`.
"""
