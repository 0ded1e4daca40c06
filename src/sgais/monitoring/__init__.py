"""Where a run stands, for terminal, report and page."""
