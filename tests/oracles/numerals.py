"""What a value of a key column in a text file is: the slow definition.

A text that writes a number (JSON's syntax, but also leading zeros, a plus sign, a point at either end, and spaces
around it) is that number, exactly. Numbers with an exponent whose decimal has more than 76 digits before or behind its
point are the text that they are written as, and so is everything else.
"""

import re
from fractions import Fraction

NUMBER = re.compile(r"[ \t]*([+-]?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]+))?[ \t]*")
MOST_DIGITS = 76


def identity(text: str) -> Fraction | str:
    """A value that equals that of another text if both are the same key."""
    found = NUMBER.fullmatch(text)
    if found is None or not (found[2] or found[3]):
        return text
    digits = int((found[2] or "") + (found[3] or ""))
    exponent = int(found[4] or 0) - len(found[3] or "")
    if digits == 0:
        return Fraction(0)
    if found[4] is not None:
        all_digits = str(digits)
        if len(all_digits) + exponent > MOST_DIGITS or exponent < -MOST_DIGITS:
            return text
    return (-1 if found[1] == "-" else 1) * Fraction(digits) * Fraction(10) ** exponent
