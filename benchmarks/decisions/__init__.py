"""Does an e-process keep its promise, and what does it cost? Thousands of streams at a time."""
