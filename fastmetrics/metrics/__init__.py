"""Floor 3: the metric families, one file each.

A family's public names are its `__all__`; its metrics are in the registry.
"""
