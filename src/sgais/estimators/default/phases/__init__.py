"""The three phases of a stream: exact, quadratic, gradient."""
