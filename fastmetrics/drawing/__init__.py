"""Pictures drawn: the same `Picture` on matplotlib's axes and as SVG in a page."""
