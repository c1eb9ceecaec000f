"""Errors of expressions: they show the text, with a caret under the place."""

from __future__ import annotations

from fastmetrics.engine.expressions.tree import Place

WIDEST_LINE = 100  # characters of the text around the place


class ExpressionError(ValueError):
    """An expression that cannot be read or has no meaning. `what` is the message without the text."""

    def __init__(self, what: str, text: str, place: Place) -> None:
        super().__init__(f"{what}\n{show_place(text, place)}")
        self.what = what
        self.text = text
        self.place = place

    def __reduce__(self) -> tuple[type, tuple[str, str, Place]]:
        return ExpressionError, (self.what, self.text, self.place)


def show_place(text: str, place: Place) -> str:
    """The text, and below it carets under a place. Of a long text, what stands around the place."""
    start, stop = place
    line_start = text.rfind("\n", 0, start) + 1
    line_stop = text.find("\n", start)
    line = text[line_start : len(text) if line_stop < 0 else line_stop].expandtabs(1)
    start, stop = start - line_start, min(stop - line_start, len(line))
    first = max(0, start - WIDEST_LINE // 2)
    shown = line[first : first + WIDEST_LINE]
    carets = "^" * max(1, min(stop, first + WIDEST_LINE) - start)
    return f"  {shown}\n  {' ' * (start - first)}{carets}"
