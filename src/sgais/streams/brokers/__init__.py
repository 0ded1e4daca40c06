"""Messages that brokers keep, in the order in which they keep them."""
