"""How public functions are called: words that mean a parameter, answers to unknown keywords, functions compiled alike.

Python and the command line answer from one table of words, `words.py`. May be imported by everything; it imports
`suggestions.py` and `upper_layers.py`. Read `unknown_keywords.py` first.
"""
