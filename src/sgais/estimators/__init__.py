"""Estimators of the evidence; `sgais.estimators.default.estimator` is the file to read first."""
