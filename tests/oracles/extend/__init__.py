"""Definitions of the worked examples in examples/extend/. Weights are numbers of times that a row is repeated."""
