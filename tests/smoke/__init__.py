"""The smoke tier: every public function, metric, entry point and command once, each with a value that must be equal.

`pytest -m smoke` runs it in one process, in less than a minute. Inputs are small, and expected values are worked out
by hand where that is possible; where it is not, a comment names the publication or the library of the number.
Each family has one table of cases: the name of a function, how it is called, the value. Or the cases stand beside the
function, as CHECKED_VALUES. `test_completeness.py` fails for a public name without a case. The folder imports nothing
of the tests outside it. Read `cases.py` first.
"""
