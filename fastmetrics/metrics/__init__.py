"""Floor 3: the metric families, a file each, or a folder where one file would be too long.

A family's public names are its `__all__`; its metrics are in the registry.
"""
