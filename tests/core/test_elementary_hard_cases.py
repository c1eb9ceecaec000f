"""Elementary functions at the arguments that are hardest to round: published, found by search of all doubles.

V. Lefèvre and J.-M. Muller, "Worst cases for correct rounding of the elementary functions in double precision", 2001,
and their tables of 2003. The exact values are nearly doubles, or nearly in the middle of two.
"""

import numpy as np
import pytest

from fastmetrics._core import elementary
from support.cases import each_case

mpmath = pytest.importorskip("mpmath")
mp = mpmath.mp

NEARLY = 2.0**-50  # units in the last place
EXACT = {
    "log": mp.log, "exp": mp.exp, "exp2": lambda x: mp.power(2, x), "sin": mp.sin, "cos": mp.cos, "tan": mp.tan,
    "arcsin": mp.asin, "arctan": mp.atan,
}  # fmt: skip
HARD = {
    "exp": """
        -0x1.e8bdbfcd9144ep+3 -0x1.71e0b869b5e79p+2 -0x1.02393d5976769p+1 -0x1.2a9cad9998262p+0
        -0x1.cc37ef7de7501p+0 -0x1.22e24fa3d5cf9p-1 -0x1.dc2b5df1f7d3dp-1 -0x1.290ea09e36479p-3
        -0x1.a2fefefd580dfp-13 -0x1.ed318efb627eap-27 -0x1.4bd46601ae1efp-31 -0x1.1000000000242p-42
        -0x1.2000000000288p-42 -0x1.8000000000012p-48 -0x1.0000000000001p-51 0x1.fffffffffffffp-53
        0x1.fffffffffffe0p-48 0x1.7ffe7ffee0024p-32 0x1.80017ffedffdcp-32 0x1.9e9cbbfd6080bp-31
        0x1.d7a7d893609e5p-26 0x1.ba07d73250de7p-14 0x1.d77fd13d27fffp-11 0x1.6a4d1af9cc989p-8
        0x1.accfbe46b4ef0p-1 0x1.aca7ae8da5a7bp+0 0x1.d6336a88077aap+0 0x1.42ee3c7dc4946p+1 0x1.76e7e5d7b6eacp+3
        0x1.a8ead058bc6b8p+3 0x1.1d5c2daebe367p+4 0x1.c44ce0d716a1ap+4
    """,
    "log": """
        0x1.0000000000001p+0 0x1.000976581ce4ep+1 0x1.91a8dff540ff7p+2 0x1.de37fb31fd5fcp+2 0x1.2b1199e497739p+3
        0x1.55f0eaa1b2fc8p+3 0x1.8ede492d96072p+3 0x1.11867637cbd03p+4 0x1.3d9d7d597a9ddp+4 0x1.7f3825778aaafp+4
        0x1.ac50b409c8aeep+8 0x1.de7cd6751029ap+16 0x1.62a88613629b6p+678 0x1.ea71d85cee020p-509
        0x1.9476e304cd7c7p-384 0x1.26e9c4d327960p-232 0x1.613955dc802f8p-35
    """,
    "exp2": """
        0x1.16a76ec41b516p-1 0x1.3e34fa6ab969ep-1 0x1.4a63ff1d53f53p-1 0x1.b32a6c92d1185p-1 0x1.25dd9eedac79ap+0
        -0x1.2863abaeaf7b2p-15 -0x1.416f6c6445acfp-20 -0x1.055601c8ab3f1p-32 -0x1.185b8db6d581dp-33
        0x1.bfbbde44edfc5p-25 0x1.e4596526bf94dp-10
    """,
    "sin": """
        0x1.e0000000001c2p-20 0x1.598bae9e632f6p-7 0x1.9283586503fe0p-5 0x1.d7bdcd778049fp-5
        0x1.a202b3fb84788p-4 0x1.d037cb27ee6dfp-3 0x1.d5064e6fe82c5p-3 0x1.fe767739d0f6dp-2 0x1.d98c4c612718dp-1
        0x1.921fb54442d18p+0 0x1.6756745770a51p+1
    """,
    "arcsin": """
        0x1.dfffffffff02ep-20 0x1.dffffffffc0b8p-19 0x1.9259e3708bd3ap-5 0x1.d77b117f230d6p-5
        0x1.a1490c8c06ba7p-4 0x1.9697cb602c582p-3 0x1.d0ef799001ba9p-3 0x1.e9950730c4696p-2 0x1.1ed06d50f7e88p-1
        0x1.d5b05a89d3e77p-1 0x1.e264357ea0e29p-1
    """,
    "cos": """
        0x1.8000000000009p-23 0x1.8000000000024p-22 0x1.2000000000f30p-18 0x1.06b505550e6b2p-9
        0x1.97ccd3d2c438fp-6 0x1.549ec0c0c5afap-5 0x1.16e534ee36580p-4 0x1.efeef61d39ac2p-3 0x1.feb1f7920e248p-2
        0x1.7cb7648526f99p-1 0x1.c65a170474549p-1 0x1.6b8a6273d7c21p+0
    """,
    "tan": """
        0x1.dffffffffff1fp-22 0x1.67fffffffa114p-18 0x1.50486b2f87014p-5 0x1.52c39ef070cadp-4
        0x1.a33f32ac5ceb5p-3 0x1.d696bfa988db9p-2 0x1.46ac372243536p-1
    """,
    "arctan": """
        0x1.e000000000546p-21 0x1.22e8d75e2bc7fp-11 0x1.0fc9f1fabe658p-5 0x1.1bbe9c255698dp-5
        0x1.8ddd25ab90ca1p-5 0x1.5389e6df41979p-4 0x1.a933fe176b375p-3 0x1.0f6e5d9960397p-2 0x1.7ba49f739829fp-1
    """,
}


def in_units(name, x):
    """The exact value in units in the last place of a double, and the unit."""
    exact = EXACT[name](mp.mpf(x))
    unit = mp.mpf(float(np.spacing(abs(float(exact)))))
    return exact / unit, unit


@each_case("name", HARD)
def test_values_are_neighbors_of_the_exact_ones(name):
    """The double that an exact value nearly is, or one of the two in whose middle it nearly is."""
    with mp.workprec(400):
        for text in HARD[name].split():
            x = float.fromhex(text)
            exact, unit = in_units(name, x)
            distance = abs(exact - mp.nint(exact))
            assert min(distance, abs(distance - 0.5)) < NEARLY, f"{text} is not hard to round"
            for found in (getattr(elementary, name)(x), *getattr(elementary, name)(np.full(17, x))):
                assert abs(found / unit - exact) < distance + 2 * NEARLY, f"{text}: {float(found).hex()}"


def test_powers_of_two():
    for text in HARD["exp2"].split():
        x = float.fromhex(text)
        assert elementary.power(2.0, x) == elementary.exp2(x)


@each_case(("base", "exponent"), [(2**27 - 1, 2), (2**27 - 3, 2), (2**18 - 1, 3), (2**53 - 1, 0.5), (1 + 2.0**-52, 2)])
def test_powers_next_to_the_middle_of_two_doubles(base, exponent):
    """Of whole numbers of 54 bits, and of numbers next to 1, the exact value is in the middle, or nearly."""
    with mp.workprec(400):
        exact = mp.power(mp.mpf(base), mp.mpf(exponent))
        unit = mp.mpf(float(np.spacing(float(exact))))
        assert abs(elementary.power(base, exponent) - exact) < unit * (0.5 + NEARLY)
