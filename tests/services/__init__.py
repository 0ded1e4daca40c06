"""Real servers, started by the tests that need them."""
