"""One file for each method: `prepare(target, seed, **options)` returns the run that is timed."""
