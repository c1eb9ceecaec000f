"""The metrics, one package per family: classification, curves, ranking, text, ...

The public names are those of the modules' `__all__`. A metric registers itself when its module is imported. A family
imports `_core` and `_kernels`; the engine, the reports and the command line may import a family.

Read `curves/ks.py` first: a short metric with its statistic, its public function and its registration.
"""
