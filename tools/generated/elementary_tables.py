"""The tables and constants of elementary.h, computed with 120 decimal digits and rounded once."""

import struct
from collections.abc import Iterable
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path

from generated import PACKAGE

TARGET = PACKAGE / "_kernels" / "numeric" / "elementary_tables.h"
DIGITS = 120
LOGARITHM_OFFSET = 0x3FE6900000000000  # the bits of 0.70507..., where the 256 intervals of the logarithm begin
INTERVAL_BITS = 44  # an interval holds 2^44 doubles
GRID = 2**42  # high parts of logarithms are multiples of 2^-42: sums with whole multiples of ln 2 are exact
N_POWERS = 128  # 2^(i/128)
N_ANGLES = 64  # sines and cosines of i/64; up to pi/4 they are used
N_TANGENTS = 64  # arctangents of i/32; up to 1 they are used
BITS_OF_TWO_OVER_PI = 1280
ZEROS_BEFORE_IT = 64


def double_of_bits(bits: int) -> Fraction:
    """The positive normal double with these bits."""
    return Fraction(2**52 + (bits & (2**52 - 1)), 2**52) * Fraction(2) ** ((bits >> 52) - 1023)


def natural_logarithm(value: Fraction) -> Fraction:
    return Fraction((Decimal(value.numerator) / Decimal(value.denominator)).ln())


def on_grid(value: Fraction) -> Fraction:
    """The nearest multiple of 2^-42."""
    return Fraction(round(value * GRID), GRID)


def with_bits(value: Fraction, n_bits: int) -> Fraction:
    """value rounded to n_bits bits."""
    exponent = 0
    while abs(value) * Fraction(2) ** exponent < 2 ** (n_bits - 1):
        exponent += 1
    while abs(value) * Fraction(2) ** exponent >= 2**n_bits:
        exponent -= 1
    return Fraction(round(value * Fraction(2) ** exponent)) / Fraction(2) ** exponent


def sine_and_cosine(angle: Fraction) -> tuple[Fraction, Fraction]:
    sums, term, n = [Fraction(0), Fraction(0)], Fraction(1), 0
    while abs(term) > Fraction(1, 10**100):
        sums[n % 2] += term if n % 4 < 2 else -term
        n += 1
        term = term * angle / n
    return sums[1], sums[0]


def arctangent(value: Fraction) -> Fraction:
    """Euler's series: sum over n of 2^(2n) (n!)^2 / (2n + 1)! x^(2n + 1) / (1 + x^2)^(n + 1)."""
    total, term, n = Fraction(0), value / (1 + value * value), 0
    factor = value * value / (1 + value * value)
    while term > Fraction(1, 10**100):
        total += term
        n += 1
        term = round(term * factor * Fraction(2 * n, 2 * n + 1) * 10**110) / Fraction(10**110)
    return total


