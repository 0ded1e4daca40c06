"""Estimators of the evidence; `sgais.estimators.sgais` is the file to read first."""
