"""Exact arithmetic that all other kernels share: sums without rounding, correctly rounded quotients, SIMD loops.

Any kernel and any module may import this family; it imports no other family. Start with `superaccumulator.pxd`.

Layout. An exact sum is a state of 72 int64: 69 limbs of 32 bits, and the numbers of +inf, -inf and NaN that were added.
States are merged by integer addition, and a normalized state is canonical: equal sums have equal states, whatever the
order of the rows. `sums.pyx` adds columns to states; `_core/exact.py` turns states into numbers.

Numerics. A result is rounded once, to nearest, ties to even. `quotient.pxd` divides two exact sums in double-double
arithmetic and reports the rare quotients whose rounding is uncertain; the caller then uses Python's integers.
`whole_numbers.pxd` divides a sum by a count with integers. `uint128_sums.h` sums products in 128 bits.

Overflow. A limb has 31 spare bits: at most 2**30 additions between two normalizations. A vectorized sum takes 2048
values at a time, with 45 bits at each of two binary places.

Tables. `table_hash.h` has the hashes of all tables in memory. They depend on random words of the process
(`table_seeds.py`); no result does.

Elementary functions. `elementary.h` has logarithms, exponentials, powers and angles of fixed operations: no function
of the C library or of NumPy, whose last bits differ between machines, may enter a value. Errors are below 0.52 units
in the last place, of sines, cosines, tangents and their inverses below 0.53. `double_double.h` has the double-doubles
that hold the leading terms; `tools/generated/elementary_tables.py` writes the tables. `fm_negative_log`
(`vector_math.h`) is faster, with an error below one unit: the terms of log loss are made from it.

SIMD. Functions marked FM_WIDE (`vector_math.h`) are compiled for SSE2, AVX2 and AVX-512, and chosen at load time. All
versions run the same IEEE operations in the same order, without fused multiply-add: equal bits on every machine.
"""
