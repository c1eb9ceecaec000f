"""The worked examples in examples/extend/."""
