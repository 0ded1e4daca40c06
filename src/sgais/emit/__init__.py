"""Results on their way out: to a file, a webhook, a topic or a table."""
