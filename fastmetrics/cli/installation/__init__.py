"""Commands about the installation itself: what there is and what is missing.

The command line alone imports it. Read `environment.py` first: it needs nothing but NumPy.
"""
