"""The arguments of text functions as arrays: hypotheses, references, files of segments, log-probabilities of tokens.

Metrics of this family and `tokens` import these modules. They import `_core` and kernels only. Start with
`segments.py`; `argument_forms.py` lists the forms that callers may pass.
"""
