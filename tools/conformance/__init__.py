"""Tests of other libraries, run with fastmetrics in place of the library's own functions.

    python tools/conformance/run.py sklearn        one suite
    python tools/conformance/run.py --list         all of them

The tests come from the library's public package, or from its repository; none is stored here. `adaptors/` has a module
for each library, which says where the tests are, which functions are replaced, and why a test may fail. Start with
`adaptors/ranx.py`; `run.py` is the command, `counting.py` the plugin of pytest that counts, `sources.py` fetches.
"""
