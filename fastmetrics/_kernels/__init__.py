"""Typed kernels: loops over arrays, compiled with Cython. Read `numeric/__init__.py` first, then the family you need.

Arrays come in, results go to arrays that the caller owns (`out` is the last argument). Kernels check lengths and
indices, not values. They do not allocate memory per row, and touch no Python object in a loop: the core of each kernel
is `cdef ... noexcept nogil`.
Names are `<what>_<dtype>` where a kernel exists per type. Kernels never start threads; a caller gives each thread a
range of its own, so results do not depend on the number of threads.

Any module of `fastmetrics` may import kernels; kernels import no Python module of it. Among the families, `numeric` is
the lowest, then `columns`, then `sweep`, `exchange` and `formats`, then the families of metrics. tests/architecture has
the list. Headers follow the same order. The build switches are described in setup.py.
"""
