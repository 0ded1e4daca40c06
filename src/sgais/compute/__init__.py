"""What is computed on many positions and many rows, whatever the estimator."""
