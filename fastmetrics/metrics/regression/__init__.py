"""Values against values: errors, deviances, explained variance, concordance."""

__all__: list[str] = []
