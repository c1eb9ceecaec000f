"""The structure of the sources: layers, packages, names, words, builds. Start with `layers.py`."""
