"""SGAIS with error bars that hold; `estimator.py` is the file to read."""
