# Written by tools/generate.py from ngram_matcher.pyx.

class NgramMatcher:
    pass