def pi(digits: int) -> Fraction:
    """Machin's formula."""

    def inverse_arctangent(n: int) -> int:
        unit = 10 ** (digits + 10)
        total, power, k = 0, unit // n, 0
        while power:
            total += (-1) ** k * (power // (2 * k + 1))
            power //= n * n
            k += 1
        return total

    return Fraction(4 * (4 * inverse_arctangent(5) - inverse_arctangent(239)), 10 ** (digits + 10))


def literal(value: Fraction) -> str:
    return float(value).hex()  # a quotient of integers is rounded once


def table(name: str, values: Iterable[Fraction]) -> str:
    texts = [literal(value) for value in values]
    rows = [", ".join(texts[i : i + 4]) for i in range(0, len(texts), 4)]
    return f"static const double {name}[{len(texts)}] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def parts(values: list[Fraction], high: list[Fraction] | None = None) -> tuple[list[Fraction], list[Fraction]]:
    """High parts, doubles unless they are given, and what they leave."""
    high = [Fraction(float(value)) for value in values] if high is None else high
    return high, [value - one for value, one in zip(values, high, strict=True)]


def logarithm_tables() -> list[str]:
    inverses = []
    for i in range(256):
        low, high = (double_of_bits(LOGARITHM_OFFSET + (j << INTERVAL_BITS)) for j in (i, i + 1))
        inverse = Fraction(round(1024 / ((low + high) / 2)), 1024)
        inverse = Fraction(1) if low <= 1 <= high else inverse
        if max(abs(low * inverse - 1), abs(high * inverse - 1)) > Fraction(2) ** -8 * Fraction(11, 10):
            raise ValueError(f"interval {i} is too wide for the polynomials")
        inverses.append(inverse)
    log_high, log_low = parts(
        [-natural_logarithm(one) for one in inverses], [on_grid(-natural_logarithm(one)) for one in inverses]
    )
    two = natural_logarithm(Fraction(2))
    binary = [-natural_logarithm(one) / two for one in inverses]
    binary_high, binary_low = parts(binary, [on_grid(one) for one in binary])
    return [
        table("fm_log_high", log_high),
        word_table("fm_log_words", map(logarithm_word, inverses, log_low)),
        table("fm_log2_high", binary_high),
        word_table("fm_log2_words", map(logarithm_word, inverses, binary_low)),
    ]


def power_tables() -> list[str]:
    two = Decimal(2).ln()
    high, low = parts([Fraction((two * i / N_POWERS).exp()) for i in range(N_POWERS)])
    return [word_table("fm_power_words", map(power_word, high, low)), table("fm_power_low", low)]


def bits_of(value: Fraction) -> int:
    return int.from_bytes(struct.pack(">d", float(value)), "big")


def logarithm_word(inverse: Fraction, low: Fraction) -> int:
    """The 22 leading bits of the double `inverse`, and low + 2^-43 as a multiple of 2^-84."""
    return bits_of(inverse) + in_bits(low * 2**84, 42)


def power_word(power: Fraction, low: Fraction) -> int:
    """The bits of `power` without its exponent, and above them low + 2^-53 as a multiple of 2^-64."""
    return bits_of(power) % 2**52 + (in_bits(low * 2**64, 12) << 52)


def in_bits(value: Fraction, n_bits: int) -> int:
    """A number between -2^(n_bits - 1) and 2^(n_bits - 1), rounded, without a sign."""
    shifted = round(value) + 2 ** (n_bits - 1)
    if not 0 <= shifted < 2**n_bits:
        raise ValueError(f"{float(value)} has more than {n_bits} bits")
    return shifted


def word_table(name: str, words: Iterable[int]) -> str:
    texts = [f"UINT64_C(0x{word:016x})" for word in words]
    rows = [", ".join(texts[i : i + 4]) for i in range(0, len(texts), 4)]
    return f"static const uint64_t {name}[{len(texts)}] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def angle_tables() -> list[str]:
    pairs = [sine_and_cosine(Fraction(i, 64)) for i in range(N_ANGLES)]
    sine_high, sine_low = parts([one for one, _ in pairs])
    cosine_high, cosine_low = parts([one for _, one in pairs])
    angle_high, angle_low = parts([arctangent(Fraction(i, 32)) for i in range(N_TANGENTS)])
    return [
        table("fm_circle_high", sine_high + cosine_high),
        table("fm_circle_low", sine_low + cosine_low),
        table("fm_arctangent_high", angle_high),
        table("fm_arctangent_low", angle_low),
    ]


def constants() -> str:
    two = natural_logarithm(Fraction(2))
    ln2_high = on_grid(two)
    step = two / N_POWERS
    step_high = with_bits(step, 35)
    inverse = 1 / two
    inverse_high = with_bits(inverse, 22)
    circle = pi(DIGITS)
    quarter = circle / 2
    first = with_bits(quarter, 33)
    second = with_bits(quarter - first, 33)
    quarter_high = Fraction(float(quarter))
    values = {
        "FM_LN2_HIGH": ln2_high,
        "FM_LN2_LOW": two - ln2_high,
        "FM_STEPS_PER_NAT": 1 / step,
        "FM_STEP_HIGH": step_high,
        "FM_STEP_LOW": step - step_high,
        "FM_LN2": two,
        "FM_LOG2_E": inverse,
        "FM_LOG2_E_HIGH": inverse_high,
        "FM_LOG2_E_LOW": inverse - inverse_high,
        "FM_QUARTERS_PER_RADIAN": 1 / quarter,
        "FM_QUARTER_FIRST": first,
        "FM_QUARTER_SECOND": second,
        "FM_QUARTER_THIRD": quarter - first - second,
        "FM_QUARTER_HIGH": quarter_high,
        "FM_QUARTER_LOW": quarter - quarter_high,
    }
    return "".join(f"#define {name} {literal(value)}\n" for name, value in values.items())


def two_over_pi() -> str:
    bits = int(2 / pi(BITS_OF_TWO_OVER_PI // 3 + 40) * 2**BITS_OF_TWO_OVER_PI)
    words = [
        f"0x{bits >> shift & 0xFFFFFFFF:08x}" for shift in range(BITS_OF_TWO_OVER_PI + ZEROS_BEFORE_IT - 32, -1, -32)
    ]
    rows = [", ".join(words[i : i + 8]) for i in range(0, len(words), 8)]
    return f"static const uint32_t fm_two_over_pi[{len(words)}] = {{\n    " + ",\n    ".join(rows) + "\n};\n"


def outputs() -> dict[Path, str]:
    """The header with all tables."""
    head = """/* Written by tools/generate.py; do not edit. elementary.h says what the tables are for. */
#ifndef FASTMETRICS_NUMERIC_ELEMENTARY_TABLES_H
#define FASTMETRICS_NUMERIC_ELEMENTARY_TABLES_H

#include <stdint.h>

"""
    with localcontext() as context:
        context.prec = DIGITS
        body = [constants(), *logarithm_tables(), *power_tables(), *angle_tables(), two_over_pi()]
    return {TARGET: head + "\n".join(body) + "\n#endif\n"}
