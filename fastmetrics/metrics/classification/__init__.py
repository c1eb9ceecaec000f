"""Labels against labels: counts, and what is made of them."""

__all__: list[str] = []
