"""Sequential Monte Carlo: temperatures, weights, resampling, islands."""
