"""Is a difference real? Tests, intervals and corrections for many of them."""

__all__: list[str] = []
